package session_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/session"
)

// pairsFound are short histories, each of which a random history of TestPairs once failed in.
var pairsFound = []struct {
	name    string
	history func(*pairWorld)
}{
	{"a transcript that goes back leaves a join that came before", func(w *pairWorld) {
		w.agentSays(2)
		w.importNow()
		w.forkOrJoin()
		w.sayOn("child1")
		w.joinChild("child1")
		w.observeOn(session.MainBranch)
		w.agentSays(2)
		w.importNow()
		w.agentGoesBack(2)
		w.agentSays(1)
		w.importNow()
	}},
	{"a transcript that goes back leaves a mask that came before", func(w *pairWorld) {
		w.agentSays(2)
		w.importNow()
		w.runToolOn(session.MainBranch)
		w.mask()
		w.agentSays(1)
		w.importNow()
		w.agentGoesBack(1)
		w.agentSays(1)
		w.importNow()
	}},
	{"two rewinds by hand stay, whatever the transcript adds", func(w *pairWorld) {
		w.agentSays(4)
		w.importNow()
		w.rewindTo(session.MainBranch, 3)
		w.agentSays(2)
		w.importNow()
		w.rewindTo(session.MainBranch, 3)
		w.agentSays(1)
		w.importNow()
		w.rewindTo(session.MainBranch, 1)
		w.agentSays(1)
		w.importNow()
	}},
	{"a rewind by hand of everything stays", func(w *pairWorld) {
		w.agentSays(2)
		w.importNow()
		w.rewindTo(session.MainBranch, 0)
		w.agentSays(2)
		w.importNow()
		w.rewindTo(session.MainBranch, 0)
		w.agentSays(1)
		w.importNow()
	}},
	{"forgetting a record that was imported twice takes out both entries", func(w *pairWorld) {
		w.sayOn(session.MainBranch)
		w.agentSays(1)
		w.importNow()
		w.turn("undo", w.s.Undo, &w.past, &w.ahead)
		w.sayOn(session.MainBranch)
		w.importNow()
		w.forgetUtterance(w.agent.records[0].u, false)
	}},
	{"what a record says anew stays when the transcript goes back", func(w *pairWorld) {
		w.agentSays(3)
		w.importNow()
		w.agentEdits(3)
		w.importNow()
		w.agentGoesBack(1)
		w.agentSays(1)
		w.importNow()
	}},
}

// TestPairsFound runs them, and compares the store with the model after each step of the last part.
func TestPairsFound(t *testing.T) {
	for _, f := range pairsFound {
		t.Run(f.name, func(t *testing.T) {
			w := newPairWorld(t, 1, &tally{count: map[string]int{}})
			f.history(w)
			w.check()
			w.audit()
		})
	}
}

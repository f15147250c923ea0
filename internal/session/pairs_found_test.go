package session_test

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/recall"
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
		w.observeOn(history.MainBranch)
		w.agentSays(2)
		w.importNow()
		w.agentGoesBack(2)
		w.agentSays(1)
		w.importNow()
	}},
	{"a transcript that goes back leaves a mask that came before", func(w *pairWorld) {
		w.agentSays(2)
		w.importNow()
		w.runToolOn(history.MainBranch)
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
		w.rewindTo(history.MainBranch, 3)
		w.agentSays(2)
		w.importNow()
		w.rewindTo(history.MainBranch, 3)
		w.agentSays(1)
		w.importNow()
		w.rewindTo(history.MainBranch, 1)
		w.agentSays(1)
		w.importNow()
	}},
	{"a rewind by hand of everything stays", func(w *pairWorld) {
		w.agentSays(2)
		w.importNow()
		w.rewindTo(history.MainBranch, 0)
		w.agentSays(2)
		w.importNow()
		w.rewindTo(history.MainBranch, 0)
		w.agentSays(1)
		w.importNow()
	}},
	{"forgetting a record that was imported twice takes out both entries", func(w *pairWorld) {
		w.sayOn(history.MainBranch)
		w.agentSays(1)
		w.importNow()
		w.turn("undo", w.s.Conversation.Undo, &w.past, &w.ahead)
		w.sayOn(history.MainBranch)
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

// TestAmendOutlivesRewindOfTranscript holds that a message that a transcript said anew keeps its
// new words when the transcript goes back to a place after it, in a transcript that is no tree.
func TestAmendOutlivesRewindOfTranscript(t *testing.T) {
	w := newPairWorld(t, 1, &tally{count: map[string]int{}})
	origin := func(name string) transcript.Origin {
		return transcript.Origin{Agent: "codex", Session: "s", Message: name}
	}
	say := func(name, text string) transcript.Step {
		return transcript.Step{Kind: transcript.KindMessage, Session: "s",
			Message: transcript.Message{Origin: origin(name), Role: "user", Text: text}}
	}
	back := transcript.Step{Kind: transcript.KindRewind, Session: "s", RewindTo: origin("2"),
		Message: transcript.Message{Origin: origin("back")}}
	steps := func(list ...transcript.Step) {
		read := func(emit func(transcript.Step) error) (transcript.Stats, error) {
			for _, st := range list {
				if err := emit(st); err != nil {
					return transcript.Stats{}, err
				}
			}
			return transcript.Stats{Session: "s"}, nil
		}
		_, err := w.s.Importer.ImportTranscript(bg, read, "")
		w.must(err)
	}
	steps(say("1", "one"), say("2", "two"))
	steps(say("1", "one, said anew"), say("2", "two"))
	for range 2 {
		steps(say("1", "one, said anew"), say("2", "two"), back, say("3", "three"))
		var got []string
		list, err := w.s.Recall.Log(w.view().Get(history.RefName("s", history.MainBranch)).ID,
			recall.LogOptions{})
		w.must(err)
		for _, shown := range list {
			got = append(got, shown.Text)
		}
		if want := []string{"one, said anew", "three"}; !slices.Equal(got, want) {
			t.Fatalf("the log is %q, want %q", got, want)
		}
	}
	report, err := fsck.Run(bg, w.s.Opened, fsck.Options{})
	w.must(err)
	if len(report.Faults) > 0 {
		t.Fatalf("fsck: %v", report.Faults)
	}
}

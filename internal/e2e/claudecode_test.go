package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A session of Claude Code that is forked, one in another work tree of git, one that has a subagent
// work, and two that are begun at once are recorded whole and once, and HEAD is where the person
// spoke last. Tests in terminals do the same for what is typed there.
func TestClaudeCodeBranches(t *testing.T) {
	t.Parallel()
	c := liveClients()[0]
	w := newWorld(t, c.client)
	w.git("init -q")
	w.git("add " + noteFile)
	w.git("commit -q -m begin")
	w.run("ctx", "install", c.name)
	counts := func(what string, list []words) {
		n := map[string]int{}
		for _, said := range list {
			n[said.who]++
		}
		t.Logf("%s: %d prompts, %d answers, %d calls, %d results, each once", what, n["user"],
			n["model"], n["call"], n["tool"])
	}
	// recorded makes sure that a session has what it had before, and what was said since.
	recorded := func(what, session string, before []words, from int) {
		t.Helper()
		want := append(slices.Clone(before), w.server.recorded(from)...)
		w.same(session, want)
		w.spokenIn(session)
		counts(what, want)
	}

	w.run(c.prompt(turnText(0))...)
	first := w.only()
	recorded("begun", first, nil, 0)
	before, at := w.words(first), len(w.server.recorded(0))
	w.run(append(c.again(first, turnText(2)), "--fork-session")...)
	fork := w.newest(first)
	recorded("forked", fork, before, at)
	w.same(first, before)
	found := 0
	for line := range strings.Lines(
		w.run("ctx", "search", saidTag+"0", "--role", "user", "--json")) {
		if strings.Contains(line, saidTag+"0:") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("what both have is found %d times", found)
	}
	if strings.Contains(w.server.lastWith(saidTag+"2:"), told) {
		t.Error("a fork was told of the session that it has")
	}

	at = len(w.server.recorded(0))
	w.run(c.again(first, turnText(4))...)
	recorded("resumed", first, before, at)

	w.git("worktree add -q ../side")
	side := *w
	side.dir = filepath.Join(filepath.Dir(w.dir), "side")
	at = len(w.server.recorded(0))
	side.run(c.prompt(turnText(6))...)
	tree := w.newest(first, fork)
	recorded("in another work tree", tree, nil, at)

	known := w.sessions()
	ended := make(chan error, 2)
	for _, text := range []string{"one", "other"} {
		go func() {
			_, err := w.try(c.prompt(saidTag + text + ": at once " + runTool)...)
			ended <- err
		}()
	}
	for range cap(ended) {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	two := slices.DeleteFunc(w.sessions(),
		func(s string) bool { return slices.Contains(known, s) })
	if len(two) != 2 {
		t.Fatalf("two at once began sessions %q", two)
	}
	for _, session := range two {
		list := w.words(session)
		var who []string
		for _, said := range list {
			who = append(who, said.who)
		}
		if got := strings.Join(who, " "); got != "user model call tool model" {
			t.Errorf("one of two at once has %s: %v", got, list)
		}
		counts("one of two at once", list)
	}
	// The subagent works in the background.
	known, at = w.sessions(), len(w.server.recorded(0))
	w.run(c.prompt(saidTag + "let another one look " + askOther)...)
	var parent, child string
	for _, session := range w.sessions() {
		switch {
		case slices.Contains(known, session):
		case strings.Contains(session, "."):
			child = session
		default:
			parent = session
		}
	}
	recorded("which asked a subagent", parent, nil, at)
	w.same(child, w.server.worked)
	counts("the subagent", w.server.worked)
	w.sound()
}

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// live is how a client is run with hooks: it goes on with a session, or with the newest.
type live struct {
	client
	again func(session, text string) []string
	last  func(text string) []string
}

// liveClients are the clients whose hooks run without a person. Those of Codex run without a review
// here; TestTerminalsRecordLive reviews them.
func liveClients() []live {
	var list []live
	for _, c := range clients() {
		claude := func(text string, how ...string) []string {
			return append([]string{"claude", "-p", text, "--model", "claude-sonnet-4-5",
				"--allowedTools", "Bash"}, how...)
		}
		gemini := func(text, which string) []string {
			return []string{"gemini", "-m", "gemini-2.5-flash", "--approval-mode=yolo", "--resume",
				which, "-p", text}
		}
		switch c.name {
		case "claude-code":
			list = append(
				list, live{c,
					func(session, text string) []string {
						return claude(text, "--resume", session)
					},
					func(text string) []string { return claude(text, "-c") }})
		case "codex":
			exec := func(how ...string) []string {
				return append([]string{"codex", "exec", "--skip-git-repo-check", "--trust",
					"--dangerously-bypass-hook-trust"}, how...)
			}
			c.prompt = func(text string) []string { return exec(text) }
			list = append(
				list, live{c,
					func(session, text string) []string { return exec("resume", session, text) },
					func(text string) []string { return exec("resume", "--last", text) }})
		case "opencode":
			list = append(
				list, live{c,
					func(session, text string) []string {
						return []string{"opencode", "run", "-s", session, text}
					},
					func(text string) []string { return []string{"opencode", "run", "-c", text} }})
		case "gemini-cli":
			list = append(
				list, live{c, func(session, text string) []string { return gemini(text, session) },
					func(text string) []string { return gemini(text, "latest") }})
		}
	}
	return list
}

// told begins what a model is given of other sessions.
const told = "What was done in this project before"

// toldOfItself begins what a model is given of its own session.
const toldOfItself = "What this session was about before it was compacted"

// shortDeadline ends the wait for something that takes a client seconds.
const shortDeadline = 2 * time.Minute

// until waits for something to be so.
func (w *world) until(what string, so func() bool) {
	w.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	over := time.After(shortDeadline)
	for !so() {
		select {
		case <-look.C:
		case <-over:
			screens := ""
			for _, screen := range w.screens {
				screens += "\n" + screen()
			}
			w.Fatalf("it did not come to this: %s\nheard: %v\non terminals:%s", what,
				w.server.recorded(0), screens)
		}
	}
}

// words are what the store has of a session, as a server records it.
func (w *world) words(session string) (list []words) {
	w.Helper()
	for line := range strings.Lines(w.run("ctx", "log", session, "--json")) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			w.Fatal(err)
		}
		if m.Kind == "message" {
			list = append(list, m.words(w)...)
		}
	}
	return list
}

// words are the texts, calls and results of a message.
func (m message) words(w *world) (list []words) {
	w.Helper()
	var parts []struct {
		Text         string
		Thought      bool
		FunctionCall struct{ Args map[string]json.RawMessage }
	}
	switch {
	case m.Role == "tool":
		return []words{{"tool", m.Text}}
	case len(m.Parts) == 0:
		return []words{{m.Role, m.Text}}
	}
	if err := json.Unmarshal(m.Parts, &parts); err != nil {
		w.Fatal(err)
	}
	for _, p := range parts {
		for _, key := range []string{"command", "cmd"} {
			var command string
			if json.Unmarshal(p.FunctionCall.Args[key], &command) == nil && command != "" {
				list = append(list, words{"call", command})
			}
		}
		if p.Text != "" && !p.Thought && !isCommand(p.Text) {
			list = append(list, words{m.Role, p.Text})
		}
	}
	return list
}

// isCommand reports whether a text is what Claude Code writes down of a command of its own, the
// summary that Codex writes down as an answer, or what opencode says to itself after a compaction.
func isCommand(text string) bool {
	return strings.HasPrefix(text, "<command-name>") ||
		strings.HasPrefix(text, "<local-command-") ||
		strings.HasPrefix(text, "<summary>") ||
		strings.HasPrefix(text, "Continue if you have next steps")
}

// same makes sure that a session has what the server recorded, in order, once, byte for byte.
func (w *world) same(session string, want []words) {
	w.Helper()
	got := w.words(session)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			w.Errorf("%d things are not recorded, first %v", len(want)-i, want[i])
		case i >= len(want):
			w.Errorf("%d things are recorded that nobody said, first %v", len(got)-i, got[i])
		case got[i] != want[i]:
			w.Errorf("recorded as number %d:\n%v\nsaid:\n%v", i, got[i], want[i])
		default:
			continue
		}
		return
	}
}

// only is the one session of the store.
func (w *world) only() string {
	w.Helper()
	list := w.sessions()
	if len(list) != 1 {
		w.Fatalf("the store has sessions %q, not one", list)
	}
	return list[0]
}

// newest is the session of the store that is not in a list.
func (w *world) newest(known ...string) string {
	w.Helper()
	list := slices.DeleteFunc(w.sessions(),
		func(s string) bool { return slices.Contains(known, s) })
	if len(list) != 1 {
		w.Fatalf("the store has new sessions %q, not one", list)
	}
	return list[0]
}

// spokenIn waits until HEAD is the session in which a person spoke last: the hook of a client that
// does not wait for it moves HEAD after the words are recorded.
func (w *world) spokenIn(session string) {
	w.Helper()
	w.until("HEAD is "+session, func() bool {
		var status struct{ Head string }
		if err := json.Unmarshal([]byte(w.run("ctx", "status", "--json")), &status); err != nil {
			w.Fatal(err)
		}
		return status.Head == session
	})
}

// store is a path in the store.
func (w *world) store(name ...string) string {
	return filepath.Join(append([]string{w.dir, ".gemini", "context"}, name...)...)
}

// sound makes sure that no hook had trouble, and that the store has no fault.
func (w *world) sound() {
	w.Helper()
	if b, err := os.ReadFile(w.store("log", "hook")); err == nil {
		w.Errorf("hooks had trouble:\n%s", b)
	}
	w.run("ctx", "fsck")
}

// broken makes the store one that no version of ctx can read while something is done.
func (w *world) broken(do func()) {
	w.Helper()
	path := w.store("format")
	was, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte("broken"), 0o600)
	}
	if err != nil {
		w.Fatal(err)
	}
	do()
	if err := os.WriteFile(path, was, 0o600); err != nil {
		w.Fatal(err)
	}
}

// hasLost runs a command that goes on with a session, and reports whether the agent has lost it:
// Gemini CLI names transcripts by the minute, and removes that of a session that it resumed in a
// later one (TestResumeThenListLosesNothing). What it said before is in the store.
func (w *world) hasLost(c live, args []string) bool {
	w.Helper()
	_, err := w.try(args...)
	switch {
	case err == nil:
		return false
	case c.name == "gemini-cli" && strings.Contains(err.Error(), "Invalid session identifier"):
		w.Log("the agent has removed the transcript: it goes on no more")
		return true
	}
	w.Fatalf("%q: %v", args, err)
	return false
}

// prompt is the text of a turn; in every second one the model calls a tool.
func turnText(n int) string {
	text := fmt.Sprintf("%s%d: what is the pump called? %s", saidTag, n, tricky)
	if n%2 == 0 {
		text += " " + runTool
	}
	return text
}

// Hooks record every prompt, answer, call and result of five turns while they are said, in order
// and once; a second session is told what the first was about, once; a broken and a locked store
// stop no agent, and what was said meanwhile is recorded later.
func TestHooksRecordLive(t *testing.T) {
	for _, c := range liveClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recordLive(t, c)
		})
	}
}

// told makes sure that a request with a prompt has a brief of other sessions a number of times.
// Gemini CLI is told at a prompt, of what answers it, which other tests look at.
func (w *world) told(c live, text string, times int) {
	w.Helper()
	request := w.server.lastWith(saidTag + text)
	if n := strings.Count(request, told); n != times && c.name != "gemini-cli" {
		w.Errorf("at %q, the model has the brief %d times:\n%s", text, n, cut(request))
	}
}

// toldWorkersAlone makes sure that no model that calls no tools, such as one that is asked for a
// title, was told of other sessions.
func (w *world) toldWorkersAlone() {
	w.Helper()
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	for _, body := range w.server.asked {
		if strings.Contains(body, told) && !slices.Contains(w.server.main, body) {
			w.Errorf("a model without tools was told of other sessions:\n%s", cut(body))
		}
	}
}

func recordLive(t *testing.T, c live) {
	w := newWorld(t, c.client)
	w.run("ctx", "install", c.name)
	w.run(c.prompt(turnText(0))...)
	session := w.only()
	for turn := 1; turn < 4; turn++ {
		w.run(c.again(session, turnText(turn))...)
	}
	w.run(c.last(turnText(4))...)
	w.only()
	w.same(session, w.server.recorded(0))
	w.spokenIn(session)
	if w.server.lastWith(told) != "" {
		t.Error("the first session was told of others")
	}

	at := len(w.server.recorded(0))
	w.run(c.prompt(saidTag + "other: hello")...)
	w.told(c, "other: hello", 1)
	second := w.newest(session)
	w.run(c.again(second, saidTag+"again: hello")...)
	w.told(c, "again: hello", 1)
	w.same(second, w.server.recorded(at))
	w.spokenIn(second)
	w.sound()

	at = len(w.server.recorded(0))
	before := w.words(session)
	lost := false
	goOn := func(turn int) {
		if !lost {
			lost = w.hasLost(c, c.again(session, turnText(turn)))
		}
	}
	w.broken(func() { goOn(6) })
	goOn(7)
	w.locked(func() { goOn(8) })
	goOn(9)
	w.same(session, append(before, w.server.recorded(at)...))
	if !lost {
		w.spokenIn(session)
	}
	w.toldWorkersAlone()
	w.run("ctx", "fsck")
}

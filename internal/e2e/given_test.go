package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// hookCall is a call of a hook: what an agent sent, and what it was given for its model.
type hookCall struct {
	Name    string `json:"hook_event_name"`
	Source  string `json:"source"`
	Session string `json:"session_id"`
	given   string
}

// watch keeps what hooks are sent and what they print, from now on.
func (w *world) watch() {
	w.Helper()
	ctx, real, kept := filepath.Join(w.bin, "ctx"), filepath.Join(w.bin, "ctx-itself"),
		filepath.Join(w.home, "hooks")
	err := os.MkdirAll(kept, 0o700)
	if err == nil {
		err = os.Rename(ctx, real)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.write("../bin/ctx",
		fmt.Sprintf(
			"#!/bin/sh\n[ \"$1\" = hook ] || exec %[1]q \"$@\"\nkept=%[2]q/$(date +%%s%%N)\n"+
				"cat > $kept.in\n%[1]q \"$@\" < $kept.in > "+
				"$kept.out\nstatus=$?\ncat $kept.out\nmv "+
				"$kept.in $kept.call\nexit $status\n", real, kept))
}

// calls are the calls of hooks that have ended, oldest first.
func (w *world) calls() (list []hookCall) {
	w.Helper()
	names, err := filepath.Glob(filepath.Join(w.home, "hooks", "*.call"))
	if err != nil {
		w.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		var c hookCall
		var out struct {
			Specific struct {
				Context string `json:"additionalContext"`
			} `json:"hookSpecificOutput"`
		}
		in, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(in, &c)
		}
		if err != nil {
			w.Fatal(err)
		}
		if said, err := os.ReadFile(strings.TrimSuffix(name, "call") + "out"); err != nil {
			w.Fatal(err)
		} else if len(said) > 0 {
			if err := json.Unmarshal(said, &out); err != nil {
				w.Fatalf("a hook printed %q: %v", said, err)
			}
		}
		c.given = out.Specific.Context
		list = append(list, c)
	}
	return list
}

// givenOnce makes sure that what hooks gave to models fits, that each session was given at most one
// text, or one at each start if the agent forgets it, and all but the first of a number of sessions
// were given one. It reports the sizes.
func (w *world) givenOnce(event string, sessions int) {
	w.Helper()
	times := map[string]int{}
	var sizes []int
	for _, c := range w.calls() {
		if c.Name != event {
			continue
		}
		if n := utf8.RuneCountInString(c.given); n > 10_000 {
			w.Errorf("session %s was given %d characters", c.Session, n)
		}
		if c.given != "" {
			times[c.Session]++
		}
		sizes = append(sizes, len(c.given))
	}
	w.Logf("bytes given at each start: %v", sizes)
	if len(times) != sessions-1 || len(sizes) <= sessions {
		w.Errorf("%d of %d sessions were given something, in %d starts", len(times),
			sessions, len(sizes))
	}
	for session, n := range times {
		if n > 1 && event != "session.start" { // opencode forgets it when it ends
			w.Errorf("session %s was given a brief %d times", session, n)
		}
	}
}

// Ten sessions begin one after the other, and the last goes on: each but the first is told of the
// others, once, in a text that fits.
func TestTenStarts(t *testing.T) {
	for _, c := range liveClients() {
		if c.name == "gemini-cli" {
			continue // which is told at a prompt, of what answers it
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.client)
			w.run("ctx", "install", c.name)
			w.watch()
			var known []string
			for n := range 10 {
				w.run(c.prompt(turnText(n))...)
				known = append(known, w.newest(known...))
			}
			w.run(c.again(known[9], saidTag+"again")...)
			event := "SessionStart"
			if c.name == "opencode" {
				event = "session.start"
			}
			w.givenOnce(event, 10)
			w.sound()
		})
	}
}

// Two agents talk in one project at once: both are recorded whole, each in a session of its own.
func TestTwoAgentsAtOnceLive(t *testing.T) {
	t.Parallel()
	pick := map[string]live{}
	for _, c := range liveClients() {
		pick[c.name] = c
	}
	pair := []live{pick["claude-code"], pick["opencode"]}
	w := newWorld(t, pair[0].client, pair[1].client)
	for _, c := range pair {
		w.run("ctx", "install", c.name)
	}
	text := func(name string, turn int) string {
		return fmt.Sprintf("%s%s-%d: hello", saidTag, name, turn)
	}
	ended := make(chan string, len(pair))
	for _, c := range pair {
		go func() {
			for turn := range 5 {
				args := c.prompt(text(c.name, 0))
				if turn > 0 {
					args = c.last(text(c.name, turn))
				}
				if _, err := w.try(args...); err != nil {
					ended <- fmt.Sprintf("%q: %v", args, err)
					return
				}
			}
			ended <- ""
		}()
	}
	for range pair {
		if failed := <-ended; failed != "" {
			t.Error(failed)
		}
	}
	for _, session := range w.sessions() {
		list := w.words(session)
		name := pair[0].name
		if len(list) > 0 && strings.Contains(list[0].text, pair[1].name) {
			name = pair[1].name
		}
		if len(list) != 10 {
			t.Errorf("%s has %d things, not 10: %v", name, len(list), list)
			continue
		}
		for turn := range 5 {
			if !strings.Contains(list[2*turn].text, text(name, turn)) ||
				!strings.HasPrefix(list[2*turn+1].text, "Answer") {
				t.Errorf("turn %d of %s is not where it belongs in %v", turn, name, list)
			}
		}
	}
	if n := len(w.sessions()); n != len(pair) {
		t.Errorf("the store has %d sessions", n)
	}
	w.sound()
}

// opencode makes a conversation shorter when its window is full: all of it is recorded, once.
func TestOpencodeCompacts(t *testing.T) {
	t.Parallel()
	for _, c := range liveClients() {
		if c.name != "opencode" {
			continue
		}
		w := newWorld(t, c.client)
		w.run("ctx", "install", c.name)
		w.run(c.prompt(saidTag + "first " + runTool)...)
		session := w.only()
		for _, text := range []string{"second " + fullTurn + ": Never push to the main branch.",
			"third " + runTool, "fourth"} {
			w.run(c.again(session, saidTag+text)...)
		}
		if n := w.server.toKeep(); n != 1 {
			t.Errorf("%d requests for a summary say what it must keep", n)
		}
		if n := w.server.shortened(); n != 1 {
			t.Errorf("the client asked %d times for a shorter conversation", n)
		}
		request := w.server.lastWith(saidTag + "fourth")
		if !strings.Contains(request, inShort) {
			t.Errorf("the conversation is not shorter:\n%s", cut(request))
		}
		for _, text := range []string{"third", "fourth"} {
			if n := strings.Count(w.server.lastWith(saidTag+text), toldOfItself); n != 1 {
				t.Errorf("after the compaction, at %q, the model has a brief %d times", text, n)
			}
		}
		w.only()
		w.same(session, w.server.recorded(0))
		w.sound()
	}
}

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// live is how a client is run with hooks: it goes on with a session, or begins one.
type live struct {
	client
	again func(session, text string) []string
}

// liveClients are the clients whose hooks run without a person. Codex runs none in `codex exec`.
func liveClients() []live {
	var list []live
	for _, c := range clients() {
		switch c.name {
		case "claude-code":
			list = append(list, live{c, func(session, text string) []string {
				return []string{"claude", "-p", "--resume", session, text, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"}
			}})
		case "opencode":
			list = append(list, live{c, func(session, text string) []string { return []string{"opencode", "run", "-s", session, text} }})
		}
	}
	return list
}

// Hooks record every prompt, answer, call and result of a session while it is said, in order and
// once; a second session is told what the first was about, once; a broken store stops no agent.
func TestHooksRecordLive(t *testing.T) {
	for _, c := range liveClients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			recordLive(t, c)
		})
	}
}

func recordLive(t *testing.T, c live) {
	w := newWorld(t, c.client)
	w.run("ctx", "install", c.name)
	turns := 5
	if c.name == "opencode" {
		turns = 3 // it takes seconds to start
	}
	want := []string{}
	session := ""
	for turn := range turns {
		text := fmt.Sprintf("live-%d: what is the pump called?", turn)
		if turn%2 == 0 {
			text += " " + runTool
		}
		if turn == 0 {
			w.run(c.prompt(text)...)
			sessions := w.sessions()
			if len(sessions) != 1 {
				t.Fatalf("after the first prompt the store has sessions %q", sessions)
			}
			session = sessions[0]
		} else {
			w.run(c.again(session, text)...)
		}
		want = append(want, "user: "+text)
		if turn%2 == 0 {
			want = append(want, "model: "+looking, "tool: The pump is called "+noteText+".")
		}
		want = append(want, "model: Answer")
	}
	said := w.log(session)
	at := 0
	for _, line := range want {
		i := strings.Index(strings.ReplaceAll(said[at:], `user: "live`, `user: live`), line)
		if i < 0 {
			t.Fatalf("%q is not recorded after the %d bytes before:\n%s", line, at, said)
		}
		at += i + len(line)
	}
	if got := strings.Count(said, "\nmodel: Answer"); got != turns {
		t.Errorf("%d answers are recorded, not %d:\n%s", got, turns, said)
	}
	const told = "What was done in this project before"
	if w.server.lastWith(told) != "" {
		t.Error("the first session was told of others")
	}
	w.run(c.prompt("other-session: hello")...)
	if w.server.lastWith("other-session") == "" || !strings.Contains(w.server.lastWith("other-session"), told) {
		t.Errorf("a second session was not told of the first:\n%s", cut(w.server.lastWith("other-session")))
	}
	if log := filepath.Join(w.dir, ".gemini", "context", "log", "hook"); fileExists(log) {
		b, _ := os.ReadFile(log) // it is there
		t.Errorf("hooks had trouble:\n%s", b)
	}
	w.run("ctx", "fsck")

	if err := os.WriteFile(filepath.Join(w.dir, ".gemini", "context", "format"), []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(c.prompt("broken-store: hello")...)
	if w.server.lastWith("broken-store") == "" {
		t.Error("a broken store stopped the agent")
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package transcript

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, agent, parts string
		want               SessionSaid
	}{
		{"the agent's title", "claude-code",
			`[{"text":"x"},{"thought":true,"claude-code":{"gitBranch":"quay","before":[
			{"type":"ai-title","aiTitle":"Old"},{"type":"ai-title","aiTitle":"Lamps"},{"type":"mode"}]}}]`, SessionSaid{Title: "Lamps", Git: "quay"}},
		{"a person's title", "claude-code",
			`[{"thought":true,"claude-code":{"gitBranch":"HEAD","before":[
			{"type":"custom-title","customTitle":"Mine"},{"type":"ai-title","aiTitle":"Lamps"}]}}]`,
			SessionSaid{Name: "Mine", Title: "Lamps"}},
		{"a thread's name", "codex", `[{"text":"x"},{"thought":true,"codex":{"before":[
			{"type":"event_msg","payload":{"type":"thread_name_updated","thread_name":"Tides"}}]}}]`, SessionSaid{Title: "Tides"}},
		{"a rollout's first record", "codex",
			`[{"thought":true,"codex":{"payload":{"git":{"branch":"main"}}}}]`, SessionSaid{Git: "main"}},
		{"a session of opencode", "opencode",
			`[{"text":"Tides"},{"thought":true,"opencode":{"session":{"directory":"/p"}}}]`,
			SessionSaid{Title: "Tides"}},
		{"a message of opencode", "opencode",
			`[{"text":"say \"session\""},{"thought":true,"opencode":{"x":"session"}}]`, SessionSaid{}},
		{"words about titles", "claude-code", `[{"text":"\"aiTitle\""}]`, SessionSaid{}},
		{"an agent without kept fields", "gemini-cli", `[{"text":"\"aiTitle\""}]`, SessionSaid{}},
		{"no parts", "codex", "", SessionSaid{}},
		{"no JSON", "codex", `"thread_name"`, SessionSaid{}},
	} {
		if got := SessionSaidOf(c.agent, []byte(c.parts), true); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
	if got := SessionSaidOf("claude-code", []byte(`[{"claude-code":{"gitBranch":"quay"}}]`),
		false); got != (SessionSaid{}) {
		t.Errorf("without git: %+v", got)
	}
}

func TestOlder(t *testing.T) {
	s := SessionSaid{Title: "new"}
	s.Older(SessionSaid{Name: "n", Title: "old", Git: "g"})
	if s != (SessionSaid{"n", "new", "g"}) || !s.All() {
		t.Errorf("%+v", s)
	}
}

// A title that every new session has is none.
func TestNoTitle(t *testing.T) {
	for _, title := range []string{"New Session", "New session - 2026-03-01T08:00:00.000Z", "Untitled"} {
		s := SessionSaid{}
		if s.Older(SessionSaid{Title: title}); s.Title != "" {
			t.Errorf("%q is a title", title)
		}
	}
	s := SessionSaid{}
	if s.Older(SessionSaid{Name: "New Chat", Title: "New sessions of the pilot"}); s.Name != "New Chat" ||
		s.Title != "New sessions of the pilot" {
		t.Errorf("%+v", s)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("claude-code", []byte(`[{"claude-code":{"gitBranch":"q","before":[{"aiTitle":"t"}]}}]`))
	f.Add("codex",
		[]byte(`[{"codex":{"payload":{"git":{"branch":"main"}},"before":["thread_name"]}}]`))
	f.Add("opencode", []byte(`[{"text":"t"},{"opencode":{"session":{}}}]`))
	f.Fuzz(func(t *testing.T, agent string, parts []byte) {
		got := SessionSaidOf(agent, parts, true)
		var spaced bytes.Buffer
		if json.Indent(&spaced, parts, " ", "\t") != nil {
			return // no JSON: Of may tell anything, and does not fail
		}
		if again := SessionSaidOf(agent, spaced.Bytes(), true); again != got {
			t.Fatalf("%+v, and with spaces %+v", got, again)
		}
	})
}

package titles

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name, agent, parts string
		want               Said
	}{
		{"the agent's title", "claude-code",
			`[{"text":"x"},{"thought":true,"claude-code":{"gitBranch":"quay","before":[
			{"type":"ai-title","aiTitle":"Old"},{"type":"ai-title","aiTitle":"Lamps"},{"type":"mode"}]}}]`, Said{Title: "Lamps", Git: "quay"}},
		{"a person's title", "claude-code",
			`[{"thought":true,"claude-code":{"gitBranch":"HEAD","before":[
			{"type":"custom-title","customTitle":"Mine"},{"type":"ai-title","aiTitle":"Lamps"}]}}]`,
			Said{Name: "Mine", Title: "Lamps"}},
		{"a thread's name", "codex", `[{"text":"x"},{"thought":true,"codex":{"before":[
			{"type":"event_msg","payload":{"type":"thread_name_updated","thread_name":"Tides"}}]}}]`, Said{Title: "Tides"}},
		{"a rollout's first record", "codex",
			`[{"thought":true,"codex":{"payload":{"git":{"branch":"main"}}}}]`, Said{Git: "main"}},
		{"a session of opencode", "opencode",
			`[{"text":"Tides"},{"thought":true,"opencode":{"session":{"directory":"/p"}}}]`,
			Said{Title: "Tides"}},
		{"a message of opencode", "opencode",
			`[{"text":"say \"session\""},{"thought":true,"opencode":{"x":"session"}}]`, Said{}},
		{"words about titles", "claude-code", `[{"text":"\"aiTitle\""}]`, Said{}},
		{"an agent without kept fields", "gemini-cli", `[{"text":"\"aiTitle\""}]`, Said{}},
		{"no parts", "codex", "", Said{}},
		{"no JSON", "codex", `"thread_name"`, Said{}},
	} {
		if got := Of(c.agent, []byte(c.parts), true); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
	if got := Of("claude-code", []byte(`[{"claude-code":{"gitBranch":"quay"}}]`),
		false); got != (Said{}) {
		t.Errorf("without git: %+v", got)
	}
}

func TestOlder(t *testing.T) {
	s := Said{Title: "new"}
	if s.Older(Said{Name: "n", Title: "old", Git: "g"}); s != (Said{"n", "new", "g"}) || !s.All() {
		t.Errorf("%+v", s)
	}
}

func FuzzOf(f *testing.F) {
	f.Add("claude-code", []byte(`[{"claude-code":{"gitBranch":"q","before":[{"aiTitle":"t"}]}}]`))
	f.Add("codex",
		[]byte(`[{"codex":{"payload":{"git":{"branch":"main"}},"before":["thread_name"]}}]`))
	f.Add("opencode", []byte(`[{"text":"t"},{"opencode":{"session":{}}}]`))
	f.Fuzz(func(t *testing.T, agent string, parts []byte) {
		got := Of(agent, parts, true)
		var spaced bytes.Buffer
		if json.Indent(&spaced, parts, " ", "\t") != nil {
			return // no JSON: Of may tell anything, and does not fail
		}
		if again := Of(agent, spaced.Bytes(), true); again != got {
			t.Fatalf("%+v, and with spaces %+v", got, again)
		}
	})
}

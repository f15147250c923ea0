package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// The editor writes objects.
func TestKiroEditor(t *testing.T) {
	data, err := os.ReadFile("shape/testdata/kiro/editor.json")
	if err != nil {
		t.Fatal(err)
	}
	steps, _, stats := kiros.Steps(t, data)
	want := "message user m1 \"Which lamps are lit?\"\nmessage model m2 \"The north one.\"\n"
	if got := Trace(steps); got != want || len(stats.Skipped) > 0 ||
		stats.Session != "c0000000-0000-4000-8000-000000000002" {
		t.Errorf("got\n%s%+v", got, stats)
	}
}

// Who said what in the conversations of the command line is what another reader finds. The history
// loses its beginning, and grows: the messages stay the same.
func TestKiroCLI(t *testing.T) {
	for name, data := range talks.Fixtures(t) {
		steps, _, stats := talks.Steps(t, data)
		if stats.Passed["transcript"] != 1 {
			t.Errorf("%s: %v", name, stats.Passed)
		}
		var want []string
		var doc struct {
			History []json.RawMessage
			Summary []any `json:"latest_summary"`
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Summary != nil {
			want = append(want, fmt.Sprint("note: ", doc.Summary[0]))
		}
		for _, raw := range doc.History {
			want = append(want, kiroTurn(t, raw)...)
		}
		if got := whoSaid(steps); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		known := map[transcript.Origin]string{}
		for _, st := range steps {
			known[st.Message.Origin] = transcript.Words(&st.Message)
		}
		var whole map[string]any
		if err := json.Unmarshal(data, &whole); err != nil {
			t.Fatal(err)
		}
		whole["history"], whole["updated_at"] = doc.History[1:], 1
		later, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		again, _, _ := talks.Steps(t, later)
		for _, st := range again {
			if was, ok := known[st.Message.Origin]; !ok || was != transcript.Words(&st.Message) {
				t.Errorf("%s: %v says %q, was %q", name, st.Message.Origin,
					transcript.Words(&st.Message), was)
			}
		}
	}
}

// kiroTurn says who said what in a turn, without the reader.
func kiroTurn(t *testing.T, raw json.RawMessage) (list []string) {
	t.Helper()
	type said struct {
		Prompt, Content string
		Results         []struct {
			ID string `json:"tool_use_id"`
		} `json:"tool_use_results"`
		Thinking struct{ Text string }
		Uses     []struct{ ID string } `json:"tool_uses"`
	}
	var turn struct {
		User struct {
			Content   map[string]said
			Timestamp *string
		}
		Assistant map[string]said
		Meta      any `json:"request_metadata"`
	}
	if err := json.Unmarshal(raw, &[]any{&turn.User, &turn.Assistant}); err != nil {
		if err := json.Unmarshal(raw, &turn); err != nil {
			t.Fatal(err)
		}
	}
	client := func(who, words string) string {
		for _, of := range []string{"You took too long", "Response timed out", "Tool uses were"} {
			if strings.HasPrefix(words, of) {
				who = "note"
			}
		}
		return who + ": " + words
	}
	for _, s := range turn.User.Content {
		for _, r := range s.Results {
			list = append(list, "tool: result: "+r.ID)
		}
		switch {
		case s.Prompt == "" || strings.HasPrefix(s.Prompt, "I deny this tool request."):
		case turn.Meta != nil && turn.User.Timestamp == nil:
			list = append(list, "note: "+s.Prompt)
		default:
			list = append(list, client("user", s.Prompt))
		}
	}
	for _, s := range turn.Assistant {
		if s.Thinking.Text != "" {
			list = append(list, "model: thought: "+s.Thinking.Text)
		}
		if s.Content != "" {
			list = append(list, client("model", s.Content))
		}
		for _, u := range s.Uses {
			list = append(list, "model: call: "+u.ID)
		}
	}
	return list
}

// Who said what in the user's name.
func TestKiroVoices(t *testing.T) {
	asked := func(content string) string {
		return `{"conversation_id":"c","history":[{"user":{"content":` + content +
			`,"timestamp":"2026-02-03T09:00:00Z","additional_context":"User: run it"},` +
			`"assistant":{},"request_metadata":{"message_id":"m"}}]}`
	}
	prompt := func(text string) string { return asked(`{"Prompt":{"prompt":"` + text + `"}}`) }
	const no = `{"CancelledToolUses":{"tool_use_results":[{"tool_use_id":"t",` +
		`"content":[{"Text":"Tool use was cancelled by the user"}],"status":"Error"}],"prompt":`
	talks.CheckVoices(t, []Voice{
		{"words", prompt("paint it"), "user: paint it"},
		{"a time is up", prompt("You took too long to respond - try to split up the work into " +
			"smaller steps."), "note: You took too long to respond - try to split up the work into " +
			"smaller steps."},
		{"the same with words", prompt("You took too long to respond, paint it"),
			"user: You took too long to respond, paint it"},
		{"a request of the client", prompt("[SYSTEM NOTE: This is an automated request, not from " +
			"the user]\\nUser: run it"), "note: [SYSTEM NOTE: This is an automated request, not from " +
			"the user]\nUser: run it"},
		{"words in place of a call", asked(no + `"paint it"}}`),
			"tool: Tool use was cancelled by the user\nuser: paint it"},
		{"no", asked(no + `"I deny this tool request. Ask a follow up question clarifying the ` +
			`expected action"}}`), "tool: Tool use was cancelled by the user"},
	})
}

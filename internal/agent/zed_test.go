package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// The messages have the text of the thread, in its order: nothing is lost, and nothing doubled.
func TestZedWords(t *testing.T) {
	data := threads.Fixtures(t)["thread.json"]
	threads.CheckErrors(t, string(data))
	steps, _, stats := threads.Steps(t, data)
	var doc struct{ Text string }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, st := range steps {
		for _, p := range transcript.PartsOf(&st.Message) {
			text := p.Text
			if text == "" {
				text = p.Body.Object(shape.ZedAgent).Object("block").Text("text")
			}
			said = append(said, strings.Fields(text)...)
		}
	}
	all := strings.Join(strings.Fields(doc.Text), " ")
	if got := strings.Join(said, " "); got != all {
		t.Errorf("got\n%s\nwant\n%s", got, all)
	}
	const want = `message user message-0 "Which lamps — 灯 — are lit?" "Look at both."
message model message-1 thought "I should look." "The north one."
message user message-2 "Thank you."
message model message-3 "It is"
note system message-4 "Be short."
`
	if got := Trace(steps); got != want || len(stats.Skipped) > 0 ||
		stats.Session != "d0000000-0000-4000-8000-000000000001" {
		t.Errorf("got\n%swant\n%s%+v", got, want, stats)
	}
}

// Places outside of the text, and in the middle of a character, do no harm.
func TestZedPlaces(t *testing.T) {
	const doc = `{"zed":"context","text":"灯","messages":[{"start":1,"metadata":{"role":"user"}},` +
		`{"start":99,"metadata":{"role":"user"}},{"start":0,"metadata":{"role":"assistant"}}],` +
		`"slash_command_output_sections":[{"range":{"start":2,"end":1}},{"range":{"start":0,"end":88}}]}`
	if steps, _, _ := threads.Steps(t, []byte(doc)); len(steps) != 3 {
		t.Errorf("%s", Trace(steps))
	}
}

// zedUpgraded is a thread as a newer version of Zed writes one of before 0.3.0, read without the
// reader: it says who said what, in order, too.
func zedUpgraded(t *testing.T, data []byte) (thread []byte, said []string) {
	t.Helper()
	type object = map[string]any
	var old struct {
		ID, Summary string
		Updated     string `json:"updated_at"`
		Messages    []struct {
			Role, Text string
			Segments   []struct{ Type, Text, Signature, Data string }
			Uses       []struct {
				ID, Name string
				Input    json.RawMessage
			} `json:"tool_uses"`
			Results []struct {
				ID      string `json:"tool_use_id"`
				Error   bool   `json:"is_error"`
				Content any
			} `json:"tool_results"`
		}
	}
	if err := json.Unmarshal(data, &old); err != nil {
		t.Fatal(err)
	}
	roles := map[string]string{"user": "user", "assistant": "model", "system": "note"}
	var messages []any
	for i, m := range old.Messages {
		var content []any
		results := object{}
		if m.Text != "" {
			content = append(content, object{"Text": m.Text})
			said = append(said, roles[m.Role]+": "+m.Text)
		}
		for _, s := range m.Segments {
			switch s.Type {
			case "text":
				content = append(content, object{"Text": s.Text})
				if m.Role != "user" || len(m.Results) == 0 { // beside results: the client's
					said = append(said, roles[m.Role]+": "+s.Text)
				}
			case "thinking":
				content = append(content,
					object{"Thinking": object{"text": s.Text, "signature": s.Signature}})
				said = append(said, "model: thought: "+s.Text)
			default:
				content = append(content, object{"RedactedThinking": s.Data})
			}
		}
		for _, u := range m.Uses {
			content = append(content, object{"ToolUse": object{"id": u.ID, "name": u.Name,
				"raw_input": string(u.Input), "input": u.Input, "is_input_complete": true}})
			said = append(said, "model: call: "+u.ID)
		}
		for _, r := range m.Results {
			results[r.ID] = object{"tool_use_id": r.ID, "tool_name": "unknown", "is_error": r.Error,
				"content": []any{r.Content}, "output": nil}
			said = append(said, "tool: result: "+r.ID)
		}
		switch {
		case m.Role == "assistant":
			messages = append(messages, object{"Agent": object{"content": content,
				"tool_results": results, "reasoning_details": nil}})
		case m.Role == "user" && len(results) == 0:
			messages = append(messages, object{"User": object{"id": i, "content": content}})
		}
	}
	thread, err := json.Marshal(object{"id": old.ID, "title": "Another title",
		"messages": messages, "updated_at": "2026-02-04T08:00:00Z", "version": "0.3.0"})
	if err != nil {
		t.Fatal(err)
	}
	return thread, said
}

// Who said what in a thread is what another reader finds. A thread that a newer version of Zed has
// written again, and one with fewer messages, have the same messages.
func TestZedThreads(t *testing.T) {
	old := threads.Fixtures(t)["old.json"]
	upgraded, want := zedUpgraded(t, old)
	steps, _, _ := threads.Steps(t, old)
	names := map[transcript.Origin]bool{}
	for _, st := range steps {
		names[st.Message.Origin] = true
	}
	got := whoSaid(steps)
	for i, line := range got { // the client's, whom another reader does not tell from the person
		if line == "note: Continue where you left off" {
			got[i] = "user: Continue where you left off"
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	again, _, _ := threads.Steps(t, upgraded)
	for _, st := range again {
		if !names[st.Message.Origin] {
			t.Errorf("%v is new in\n%s", st.Message.Origin, Trace(again))
		}
	}
	whole, _, _ := threads.Steps(t, threads.Fixtures(t)["agent.json"])
	var doc map[string]any
	var messages struct{ Messages []json.RawMessage }
	for _, v := range []any{&doc, &messages} {
		if err := json.Unmarshal(threads.Fixtures(t)["agent.json"], v); err != nil {
			t.Fatal(err)
		}
	}
	doc["messages"] = messages.Messages[:3]
	doc["updated_at"], doc["title"] = "2026-02-03T08:10:00Z", "New Thread"
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	first, _, stats := threads.Steps(t, data)
	if Trace(first) != Trace(whole[:len(first)]) || stats.Passed["resume"] != 1 {
		t.Errorf("%v: %s", stats.Passed, Trace(first))
	}
}

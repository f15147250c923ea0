package view

import (
	"encoding/json"
	"testing"
)

// A part that says several things is written as several, and a name in another case is unknown.
func TestPartsThatSaySeveralThings(t *testing.T) {
	call :=
		`{"functionCall":{"id":"c1","name":"sh","args":{"command":"ls"}},"thoughtSignature":"s"}`
	in := Input{Tail: []Message{
		{ID: id("a"), Seq: 1, Role: "user", Text: "go"},
		{ID: id("b"), Seq: 2, Role: "model",
			Parts: json.RawMessage(`[{"text":"zebra",` + call[1:] + `]`)},
		{ID: id("c"), Seq: 3, Role: "tool", Parts: json.RawMessage(
			`[{"functionCall":{"id":"c2","name":"ls","args":{}},"functionResponse":{"id":"c1","name":"sh","response":{"output":"giraffe"}}}]`)},
		{ID: id("d"), Seq: 4, Role: "model",
			Parts: json.RawMessage(`[{"text":"okapi","Thought":true,"FunctionCall":{"name":"none"}},
			{"text":"hidden","thought":true,"functionCall":{"id":"c3","name":"pwd","args":{}}},{"Text":"unknown"}]`)},
	}}
	for f, want := range map[Format]string{
		Gemini: `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"text":"zebra"},` + call + `]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"sh","response":{"output":"giraffe"}}}]},` +
			`{"role":"model","parts":[{"functionCall":{"id":"c2","name":"ls","args":{}}},{"text":"okapi","Thought":true,"FunctionCall":{"name":"none"}},` +
			`{"functionCall":{"id":"c3","name":"pwd","args":{}}},{"Text":"unknown"}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"c2","name":"ls","response":{"error":"no result recorded"}}},` +
			`{"functionResponse":{"id":"c3","name":"pwd","response":{"error":"no result recorded"}}}]}]}`,
		OpenAI: `{"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":"zebra","tool_calls":` +
			`[{"id":"c1","type":"function","function":{"name":"sh","arguments":"{\"command\":\"ls\"}"}}]},` +
			`{"role":"tool","content":"giraffe","tool_call_id":"c1"},` +
			`{"role":"assistant","content":"okapi\n[part {\"Text\":\"unknown\"}]","tool_calls":` +
			`[{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}},` +
			`{"id":"c3","type":"function","function":{"name":"pwd","arguments":"{}"}}]},` +
			`{"role":"tool","content":"no result recorded","tool_call_id":"c2"},{"role":"tool","content":"no result recorded","tool_call_id":"c3"}]}`,
		Anthropic: `{"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},` +
			`{"role":"assistant","content":[{"type":"text","text":"zebra"},{"type":"tool_use","id":"c1","name":"sh","input":{"command":"ls"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"giraffe"}]},` +
			`{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"ls","input":{}},{"type":"text","text":"okapi"},` +
			`{"type":"tool_use","id":"c3","name":"pwd","input":{}},{"type":"text","text":"[part {\"Text\":\"unknown\"}]"}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"no result recorded","is_error":true},` +
			`{"type":"tool_result","tool_use_id":"c3","content":"no result recorded","is_error":true}]}]}`,
	} {
		var got, wanted any
		out := render(t, in, Options{Format: f}).Bytes
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		if a, b := encode(got), encode(wanted); a != b {
			t.Errorf("%v:\n got %s\nwant %s", f, out, want)
		}
	}
}

package epoch

import (
	"errors"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// split is what Split says of messages as a provider has them: "" for yes, else the open calls and
// the place.
func split(t *testing.T, messages string) string {
	t.Helper()
	list, err := ReadMessages([]byte(messages))
	if err != nil {
		t.Fatalf("%s: %v", messages, err)
	}
	open, at := Split(list)
	if len(open) == 0 {
		return ""
	}
	return Open(open) + " @" + string(rune('0'+at))
}

// The same conversation in the shapes of all who are read: calls a and b, then the results that are
// asked for.
func shapes(calls, results string) map[string]string {
	forms := map[string][3]string{
		"gemini": {`{"role":"model","parts":[%]}`,
			`{"functionCall":{"id":"@","name":"ls","args":{}}}`,
			`{"role":"user","parts":[{"functionResponse":{"id":"@","name":"ls","response":{}}}]}`},
		"openai": {`{"role":"assistant","content":null,"tool_calls":[%]}`,
			`{"id":"@","type":"function","function":{"name":"ls","arguments":"{}"}}`,
			`{"role":"tool","tool_call_id":"@","content":"x"}`},
		"anthropic": {`{"role":"assistant","content":[{"type":"text","text":"x"},%]}`,
			`{"type":"tool_use","id":"@","name":"ls","input":{}}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"@","content":"x"}]}`},
		"adk": {`{"author":"a","content":{"role":"model","parts":[%]}}`,
			`{"functionCall":{"id":"@","name":"ls","args":{}}}`,
			`{"author":"a","content":{"role":"user","parts":[{"functionResponse":{"id":"@","name":"ls","response":{}}}]}}`},
		"log": {`{"kind":"message","role":"model","text":"x","calls":[%]}`,
			`{"id":"@","tool":"ls"}`,
			`{"kind":"message","role":"tool","text":"x","results":["@"]}`},
	}
	out := map[string]string{}
	for name, f := range forms {
		var made []string
		for _, id := range strings.Fields(calls) {
			made = append(made, strings.ReplaceAll(f[1], "@", id))
		}
		list := []string{`{"role":"user","content":"go","parts":[{"text":"go"}]}`,
			strings.ReplaceAll(f[0], "%", strings.Join(made, ","))}
		for _, id := range strings.Fields(results) {
			list = append(list, strings.ReplaceAll(f[2], "@", id))
		}
		out[name] = strings.Join(list, "\n")
		out[name+" array"] = "[" + strings.Join(list, ",") + "]"
		for _, member := range []string{"contents", "messages", "tail"} {
			out[name+" "+member] = `{"v":1,"system":"x","` + member + `":[` +
				strings.Join(list, ",") + `]}`
		}
	}
	return out
}

func TestE39_result_of_one_call_of_two(t *testing.T) {
	for name, s := range shapes("a b", "a") {
		if got := split(t, s); got != "b @3" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for name, s := range shapes("a b", "") {
		if got := split(t, s); got != "a, b @2" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for name, s := range shapes("a b", "a b") {
		if got := split(t, s); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestE40_results_in_any_order(t *testing.T) {
	for name, s := range shapes("a b", "b a") {
		if got := split(t, s); got != "" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	for name, s := range shapes("a b", "b x") { // a result of nothing is harmless
		if got := split(t, s); got != "a @4" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestE41_calls_of_the_provider(t *testing.T) {
	for _, s := range []string{
		`[{"role":"model","parts":[{"executableCode":{"code":"1"}}]}]`,
		`[{"role":"model","parts":[{"functionCall":{"id":"a","name":"x"},"providerExecuted":true}]}]`,
		`[{"role":"assistant","content":[{"type":"server_tool_use","id":"a","name":"web_search","input":{}}]}]`,
		`[{"role":"assistant","tool_calls":[{"id":"a","providerExecuted":true}]}]`,
	} {
		if got := split(t, s); got != "" {
			t.Errorf("%s: got %q", s, got)
		}
	}
}

func TestE42_call_that_nobody_answered(t *testing.T) {
	turn := `{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"text":"y"}]},`
	s := `[{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls"}}]},` +
		strings.Repeat(turn, 3) + `{"role":"user","parts":[{"text":"z"}]}]`
	if got := split(t, s); got != "a @8" {
		t.Errorf("got %q", got)
	}
	// An id that comes again is another call: its result leaves the old one open.
	s = `[{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls"}}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"ls"}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"ls"}}]}]`
	if got := split(t, s); got != "a @3" {
		t.Errorf("got %q", got)
	}
}

// Updates that are there already are held to it where they stand; what comes first is no update.
func TestUpdatesAmongTheMessages(t *testing.T) {
	call, result := `{"role":"assistant","tool_calls":[{"id":"a"}]}`,
		`{"role":"tool","tool_call_id":"a"}`
	for _, tt := range [][2]string{
		{`[{"role":"system","content":"s"},` + call + `,` + result +
			`,{"role":"system","content":"u"}]`, ""},
		{`[` + call + `,{"role":"system","content":"u"},` + result + `]`, "a @1"},
		{`[` + call + `,{"kind":"update","role":"system","text":"u"},` + result + `]`, "a @1"},
		{`{"type":"function_call","call_id":"a","name":"ls"}` + "\n" +
			`{"role":"developer","content":"u"}`, "a @1"},
		{`{"input":[{"type":"function_call","call_id":"a"},{"type":"function_call_output","call_id":"a"}]}`, ""},
		{`{"role":"model","parts":[{"functionCall":{"name":"ls"}},{"functionCall":{"name":"cat"}}]} {"role":"user","parts":[{"functionResponse":{"name":"cat"}}]}`, "ls @2"},
		{``, ""},
		{`[]`, ""},
	} {
		if got := split(t, tt[0]); got != tt[1] {
			t.Errorf("%s: got %q, want %q", tt[0], got, tt[1])
		}
	}
	for _, bad := range []string{"x", "[1]", `"x"`, "null", `[{}] {`, `{"messages":[null]}`} {
		if _, err := ReadMessages([]byte(bad)); !errors.Is(err, ErrInput) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}

// Of a stored message the parts count, and what the header says where they say nothing.
func TestSaid(t *testing.T) {
	calls := []format.Call{{ID: "a", Tool: "ls"}, {ID: "b", Tool: "cat"}}
	for _, tt := range []struct {
		parts   string
		calls   []format.Call
		results []string
		want    string
	}{
		{``, calls, nil, "a, b"},
		{`[{"text":"x"}]`, calls, nil, "a, b"},
		{`[{"functionCall":{"name":"ls"}},{"functionCall":{"id":"c","name":"cat"}}]`,
			calls, nil, "a, c"},
		{`[{"functionCall":{"id":"a","name":"ls"},"providerExecuted":true}]`, calls[:1], nil, ""},
		{`[{"functionCall":{"name":"ls"}}]`, nil, nil, "ls"},
		{`[{"FunctionCall":{"id":"a","name":"ls"}}]`, nil, nil, ""},
		{`[{"functionCall":{"id":"a","ID":"b"}},{"functionCall":{"id":"c"},"functionResponse":{"id":"a"},"text":"x"}]`, nil, nil, "c"},
		{`[{"functionResponse":{"name":"ls"},"functionCall":{"name":"ls"}}]`, nil, nil, ""},
		{``, calls, []string{"a"}, "b"},
		{`[{"functionCall":{"id":"a","name":"ls"}},{"functionResponse":{"name":"ls"}}]`, nil,
			[]string{"a"}, ""},
	} {
		open, _ := Split([]Message{Said([]byte(tt.parts), tt.calls, tt.results)})
		if got := Open(open); got != tt.want {
			t.Errorf("%s, %v, %v: got %q, want %q", tt.parts, tt.calls, tt.results, got, tt.want)
		}
	}
}

// No input stops the reader, and the calls that are named are calls of the input.
func FuzzReadMessages(f *testing.F) {
	for _, s := range shapes("a b", "b") {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := ReadMessages(b)
		if err != nil {
			return
		}
		if open, at := Split(list); at > len(list) || len(open) > 0 && at == 0 {
			t.Fatalf("%d of %d, %v", at, len(list), open)
		}
	})
}

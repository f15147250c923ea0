package sets

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/claudecode"
	"github.com/gemini-ctx/ctx/internal/agent/codex"
)

// claudeLine is a record of Claude Code; more are further members.
func claudeLine(kind, content, more string) string {
	return fmt.Sprintf(
		`{"type":%q,"sessionId":"s","uuid":"u","message":{"role":%q,"content":%s}%s}`, kind, kind,
		content, more)
}

func TestClaudeRecords(t *testing.T) {
	lines := []string{
		`{"type":"summary","summary":"x"}`,
		claudeLine("user", `"Fix it"`, ""),
		claudeLine("assistant", `[{"type":"thinking","thinking":"hm"}]`, ""),
		claudeLine("assistant",
			`[{"type":"text","text":"I look."},{"type":"tool_use","input":{"path":"a.go","lines":{"from":3}}}]`, ""),
		claudeLine("user",
			`[{"type":"tool_result","content":[{"type":"text","text":"package a"}]}]`, ""),
		`{"type":"queue-operation","operation":"enqueue","content":"and hurry"}`,
		`{"type":"queue-operation","operation":"enqueue","content":"/compact"}`,
		"not JSON",
		claudeLine("user", `"and hurry"`, ""),
		claudeLine("user", `"of a helper"`, `,"isSidechain":true`),
		claudeLine("user", `"of the client"`, `,"isMeta":true`),
		claudeLine("user", `"what was"`, `,"isCompactSummary":true`),
		claudeLine("user", `"and hurry"`, ""),
	}
	data := []byte(strings.Join(lines, "\n"))
	got := Transcript{Agent: AgentOf(data), Data: data}.Records()
	want := []Record{
		{Said: "Fix it", Prompt: true},
		{Said: "I look.", Called: "a.go\n3"},
		{Output: "package a"},
		{Said: "and hurry", Prompt: true},
		{Said: "what was", Summary: true},
		{Said: "and hurry", Prompt: true},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		if line, _, _ := strings.Cut(string(data[got[i].Start:]),
			"\n"); !strings.HasPrefix(line, `{"type"`) {
			t.Errorf("record %d begins at %q", i, line)
		}
		if got[i].Start = 0; !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("record %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestCodexRecords(t *testing.T) {
	lines := []string{
		`{"type":"session_meta","payload":{"id":"s"}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"Obey."}]}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it"}]}}`,
		`{"type":"event_msg","payload":{"type":"user_message","message":"Fix it"}}`,
		`{"type":"response_item","payload":{"type":"function_call","arguments":"{\"command\":[\"ls\",\"-l\"]}"}}`,
		`{"type":"response_item","payload":{"type":"custom_tool_call","input":"*** Begin Patch"}}`,
		`{"type":"response_item","payload":{"type":"function_call_output","output":"a.go"}}`,
		`{"type":"compacted","payload":{"message":""}}`,
		`{"type":"compacted","payload":{"message":"what was"}}`,
	}
	data := []byte(strings.Join(lines, "\n"))
	got := Transcript{Agent: AgentOf(data), Data: data}.Records()
	want := []Record{
		{
			Said: "Fix it", Prompt: true,
		}, {Called: "ls\n-l"}, {Called: "*** Begin Patch"}, {Output: "a.go"}, {
			Said: "what was", Summary: true,
		},
	}
	for i := range got {
		got[i].Start = 0
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestAgentOf(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{claudeLine("user", `"x"`, ""), claudecode.Agent},
		{`{"type":"summary"}` + "\n" + claudeLine("assistant", `[]`, ""), claudecode.Agent},
		{`{"type":"session_meta","payload":{}}`, codex.Agent},
		{`{"role":"user","text":"x"}`, ""},
		{"", ""},
		{strings.Repeat("{}\n", recognized) + claudeLine("user", `"x"`, ""), ""},
	} {
		if got := AgentOf([]byte(c.data)); got != c.want {
			t.Errorf("%.60q: %q, want %q", c.data, got, c.want)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want []string
	}{
		{`{"b":"x","a":{"c":["y",{"d":"z"}],"e":4},"f":true}`, []string{"x", "y", "z", "4"}},
		{`["k",["l"]]`, []string{"k", "l"}},
		{`{}`, []string{}},
		{`ls -l`, nil},
		{`{"a":"x"`, nil},
	} {
		if got := values([]byte(c.raw)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.raw, got, c.want)
		}
	}
}

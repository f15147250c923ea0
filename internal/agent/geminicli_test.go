package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// gemini has tests of its own beside its reader: a message of it need not come back as a step.
var gemini = Format{Dir: "geminicli/testdata", Read: of("", geminicli.ReadAs),
	Write: Write(geminicli.NewWriter)}

// Other agents make several calls in several messages before the first result: each call has its
// own result nevertheless.
func TestGeminiCallsAtOnce(t *testing.T) {
	say := func(id, role, part string) transcript.Message {
		m := transcript.Message{
			Origin: transcript.Origin{Agent: "codex", Session: "s", Message: id}, Role: role,
		}
		m.SetParts([]json.RawMessage{[]byte(part)})
		return m
	}
	call := func(id string) transcript.Message {
		return say("c"+id, "model", `{"functionCall":{"args":{},"id":"`+id+`","name":"ls"}}`)
	}
	result := func(id string) transcript.Message {
		return say("r"+id, "tool",
			`{"functionResponse":{"id":"`+id+`","name":"ls","response":{"output":"of `+id+`"}}}`)
	}
	text := say("t", "model", `{"text":"done"}`)
	out, done, err := gemini.Write(Items([]transcript.Message{call("1"), call("2"), result("2"),
		result("1"), text}), transcript.WriteOptions{})
	if err != nil || len(done.Changed) > 0 || done.Messages != 5 {
		t.Errorf("%+v %v", done, err)
	}
	steps, _, _ := gemini.Steps(t, out)
	if got := Trace(steps); strings.Count(got, "\n") != 5 ||
		strings.Index(got, "of 1") > strings.Index(got, "of 2") {
		t.Errorf("%s\n%s", got, out)
	}
}

// A part that says several things is exported whole.
func TestGeminiSeveral(t *testing.T) {
	out, _, err := gemini.Write(Items(Several()), transcript.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, _, _ := gemini.Steps(t, out)
	got := Trace(steps)
	for _, want := range []string{"zebra", "tapir", "giraffe", "lemur", "ibex", "okapi"} {
		if strings.Count(got, want) == 0 {
			t.Errorf("%s is lost:\n%s\n%s", want, got, out)
		}
	}
}

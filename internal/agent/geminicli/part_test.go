package geminicli

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/transcript/transcripttest"
)

func TestParseContent(t *testing.T) {
	tests := []struct{ in, want string }{
		{`"a"`, `[{"text":"a"}]`},
		{`["a", "", 5, null, [[[{"text":"b"},[["c"]]]]], {"text":""}]`,
			`[{"text":"a"},{"text":"b"},{"text":"c"}]`},
		{`{"functionCall":{"id":"c","name":"n"},"text":"a"}`,
			`[{"text":"a"},{"functionCall":{"args":{},"id":"c","name":"n"}}]`},
		{`[{"functionCall":{"id":"d","args":null},"functionResponse":{"id":"c"}}]`,
			`[{"functionResponse":{"id":"c"}},{"functionCall":{"args":{},"id":"d"}}]`},
		{`[{"FunctionCall":{"id":"d"},"Thought":true,"text":"a"}]`,
			`[{"FunctionCall":{"id":"d"},"Thought":true,"text":"a"}]`},
		{`[{"text":"a","text":"b"}]`, `[{"text":"b"}]`},
	}
	for _, tt := range tests {
		parts := parseContent([]byte(tt.in))
		if got := string(printParts(parts)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.in, got, tt.want)
		}
		for _, p := range parts {
			if p.kind == partThought || p.tool == "" && p.kind == partCall && p.callID == "" {
				t.Errorf("%s: %+v", tt.in, p)
			}
		}
	}
}

// A part that says several things is exported whole.
func TestExportOfSeveral(t *testing.T) {
	out, _ := write(t, transcripttest.Items(transcripttest.Several()), transcript.WriteOptions{})
	steps, _ := readAll(t, out)
	got := trace(steps)
	for _, want := range []string{"zebra", "tapir", "giraffe", "lemur", "ibex", "okapi"} {
		if strings.Count(got, want) == 0 {
			t.Errorf("%s is lost:\n%s\n%s", want, got, out)
		}
	}
}

package geminicli

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
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
			if isThought(p) || p.Tool == "" && p.Kind == transcript.PartCall && p.ID == "" {
				t.Errorf("%s: %+v", tt.in, p)
			}
		}
	}
}

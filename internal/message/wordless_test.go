package message_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/internal/message"
)

func TestWordless(t *testing.T) {
	for _, c := range []struct {
		parts string
		note  bool
		want  string
	}{
		{`[]`, true, "no text"},
		{`[{"text":"mhm","thought":true},{"text":"so","thought":true}]`, false, "thought"},
		{`[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]`, false, "image/png"},
		{`[{"claude-code":{"subtype":"turn_duration","type":"system"},"thought":true}]`, true,
			"claude-code: turn_duration"},
		{`[{"claude-code":{"attachment":{"type":"hook_success"}},"thought":true}]`, true,
			"claude-code: hook_success"},
		{`[{"codex":{"payload":{"type":"token_count"},"type":"event_msg"},"thought":true}]`, true,
			"codex: token_count"},
		{`[{"gemini-cli":{"$merge":{}},"thought":true}]`, true, "gemini-cli"},
		// What an agent keeps with a message is no thought
		{`[{"claude-code":{"type":"system"},"thought":true}]`, false, "no text"},
		{`[{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"a":{"b":1},"thought":true}]`,
			false, "image/png"},
		{`[{"functionResponse":{"id":"1","response":{"output":""}},"a":{"content":[{"type":"image","source":{"media_type":"image/png","data":"AA=="}}]}}]`,
			false, "image/png"},
		{`[{"functionResponse":{"id":"1","response":{"output":""}}}]`, false, "no output"},
	} {
		parts, err := message.Parse([]byte(c.parts))
		if err != nil {
			t.Fatal(err)
		}
		if got := message.Wordless(parts, c.note); got != c.want {
			t.Errorf("%s: %q, want %q", c.parts, got, c.want)
		}
	}
}

func TestLabel(t *testing.T) {
	for want, m := range map[string]message.Media{
		"[image/png, 1 kB]":                  {MimeType: "image/png", Data: "AAAA"},
		"[image/png, https://example.com/a]": {MimeType: "image/png", URI: "https://example.com/a"},
		"[https://example.com/a]":            {URI: "https://example.com/a"},
		"[audio/wav]":                        {MimeType: "audio/wav"},
	} {
		if got := m.Label(); got != want {
			t.Errorf("%+v: %s, want %s", m, got, want)
		}
	}
}

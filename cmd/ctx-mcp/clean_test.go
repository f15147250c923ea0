package main

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/cli/document"
)

// FuzzClean holds the cleaning of JSON to that of the text in it.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b[31mred\x7f", "a\u009bb\u0085", "\\u001b",
		"\b\f\n\r\t\v\x00", "quo\"te\\", "\u00a0\u2028🙂", "broken \xff\x9b",
		"\u202ea\U000E0041\ufeff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := document.Marshal(map[string]string{"text": s})
		b = cleanJSON(b)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]string
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if want := cleanText(s); utf8.ValidString(s) && got["text"] != want {
			t.Fatalf("%q: %q, want %q", s, got["text"], want)
		}
		for _, r := range got["text"] + string(b) {
			if isControl(r) {
				t.Fatalf("%q: a control is left: %q", s, b)
			}
		}
	})
}

// Escapes in parts that came as JSON are known in all ways of writing them.
func TestCleanEscapes(t *testing.T) {
	for in, want := range map[string]string{
		`"\u001B[0m"`:            `"[0m"`,
		`"\u001b\u009B\u007f"`:   `""`,
		`"\b\f\n\t\r"`:           `"\n\t\r"`,
		`"\\u001b"`:              `"\\u001b"`,
		`"\u000a\u0009"`:         `"\u000a\u0009"`,
		`"\u00e9\u1b00"`:         `"\u00e9\u1b00"`,
		"\"\u009b\x7f\"":         `""`,
		`"\u202Ea\udb40\udc41b"`: `"ab"`,
		`"\ud83d\ude42\udb40"`:   `"\ud83d\ude42\udb40"`,
		"\"\u202ea\u200b\"":      `"a"`,
	} {
		if got := string(cleanJSON([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

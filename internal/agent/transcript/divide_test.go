package transcript_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

var clientMarks = transcript.Voices{
	Elements: []string{"reminder"},
	Leads:    []transcript.Lead{{Open: "I ran: "}},
	Spans:    []transcript.Lead{{Open: "--- Files ---", Close: "--- End ---"}},
}

// TestDivide divides the parts of messages: what is shown, whether it is a note, and that the parts
// come back as they were.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		name, parts, shown string
		note               bool
	}{
		{"words", `[{"text":"paint it"}]`, "paint it", false},
		{"white space", `[{"text":" "}]`, " ", false},
		{"nothing", `[]`, "", false},
		{"a reminder", `[{"text":"<reminder>x</reminder>"}]`, "<reminder>x</reminder>", true},
		{"a reminder beside a picture",
			`[{"text":"<reminder>x</reminder>"},{"inlineData":{"mimeType":"image/png","data":"AA=="}}]`,
			"", false},
		{"a reminder behind words", `[{"text":"paint it\n<reminder>x</reminder>\nred","id":3}]`,
			"paint it|red", false},
		{"a reminder before words", `[{"text":"<reminder>x</reminder>paint it"}]`, "paint it", false},
		{"files in parts of their own",
			`[{"text":"see @a"},{"text":"\n--- Files ---"},{"text":"User: run it"},{"text":"--- End ---"},{"text":"now"}]`,
			"see @a|now", false},
		{"files in one part", `[{"text":"see @a\n--- Files ---\nUser: run it\n--- End ---"}]`,
			"see @a", false},
		{"a command", `[{"text":"I ran: ls"},{"text":" "}]`, "I ran: ls| ", true},
	} {
		var parts []json.RawMessage
		if err := json.Unmarshal([]byte(c.parts), &parts); err != nil {
			t.Fatal(err)
		}
		got, note := transcript.Divide("quay", &clientMarks, parts)
		var shown []string
		for _, raw := range got {
			if p := transcript.ReadPart(raw); p.Kind == transcript.PartText {
				shown = append(shown, p.Text)
			}
		}
		if s := strings.Join(shown, "|"); s != c.shown || note != c.note {
			t.Errorf("%s: %q, %v, want %q, %v", c.name, s, note, c.shown, c.note)
		}
		back := transcript.Joined("quay", got)
		if !slices.EqualFunc(back, parts, func(a, b json.RawMessage) bool {
			return string(canonical(a)) == string(canonical(b))
		}) {
			t.Errorf("%s: %s came back as %s", c.name, c.parts, back)
		}
	}
}

func canonical(raw json.RawMessage) []byte {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	b, _ := json.Marshal(v)
	return b
}

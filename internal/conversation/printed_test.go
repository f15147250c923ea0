package conversation

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/message"
)

// TestPrintedInPast looks for a call in what was read before only if it has not just come.
func TestPrintedInPast(t *testing.T) {
	looks := 0
	p := Printed{met: map[string]bool{}, past: func(string) []message.Part { looks++; return nil }}
	for range 3 {
		p.In(&Message{Parts: []byte(`[{"functionCall":{"id":"c1","name":"Bash",` +
			`"args":{"command":"ls"}}}]`)})
		p.In(&Message{Text: "a.go", Results: []string{"c1"}})
	}
	if looks > 0 {
		t.Errorf("looked %d times for a call of the batch", looks)
	}
	if p.In(&Message{Text: "a.go", Results: []string{"c2"}}); looks != 1 {
		t.Errorf("looked %d times for an older call", looks)
	}
}

// TestPrintedIn has the call in one message and its result in the next, as whatever appends
// messages has them.
func TestPrintedIn(t *testing.T) {
	call := Message{Parts: []byte(`[{"functionCall":{"id":"c1","name":"Bash",` +
		`"args":{"command":"cd x && gh auth token | head -1"}}}]`)}
	const value = "Tallow-Fen-77"
	for _, result := range []Message{
		{Parts: []byte(`[{"functionResponse":{"id":"c1","response":{"output":"` + value + `"}}}]`)},
		{Text: value + "\n", Results: []string{"c1"}},
	} {
		var p Printed
		if got := p.In(&call); got != nil {
			t.Errorf("the call has %q", got)
		}
		if got := p.In(&result); !slices.Equal(got, []string{value}) {
			t.Errorf("%+v: %q", result, got)
		}
		if got := p.In(&Message{Text: "It is " + value}); !slices.Equal(got, []string{value}) {
			t.Errorf("said again: %q", got)
		}
		if got := p.In(&result); !slices.Equal(got, []string{value}) {
			t.Errorf("a result without a call: %q", got)
		}
	}
}

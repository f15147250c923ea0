package conversation

import (
	"slices"
	"testing"
)

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

package conversation

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// What is cleaned ahead is what CleanAll makes, and it is cleaned once.
func TestCleanAhead(t *testing.T) {
	key := "gh" + "p_" + strings.Repeat("aB3", 12)
	for _, m := range []Message{
		{Role: "user", Text: "words"},
		{Role: "user", Text: "a \x07 bell and " + key},
		{Role: "model",
			Parts: json.RawMessage(
				`[{"text":"look at ` + key +
					`"},{"functionCall":{"id":"c","name":"n","args":{"a":1}}}]`)},
		{Role: "tool",
			Parts: json.RawMessage(
				`[{"functionResponse":{"id":"c","response":{"output":"\u0007"}}}]`)},
		{Role: "user", Parts: json.RawMessage(`[{"text":1,"text":2}]`)},
		{Role: "user", Parts: json.RawMessage(`{"text"`)},
		{Role: "nobody", Text: "x"},
	} {
		plain, found, err := CleanAll([]Message{m})
		ahead := m
		ahead.TakeAhead(&m)
		words := Message{Text: m.Text, Parts: m.Parts}
		words.CleanAhead()
		ahead.TakeAhead(&words)
		for range 2 {
			got, again, failed := CleanAll([]Message{ahead})
			if (err == nil) != (failed == nil) || err != nil && err.Error() != failed.Error() ||
				!reflect.DeepEqual(again, found) {
				t.Fatalf("%q: found %v, error %v, want %v, %v", m.Parts, again, failed, found, err)
			}
			if err != nil {
				break
			}
			if said := got[0].words(); said != plain[0].words() {
				t.Errorf("%q says %q, want %q", m.Parts, said, plain[0].words())
			}
			clean := got[0]
			got[0].ahead = nil
			if !reflect.DeepEqual(got, plain) {
				t.Errorf("got %+v, want %+v", got, plain)
			}
			ahead, plain, found = clean, got, nil
		}
	}
}

// An extract counts for its members on its view only.
func TestExtractsHoldForAView(t *testing.T) {
	a, b := format.Sum([]byte("a")), format.Sum([]byte("b"))
	x := newExtracts(&refs.View{Number: 3, Digest: a}, []extract{
		{raw: []format.ID{b, a}},
		{raw: []format.ID{a}, sentences: []summarize.Sentence{{}}, made: true},
	})
	for _, c := range []struct {
		view *refs.View
		raw  []format.ID
		want bool
	}{
		{x.view, []format.ID{a}, true}, {&refs.View{Number: 3, Digest: a}, []format.ID{a}, true},
		{&refs.View{Number: 4, Digest: a}, []format.ID{a}, false},
		{&refs.View{Number: 3, Digest: b}, []format.ID{a}, false}, {x.view, []format.ID{b}, false},
		{x.view, []format.ID{a, b}, false}, {x.view, []format.ID{b, a}, false},
	} {
		if _, ok := x.of(c.view, c.raw); ok != c.want {
			t.Errorf("%v of %d: %v", c.raw, c.view.Number, ok)
		}
	}
	if _, ok := (*extracts)(nil).of(x.view, []format.ID{a}); ok {
		t.Error("an extract of none")
	}
}

package message

import (
	"reflect"
	"testing"
)

func TestRoundTrip(t *testing.T) {
	for _, n := range []Note{
		{Kind: Rule, Text: "Never push on Fridays."},
		{Kind: Decision, Text: "flock, \"not\" a pid file", Supersedes: "ab12",
			Evidence: []string{"cd34", "ef56"}},
	} {
		if got, ok := NoteOf(n.Parts()); !ok || !reflect.DeepEqual(got, n) {
			t.Errorf("%+v, %v", got, ok)
		}
	}
	for _, parts := range []string{``, `[]`, `["a"]`, `[{"text":"a"}]`,
		`[{"text":"a","note":{"kind":"song"}}]`, `[{"text":" ","note":{"kind":"rule"}}]`,
		`[{"text":"a","note":{"kind":"rule"}},{"text":"b"}]`, `[{"text":"a","note":"rule"}]`} {
		if n, ok := NoteOf([]byte(parts)); ok {
			t.Errorf("%s is a note: %+v", parts, n)
		}
	}
}

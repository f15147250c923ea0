package document_test

import (
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
)

func TestEncode(t *testing.T) {
	type result struct {
		ID   format.ID `json:"id"`
		Note string    `json:"note,omitempty"`
	}
	id := format.Sum(nil)
	for _, c := range []struct {
		fields []any
		want   string
	}{
		{nil, `{"v":1}`},
		{[]any{struct{}{}}, `{"v":1}`},
		{[]any{"a", 1, "b", "<&>"}, `{"v":1,"a":1,"b":"<&>"}`},
		{[]any{"list", []string(nil), "id", format.ID{}, "none", document.OrNull(""), "some",
			document.OrNull("x")}, `{"v":1,"list":[],"id":null,"none":null,"some":"x"}`},
		{[]any{"time", time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)},
			`{"v":1,"time":"2026-01-02T03:04:05.006Z"}`},
		{[]any{"session", "work", result{ID: id}, "n", 2},
			`{"v":1,"session":"work","id":"` + id.String() + `","n":2}`},
		{[]any{"best", document.Nested[result]{Document: result{Note: "n"}}},
			`{"v":1,"best":{"v":1,"id":null,"note":"n"}}`},
	} {
		if got, err := document.Encode(c.fields...); err != nil || string(got) != c.want {
			t.Errorf("Encode(%v) = %s, %v; want %s", c.fields, got, err, c.want)
		}
	}
	for _, fields := range [][]any{{"key"}, {"a", 1, "key"}, {"a", make(chan int)},
		{make(chan int)}} {
		if got, err := document.Encode(fields...); err == nil {
			t.Errorf("Encode(%v) = %s, want an error", fields, got)
		}
	}
}

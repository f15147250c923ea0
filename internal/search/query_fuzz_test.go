package search

import (
	"strings"
	"testing"
)

// FuzzParse checks that every query has a bounded number of terms with positive weights, or none.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "pump", "which pump runs at 42 bar?",
		"foo_bar fooBar foo.Bar() #12 0x1f", "日本語 é ß \u202e", "\xff\x00",
		strings.Repeat("word ", 100), strings.Repeat("a1 b2.c3 ", 5000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if (err == nil) != (q != nil && len(q.terms) > 0) || len(text) == 0 && err == nil {
			t.Fatalf("%q: %v, %v", text, q, err)
		}
		if err != nil {
			return
		}
		if len(q.terms) > maxQueryTerms {
			t.Fatalf("%d terms", len(q.terms))
		}
		for _, term := range q.terms {
			if !(term.weight > 0) || term.word == "" {
				t.Fatalf("%q: term %+v", text, term)
			}
		}
	})
}

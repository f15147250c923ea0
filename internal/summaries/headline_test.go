package summaries_test

import (
	"testing"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/internal/view"
)

// The label of a cluster with a summary begins with the first line of the summary that says
// something.
func TestHeadline(t *testing.T) {
	sentences := view.Part{Sentences: []summarize.Sentence{{Text: "The parser loses tokens."}}}
	for _, tt := range []struct {
		parts []view.Part
		want  string
	}{
		{nil, ""},
		{[]view.Part{sentences}, ""},
		{[]view.Part{{Text: "# Mend the parser\n\nIt loses tokens."}, sentences},
			"Mend the parser"},
		{[]view.Part{{Text: "Mend the parser."}, {Text: "Ok.\nPrint every token."}},
			"Print every token."},
		{[]view.Part{{Text: summaries.GoneSummary}}, ""},
	} {
		if got := summaries.Headline(tt.parts); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.parts, got, tt.want)
		}
	}
}

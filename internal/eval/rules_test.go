package eval

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

func TestRules(t *testing.T) {
	m := []corpus.Message{
		{Author: "ann", Time: "2026-01-02T10:00:00Z", Text: "where is the log?"},
		{Author: "bob", Time: "2026-01-02T10:01:00Z", Text: "ann: in /var/log"},
		{Author: "cyd", Text: "lunch?"},
		{Author: "bob", Time: "2026-01-02T10:03:00Z", Text: "@cyd at noon"},
		{Author: "ann", Time: "2026-01-02T11:03:00Z", Text: "thanks: found it"},
		{Author: "ann", Time: "2026-01-02T12:02:59Z", Text: "Bob, thanks"},
	}
	want := map[string][]int{
		"all in one":        {0, 0, 0, 0, 0, 0},
		"all alone":         {0, 1, 2, 3, 4, 5},
		"same author":       {0, 1, 2, 1, 0, 0},
		"new after an hour": {0, 0, 0, 0, 1, 1},
	}
	for _, b := range rules() {
		if w, ok := want[b.name]; ok {
			got := b.cluster(m)
			for i := range w {
				if got[i] != w[i] {
					t.Errorf("%s: %v, not %v", b.name, got, w)
					break
				}
			}
		}
	}
}

// Three texts; "port" is in two of them and "redis" in one, so that the one about redis comes
// first, then the shorter one.
func TestBM25(t *testing.T) {
	b := newBM25([]string{"the port of the old database is a secret", "redis has another port",
		"lunch", "Redis port port"})
	if got := b.rank("Redis port?"); !slices.Equal(got, []int{3, 1, 0}) {
		t.Errorf("ranked %v", got)
	}
	if got := b.rank("nobody said this"); len(got) != 0 {
		t.Errorf("ranked %v", got)
	}
	if b := newBM25(nil); b.rank("x") != nil {
		t.Error("found something in nothing")
	}
}

package find_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// What no message has as a word is looked for within words, in the newest messages first, and the
// hits are those of all, newest first, whatever number is read.
func TestParts(t *testing.T) {
	s := storetest.Create(t)
	const n = 300
	for i := range n {
		word := "plain"
		if i%50 == 7 {
			word = "getUsernamesOf"
		}
		storetest.Say(t, s, "talk", "user", fmt.Sprintf("%s %d", word, i))
	}
	for _, c := range []struct {
		text               string
		read, limit        int
		hits, newest, left int
	}{
		{"sernames", n, 10, 6, 257, 0},
		{"sernames", n, 4, 4, 257, 0},
		{"sernames", 100, 10, 2, 257, 200},
		{"sernames", 20, 10, 0, 0, 280},
		{"plain", 20, 10, 10, 299, 0}, // a word: the index has it
		{"nowhere", n, 10, 0, 0, 0},
	} {
		var left atomic.Int64
		q := find.SearchQuery{Text: c.text, Limit: c.limit, Parts: true, Read: c.read,
			Unread: &left}
		hits := storetest.Must[[]find.Hit](t)(s.Recall.Search(storetest.View(t, s), q))
		if len(hits) != c.hits || int(left.Load()) != c.left {
			t.Errorf("%+v: %d hits, %d not read", c, len(hits), left.Load())
		}
		if c.text != "sernames" {
			continue
		}
		for i, h := range hits {
			if want := fmt.Sprintf("getUsernamesOf %d", c.newest-50*i); h.Text != want {
				t.Errorf("%+v: hit %d is %q, not %q", c, i, h.Text, want)
			}
		}
	}
}

package find

import (
	"bytes"
	"cmp"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// This file searches for patterns, for which it reads the texts.

// pattern finds itself in a text: a regular expression, or the parts of words.
type pattern interface{ FindStringIndex(string) []int }

// sieve is a pattern that most texts do not pass, for which search.Low of them is enough.
type sieve interface{ MayStandIn(low string) bool }

// looked is a document that was looked at: its text, and where it has each pattern.
type looked struct {
	shown *history.Shown
	at    [][]int // nil for a text that the reader does not see
	err   error
}

// lookAt reads a document.
func (s *Reader) lookAt(d search.Document, q SearchQuery, patterns []pattern) (l looked) {
	sees := false
	if l.shown, sees, l.err = s.documentText(d, q.Reader); !sees {
		return l
	}
	low := sync.OnceValue(func() string { return search.Low(l.shown.Text) })
	for _, p := range patterns {
		var at []int
		if sieve, ok := p.(sieve); !ok || sieve.MayStandIn(low()) {
			at = p.FindStringIndex(l.shown.Text)
		}
		l.at = append(l.at, at)
	}
	return l
}

// EnoughRead is how many messages are read for parts of words where somebody waits: that takes a
// second. Who wants to see more looks for a pattern.
const EnoughRead = 1 << 14

// lookAhead is the number of documents that a search for patterns looks at before it knows whether
// the hits are enough. They are read in the order in which they lie in packs, because many are in
// one block, and inRow in a row by one processor.
const (
	lookAhead = 1 << 10
	inRow     = 1 << 8
)

// eachOf calls do for the number of each document of a list, on all processors.
func (s *Reader) eachOf(list []search.Document, do func(i int)) {
	numbers := make([]int, len(list))
	for i := range numbers {
		numbers[i] = i
	}
	idOf := func(i int) format.ID { return list[i].ID }
	numbers = lists.By(numbers, idOf, s.Objects.ByPlace)
	lists.OnAll((len(list)+inRow-1)/inRow, func(row int) {
		for _, i := range numbers[row*inRow : min(len(list), (row+1)*inRow)] {
			do(i)
		}
	})
}

// searchPatterns is Search for patterns: first the hits of the first pattern, then those of the
// next one, each newest first. It reads texts from the newest on until the first pattern has enough
// hits.
func (s *Reader) searchPatterns(
	view *refs.View, q SearchQuery, patterns ...pattern,
) ([]Hit, error) {
	list, err := s.documents(view, q)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b search.Document) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Seq, a.Seq),
			bytes.Compare(a.ID[:], b.ID[:]))
	})
	copies := map[uint64]int{}
	for _, d := range list {
		copies[d.Print]++
	}
	if left := len(list) - q.Read; q.Pattern == nil && q.Unread != nil && left > 0 {
		q.Unread.Add(int64(left))
		list = list[:q.Read]
	}
	names := s.newBranchNames(view, q.Branch)
	found := make([]patternHits, len(patterns))
	for i := range found {
		found[i].printed = map[uint64]bool{}
	}
	mayHave := func(d search.Document) bool {
		return slices.ContainsFunc(found,
			func(p patternHits) bool { return !p.printed[d.Print] && len(p.hits) < q.Limit })
	}
	for some := range slices.Chunk(list, lookAhead) {
		if len(found[0].hits) == q.Limit {
			break
		}
		looks := make([]looked, len(some))
		s.eachOf(some, func(i int) {
			if mayHave(some[i]) {
				looks[i] = s.lookAt(some[i], q, patterns)
			}
		})
		for n, d := range some {
			if err := looks[n].err; err != nil {
				return nil, err
			}
			for i, at := range looks[n].at {
				if at == nil || found[i].printed[d.Print] || len(found[i].hits) == q.Limit {
					continue
				}
				shown := looks[n].shown
				h := Hit{ID: d.ID, Score: 1, Session: d.Session, Shown: shown, Text: shown.Text,
					Rewound: d.Rewound, find: patternFinder{patterns[i]}}
				h.Excerpt = search.Passage(shown.Text, at[0], at[1], excerptLen)
				if h.Branch, err = names.of(d.Session, d.ID, d.Rewound); err != nil {
					return nil, err
				}
				if d.Print != 0 {
					h.Copies = copies[d.Print] - 1
				}
				found[i].hits = append(found[i].hits, h)
				found[i].printed[d.Print] = d.Print != 0 // which is no fingerprint
			}
		}
	}
	hits := found[0].hits
	for _, p := range found[1:] {
		hits = append(hits, slices.DeleteFunc(p.hits, func(h Hit) bool {
			return slices.ContainsFunc(hits, func(o Hit) bool { return o.ID == h.ID })
		})...)
	}
	return hits[:min(len(hits), q.Limit)], nil
}

// patternHits are the hits of a pattern.
type patternHits struct {
	hits    []Hit
	printed map[uint64]bool // fingerprints of texts with a hit
}

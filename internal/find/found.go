package find

import (
	"cmp"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// Found is what the index of a store has for a query, before a message is read.
type Found struct {
	s      *Reader
	view   *refs.View
	q      SearchQuery
	parsed *search.Query
	hits   []search.Hit
	empty  error // of a query without words
}

// Find asks the index for what Search returns for words, with its errors. For a query without words
// it has nothing.
func (s *Reader) Find(view *refs.View, q SearchQuery) (*Found, error) {
	f := &Found{s: s, view: view, q: q}
	var err error
	if f.parsed, err = q.parse(); errors.Is(err, search.ErrNoTerms) {
		f.empty = err
		return f, nil
	} else if err != nil {
		return nil, err
	}
	if q.Alike {
		f.parsed.Widen()
	}
	if err = q.check(view); err != nil {
		return nil, err
	}
	f.hits, err = s.indexed(view, f.parsed, q)
	return f, err
}

// Any reports whether the index has anything.
func (f *Found) Any() bool { return len(f.hits) > 0 }

// Narrow leaves of what several stores have as much as one store that has all of it would be read
// for. Required phrases may stand in any message, so then nothing is left out.
func Narrow(all []*Found) {
	var scores, spare []float64
	for _, f := range all {
		if f.parsed.HasPhrases() || f.q.Reader != nil {
			return
		}
		for _, h := range f.hits {
			if h.Spare {
				spare = append(spare, h.Own)
			} else {
				scores = append(scores, h.Score)
			}
		}
	}
	if len(all) == 0 {
		return
	}
	least, leastSpare := nth(scores, all[0].q.Limit+wholeDepth), nth(spare, wholeDepth)
	for _, f := range all {
		f.hits = slices.DeleteFunc(f.hits, func(h search.Hit) bool {
			return !h.Equal && (h.Spare && h.Own < leastSpare || !h.Spare && h.Score < least)
		})
	}
}

// nth sorts numbers, and returns the n-th from the top; of less it returns the last one, or 0.
func nth[T cmp.Ordered](list []T, n int) (least T) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(b, a) })
	if len(list) > 0 {
		least = list[min(n, len(list))-1]
	}
	return least
}

// Hits reads the best messages, and returns what Search does.
func (f *Found) Hits() ([]Hit, error) {
	s, view, q := f.s, f.view, f.q
	ranked, err := s.compared(f.parsed, f.hits, q)
	if err != nil {
		return nil, err
	}
	hits, err := s.entryHits(view, f.parsed, ranked, q)
	if err == nil {
		hits, err = s.markSuperseded(view, q, hits)
	}
	if err == nil {
		err = s.markObjections(view, q, hits)
	}
	if err == nil && q.Titles {
		hits, err = s.withTitles(view, hits, q)
	}
	if err != nil || !q.Clusters {
		return hits, err
	}
	clusters, err := s.clusterHits(view, f.parsed, ranked, q.Limit)
	if err == nil && q.Reader != nil {
		clusters, err = s.visibleTo(view, q.Reader, clusters)
	}
	hits = append(hits, clusters...)
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, err
}

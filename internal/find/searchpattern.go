package find

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// pattern finds itself in a text: a regular expression, or the parts of words.
type pattern interface{ FindStringIndex(string) []int }

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
	names := s.newBranchNames(view, q.Branch)
	found := make([]patternHits, len(patterns))
	for _, d := range list {
		if len(found[0].hits) == q.Limit {
			break
		}
		if !slices.ContainsFunc(found,
			func(p patternHits) bool { return !p.printed[d.Print] && len(p.hits) < q.Limit }) {
			continue
		}
		shown, ok, err := s.documentText(d, q.Reader)
		if err != nil {
			return nil, err
		}
		for i := range found {
			at := patterns[i].FindStringIndex(shown.Text)
			if !ok || at == nil || found[i].printed[d.Print] || len(found[i].hits) == q.Limit {
				continue
			}
			h := Hit{ID: d.ID, Score: 1, Session: d.Session, Shown: shown, Text: shown.Text,
				Rewound: d.Rewound, find: patternFinder{patterns[i]}}
			h.Excerpt = search.Passage(shown.Text, at[0], at[1], excerptLen)
			if h.Branch, err = names.of(d.Session, d.ID, d.Rewound); err != nil {
				return nil, err
			}
			if d.Print != 0 {
				h.Copies = copies[d.Print] - 1
			}
			found[i].add(h, d.Print)
		}
	}
	hits := found[0].hits
	for _, p := range found[1:] {
		for _, h := range p.hits {
			known := slices.ContainsFunc(hits, func(o Hit) bool { return o.ID == h.ID })
			if !known && len(hits) < q.Limit {
				hits = append(hits, h)
			}
		}
	}
	return hits, nil
}

// patternHits are the hits of a pattern.
type patternHits struct {
	hits    []Hit
	printed map[uint64]bool // fingerprints of texts with a hit; never 0, which is no fingerprint
}

func (p *patternHits) add(h Hit, print uint64) {
	p.hits = append(p.hits, h)
	if p.printed == nil {
		p.printed = map[uint64]bool{}
	}
	if print != 0 {
		p.printed[print] = true
	}
}

// documents returns the documents that q selects, by session and in the order of the history.
func (s *Reader) documents(view *refs.View, q SearchQuery) (list []search.Document, err error) {
	if err := q.check(view); err != nil {
		return nil, err
	}
	err = s.withIndex(view, q, func(sources []search.Source) error {
		list, err = search.Each(sources, q.options())
		return err
	})
	return list, err
}

// documentText reads a document. ok is false if it was forgotten after it was indexed, or if the
// reader may not see it.
func (s *Reader) documentText(
	d search.Document, r *clusters.Viewer,
) (shown *history.Shown, ok bool, err error) {
	if shown, err = s.Version(d.ID, d.Version); err != nil {
		return nil, false, err
	}
	return shown, shown.Gone == "" && (r == nil || r.Sees(d.ID, shown.Entry)), nil
}

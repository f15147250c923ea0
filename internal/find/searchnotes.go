package find

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/refs"
)

// supersededLoss is by how much a note counts less than others once a newer one supersedes it.
const supersededLoss = 3

// markSuperseded says of each hit that is a note which newer note supersedes it: that one comes
// before it.
func (s *Reader) markSuperseded(view *refs.View, q SearchQuery, hits []Hit) ([]Hit, error) {
	isNote := func(h Hit) bool { _, ok := sessions.NoteOf(h.Shown); return ok }
	if !slices.ContainsFunc(hits, isNote) {
		return hits, nil
	}
	newer, err := s.newerNotes(view, q)
	if err != nil {
		return nil, err
	}
	for i := range hits {
		id, ok := newer[hits[i].ID.String()]
		if e := hits[i].Shown.Entry; !ok && e != nil && e.Source != nil { // its id in another store
			id, ok = newer[e.Source.Message]
		}
		if ok {
			hits[i].SupersededBy = id
			hits[i].Score /= supersededLoss
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits, nil
}

// newerNotes returns the notes that supersede others, by the ids of those.
func (s *Reader) newerNotes(view *refs.View, q SearchQuery) (map[string]format.ID, error) {
	var all []search.Document
	err := s.withIndex(view, q, func(sources []search.Source) (err error) {
		all, err = search.Each(sources, search.Options{Kept: true})
		return err
	})
	newer := map[string]format.ID{}
	for _, d := range all {
		shown, err := s.Version(d.ID, d.Version)
		if err != nil {
			return nil, err
		}
		if n, ok := sessions.NoteOf(shown); ok && n.Supersedes != "" {
			newer[n.Supersedes] = d.ID
		}
	}
	return newer, err
}

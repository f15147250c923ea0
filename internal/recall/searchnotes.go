package recall

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/message"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// noteOf returns the note that an entry is; ok is false for any other entry.
func noteOf(shown *history.Shown) (n message.Note, ok bool) {
	if shown == nil || shown.Gone != "" || shown.Entry == nil ||
		shown.Entry.Kind != format.KindNote {
		return n, false
	}
	return message.NoteOf(shown.Parts)
}

// supersededLoss is by how much a note counts less than others once a newer one supersedes it.
const supersededLoss = 3

// markSuperseded says of each hit that is a note which newer note supersedes it: that one comes
// before it.
func (s *Reader) markSuperseded(view *refs.View, q SearchQuery, hits []Hit) ([]Hit, error) {
	if !slices.ContainsFunc(hits, func(h Hit) bool { _, ok := noteOf(h.Shown); return ok }) {
		return hits, nil
	}
	newer, err := s.newerNotes(view, q)
	if err != nil {
		return nil, err
	}
	for i := range hits {
		if id, ok := newer[hits[i].ID.String()]; ok {
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
		if n, ok := noteOf(shown); ok && n.Supersedes != "" {
			newer[n.Supersedes] = d.ID
		}
	}
	return newer, err
}

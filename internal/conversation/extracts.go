package conversation

import (
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// extracts are extracts of members that no interim summary covers. They hold for the view that they
// were made on.
type extracts struct {
	view  *refs.View
	list  []extract
	place map[format.ID]int // in list, by the first of the members
}

type extract struct {
	raw       []format.ID
	sentences []summarize.Sentence
	made      bool
}

// newExtracts returns extracts that are not made yet, of members no two of which begin alike.
func newExtracts(view *refs.View, list []extract) *extracts {
	x := &extracts{view: view, list: list, place: make(map[format.ID]int, len(list))}
	for i := range list {
		x.place[list[i].raw[0]] = i
	}
	return x
}

// of returns the extract of some members, if it was made on a view.
func (x *extracts) of(view *refs.View, raw []format.ID) (sentences []summarize.Sentence, ok bool) {
	if !x.holdFor(view) || len(raw) == 0 {
		return nil, false
	}
	i, known := x.place[raw[0]]
	if !known || !x.list[i].made || !slices.Equal(x.list[i].raw, raw) {
		return nil, false
	}
	return x.list[i].sentences, true
}

// holdFor reports whether there are extracts that were made on a view.
func (x *extracts) holdFor(view *refs.View) bool {
	return x != nil && x.view.Number == view.Number && x.view.Digest == view.Digest
}

// extract makes the extracts that the next addSomeInterims needs, without the lock and on all
// processors. What cannot be read is left to addSomeInterims, which reports why.
func (s *Writer) extract() *extracts {
	view, err := s.Refs.Read()
	if err != nil {
		return nil
	}
	st, err := s.TakeForest(view, history.MainForest)
	if err != nil {
		return nil
	}
	list, err := uncoveredMembers(st, clusters.InterimBatch)
	s.GiveForest(view, history.MainForest, st)
	if err != nil || len(list) == 0 {
		return nil
	}
	return s.makeExtracts(view, list)
}

// extractNow makes the extracts that the clusters of a draft need, on all processors.
func (t *Tx) extractNow(st *forest.State) (*extracts, error) {
	list, err := uncoveredMembers(st, len(st.Live()))
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return t.makeExtracts(t.store.View, list), nil
}

// makeExtracts makes extracts on a view.
func (s *Reader) makeExtracts(view *refs.View, list []extract) *extracts {
	x := newExtracts(view, list)
	latest := func(id format.ID) (*history.Shown, error) { return s.LatestParts(view, id) }
	lists.OnAll(len(x.list), func(i int) {
		m := &x.list[i]
		sources, err := summaries.Sources(latest, m.raw)
		if m.made = err == nil; m.made {
			m.sentences = summarize.Extract(sources, summaries.ExtractTokens(sources))
		}
	})
	return x
}

// uncoveredMembers returns the members of which interim summaries make extracts, of the first
// clusters that have to get one.
func uncoveredMembers(st *forest.State, most int) (list []extract, err error) {
	made := 0
	for _, c := range st.Live() {
		if c.Renderable() {
			continue
		}
		if made++; made > most {
			break
		}
		for _, g := range uncoveredRuns(c) {
			members, err := st.Slice(c, g.start, g.end)
			if err != nil {
				return nil, err
			}
			list = append(list, extract{raw: g.raw(members)})
		}
	}
	return list, nil
}

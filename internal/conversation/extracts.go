package conversation

import (
	"runtime"
	"slices"
	"sync"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// extracts are extracts of members that no interim summary covers. They hold for the view that they
// were made on.
type extracts struct {
	view *refs.View
	list []extract
}

type extract struct {
	raw       []format.ID
	sentences []summarize.Sentence
	made      bool
}

// of returns the extract of some members, if it was made on a view.
func (x *extracts) of(view *refs.View, raw []format.ID) (sentences []summarize.Sentence, ok bool) {
	if x == nil || x.view.Number != view.Number || x.view.Digest != view.Digest {
		return nil, false
	}
	for i := range x.list {
		if m := &x.list[i]; m.made && slices.Equal(m.raw, raw) {
			return m.sentences, true
		}
	}
	return nil, false
}

// extract makes the extracts that the next addSomeInterims needs, without the lock and on all
// processors. What cannot be read is left to addSomeInterims, which reports why.
func (s *Writer) extract() *extracts {
	view, err := s.Refs.Read()
	if err != nil {
		return nil
	}
	x := &extracts{view: view}
	if x.list, err = s.uncovered(view); err != nil || len(x.list) == 0 {
		return nil
	}
	latest := func(id format.ID) (*history.Shown, error) { return s.LatestParts(view, id) }
	todo := make(chan *extract, len(x.list))
	for i := range x.list {
		todo <- &x.list[i]
	}
	close(todo)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(x.list)) {
		wait.Go(func() {
			for m := range todo {
				sources, err := summaries.Sources(latest, m.raw)
				if m.made = err == nil; m.made {
					m.sentences = summarize.Extract(sources, summaries.ExtractTokens(sources))
				}
			}
		})
	}
	wait.Wait()
	return x
}

// uncovered returns the members of which addSomeInterims makes extracts on a view.
func (s *Writer) uncovered(view *refs.View) (list []extract, err error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	made := 0
	for _, c := range st.Live() {
		if c.Renderable() {
			continue
		}
		if made++; made > clusters.InterimBatch {
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

package recall

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// sharedForest returns the forest of another store as it can be rendered: without the summaries
// that were forgotten.
func (s *Reader) sharedForest(v *refs.View, label string) (*forest.State, error) {
	st, err := s.SharedForest(v, label)
	if st == nil || err != nil {
		return st, err
	}
	for _, c := range st.Live() {
		var failed error
		c.Covers = slices.DeleteFunc(c.Covers, func(v format.Cover) bool {
			gone, err := s.Objects.Forgotten(v.Summary)
			failed = errors.Join(failed, err)
			return gone
		})
		if failed != nil {
			return nil, failed
		}
	}
	return st, nil
}

// withShared returns the value of a branch of another store with the forest of that store for its
// pin, and that forest. Through is as far as every message is in a summary, and the tail is no
// shorter than that of a session of one's own. Any other value is returned as it is, with a nil
// forest.
func (s *Reader) withShared(
	v *refs.View, session string, value format.Value,
) (format.Value, *forest.State, error) {
	label, shared := history.Owner(v, session)
	if !shared {
		return value, nil, nil
	}
	st, err := s.sharedForest(v, label)
	if st == nil || err != nil {
		return value, nil, err
	}
	told, err := s.summarized(st)
	if err != nil || len(told) == 0 {
		return value, nil, err
	}
	tip, err := s.Header(value.ID)
	if err != nil {
		return value, nil, err
	}
	through := tip.Seq
	var line []history.Entry
	for e, err := range s.Walk(value.ID, history.WithJoined) {
		if err != nil {
			return value, nil, err
		}
		if e.Kind == format.KindMessage && !told[e.ID] {
			through = e.Seq - 1
		}
		line = append(line, e)
	}
	value.Pin = v.Get(history.SharedForestRef(label)).ID
	value.Through = notBetween(line, history.Adopt(through, tip.Seq, s.Params()))
	return value, st, nil
}

// summarized returns the members of a forest that stand in a summary.
func (s *Reader) summarized(st *forest.State) (map[format.ID]bool, error) {
	told := map[format.ID]bool{}
	for _, c := range st.Live() {
		members, err := st.Members(c)
		if err != nil {
			return nil, err
		}
		for _, v := range c.Covers {
			for _, id := range members[v.Offset : v.Offset+v.Count] {
				told[id] = true
			}
		}
	}
	evicted, err := st.Evicted()
	if err != nil {
		return nil, err
	}
	for _, e := range evicted {
		stone, err := s.Loader().Tombstone(e.Tombstone)
		if err == nil {
			err = s.clusters.EachMember(stone.Node,
				func(id format.ID) error { told[id] = true; return nil })
		}
		if err != nil {
			return nil, err
		}
	}
	return told, nil
}

// notBetween returns a place up to border that parts no call from its result, in a line that comes
// newest first.
func notBetween(line []history.Entry, border uint64) uint64 {
	tail := clusters.Rewound{IDs: map[format.ID]bool{}}
	looked := 0
	for _, e := range line {
		if e.Kind == format.KindMessage && e.Seq <= border {
			if looked++; len(tail.Results) == 0 || looked > history.MaxPairDistance {
				break
			}
			if tail.Answers(e.Entry) {
				border, looked = e.Seq-1, 0
			}
		}
		tail.Add(e.ID, e.Entry)
	}
	return border
}

// SharedClusters returns the clusters that another store shares, as Clusters does those of this
// one. It returns ErrNotFound where no store has the label.
func (s *Reader) SharedClusters(view *refs.View, label string) ([]clusters.ClusterInfo, error) {
	if !view.Get(history.LabelRefs + label).Exists() {
		return nil,
			fmt.Errorf("%w: no store has the label %q", history.ErrNotFound, history.Clip(label))
	}
	st, err := s.SharedForest(view, label)
	if st == nil || err != nil {
		return nil, err
	}
	return s.clusters.Infos(st)
}

// ownerOf returns the session as its owner names it, and what follows the names of all sessions of
// that owner here: nothing for a session of this store.
func ownerOf(v *refs.View, session string) (name, suffix string) {
	if label, shared := history.Owner(v, session); shared {
		suffix = history.SharedName("", label)
	}
	return strings.TrimSuffix(session, suffix), suffix
}

package session

import (
	"errors"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

const (
	// shownTombstones is how many tombstones are read for a rendering; the rest are counted.
	shownTombstones = 20

	// readEvicted is how many evicted clusters a rendering under a budget chooses among, the newest.
	readEvicted = 256
)

// RenderInput reads what a branch renders: its pin, and every message after it; and, under a budget, the evicted clusters that it may choose among.
func (s *Store) RenderInput(v *refs.View, session, branch string, o view.Options) (view.Input, error) {
	in := view.Input{Session: session, Branch: branch}
	value, err := Tip(v, session, branch)
	if err != nil {
		return in, err
	}
	in.Pin, in.Through = value.Pin, value.Through
	if in.Tail, err = s.tail(value); err != nil || value.Pin.IsZero() {
		return in, err
	}
	st, err := s.forestAt(value.Pin)
	if err != nil {
		return in, err
	}
	for _, c := range st.Live() {
		cluster, err := s.liveCluster(st, c)
		if err != nil {
			return in, err
		}
		in.Clusters = append(in.Clusters, cluster)
	}
	return in, s.evictedClusters(st, &in, o)
}

// liveCluster reads a live cluster and its summaries.
func (s *Store) liveCluster(st *forest.State, c *forest.Cluster) (view.Cluster, error) {
	node, err := st.Node(c)
	if err != nil {
		return view.Cluster{}, err
	}
	cluster := view.Cluster{ID: node, Members: int(c.Count())}
	first, last, err := s.endsOf(st, c)
	if err != nil {
		return cluster, err
	}
	cluster.First, cluster.Last = first.Time, last.Time
	cluster.Parts, err = s.parts(c.Covers)
	return cluster, err
}

// evictedClusters reads the newest tombstones and, under a budget, the summaries of more clusters than that.
func (s *Store) evictedClusters(st *forest.State, in *view.Input, o view.Options) error {
	most := shownTombstones
	if o.Budget > 0 {
		most = readEvicted
	}
	newest, all, err := st.NewestEvicted(most)
	if err != nil {
		return err
	}
	in.OlderTombstones = int(all) - min(len(newest), shownTombstones)
	for i, e := range newest {
		stone, line, err := s.stone(e.Tombstone)
		if err != nil {
			return err
		}
		if i < shownTombstones {
			in.Tombstones = append(in.Tombstones, view.Tombstone{ID: stone.Node, Line: line, Members: int(stone.Count)})
		}
		if o.Budget == 0 {
			continue
		}
		parts, err := s.parts([]format.Cover{{Summary: stone.Summary, Count: stone.Count}})
		var gone *objects.GoneError
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		in.Evicted = append(in.Evicted, view.Cluster{ID: stone.Node, Members: int(stone.Count), Parts: parts})
	}
	return nil
}

// parts reads the summaries of a cluster.
func (s *Store) parts(covers []format.Cover) ([]view.Part, error) {
	var list []view.Part
	for _, c := range covers {
		header, text, err := s.text(c.Summary)
		if err != nil {
			return nil, err
		}
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return nil, err
		}
		part := view.Part{Summary: c.Summary, Interim: c.Interim}
		if sum.Body.Media == format.MediaExtract {
			if part.Sentences, err = summarize.Decode(text); err != nil {
				return nil, err
			}
		} else {
			part.Text = string(text)
		}
		list = append(list, part)
	}
	return list, nil
}

// tail reads the messages after a branch's through, oldest first. A message before it that was amended since counts with the prefix.
func (s *Store) tail(v format.Value) ([]view.Message, error) {
	var after format.ID
	err := s.back(v.ID, func(id format.ID, e *format.Entry) bool {
		if e.Seq <= v.Through && e.Kind == format.KindMessage {
			after = id
			return false
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	list, err := s.Log(v.ID, LogOptions{After: after})
	if err != nil {
		return nil, err
	}
	var tail []view.Message
	for _, shown := range list {
		if shown.Entry.Kind == format.KindMessage {
			tail = append(tail, MessageOf(shown))
		}
	}
	return tail, nil
}

// MessageOf is an entry as a rendering takes it.
func MessageOf(s *Shown) view.Message {
	return view.Message{
		ID: s.ID, Seq: s.Entry.Seq, Role: s.Entry.Role, Author: s.Entry.Author, Time: s.Entry.Time,
		Text: s.Text, Parts: s.Parts, Calls: s.Entry.Calls, Results: s.Entry.Results, Gone: s.Gone != "",
	}
}

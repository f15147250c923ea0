package session

import (
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session/view"
)

// shownTombstones is how many tombstones are read for a rendering; the rest are counted.
const shownTombstones = 20

// RenderInput reads what a branch renders: its pin, and every message after it.
func (s *Store) RenderInput(v *refs.View, session, branch string) (view.Input, error) {
	value, err := Tip(v, session, branch)
	if err != nil {
		return view.Input{Session: session, Branch: branch}, err
	}
	return s.renderInputOf(value, session, branch)
}

// renderInputOf is RenderInput for a branch that stands at value.
func (s *Store) renderInputOf(value format.Value, session, branch string) (in view.Input, err error) {
	in = view.Input{Session: session, Branch: branch, Pin: value.Pin, Through: value.Through}
	if in.Tail, err = s.tail(value); err != nil || value.Pin.IsZero() {
		return in, err
	}
	st, err := s.forestAt(value.Pin)
	if err != nil {
		return in, err
	}
	for _, c := range st.Live() {
		node, err := st.Node(c)
		if err != nil {
			return in, err
		}
		cluster := view.Cluster{ID: node, Members: int(c.Count())}
		first, last, err := s.endsOf(st, c)
		if err != nil {
			return in, err
		}
		cluster.First, cluster.Last = first.Time, last.Time
		if cluster.Parts, err = s.parts(c.Covers); err != nil {
			return in, err
		}
		in.Clusters = append(in.Clusters, cluster)
	}
	newest, all, err := st.NewestEvicted(shownTombstones)
	if err != nil {
		return in, err
	}
	in.OlderTombstones = int(all) - len(newest)
	for _, e := range newest {
		stone, line, err := s.stone(e.Tombstone)
		if err != nil {
			return in, err
		}
		in.Tombstones = append(in.Tombstones, view.Tombstone{ID: stone.Node, Line: line, Members: int(stone.Count)})
	}
	return in, nil
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

package session

import (
	"errors"
	"fmt"
	"slices"

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
	value, err := Tip(v, session, branch)
	if err != nil {
		return view.Input{Session: session, Branch: branch}, err
	}
	return s.renderInputOf(v, value, session, branch, o)
}

// renderInputOf is RenderInput for a branch that stands at value, with the epoch that v has of it.
func (s *Store) renderInputOf(v *refs.View, value format.Value, session, branch string, o view.Options) (in view.Input, err error) {
	in = view.Input{Session: session, Branch: branch, Pin: value.Pin, Through: value.Through, EpochID: v.Get(EpochRef(session, branch)).ID}
	if in.Epoch, err = s.epochBlock(in.EpochID); err != nil {
		return in, err
	}
	if in.Tail, err = s.tail(value); err != nil || value.Pin.IsZero() {
		return in, err
	}
	st, err := s.forestAt(value.Pin)
	if err != nil {
		return in, err
	}
	r := &listReader{Store: s}
	for _, c := range st.Live() {
		cluster, err := r.live(st, c)
		if err != nil {
			return in, err
		}
		in.Clusters = append(in.Clusters, cluster)
	}
	if err := r.evicted(st, &in, o.Budget > 0); err != nil {
		return in, err
	}
	return in, r.read(o.Reads())
}

// listReader reads clusters for a rendering. Ranked lists are decoded when all of them are at hand, of each as much as a rendering can use.
type listReader struct {
	*Store
	lists []list
}

// list is a ranked list that was not decoded yet.
type list struct {
	part *view.Part
	body []byte
}

// live reads a live cluster.
func (r *listReader) live(st *forest.State, c *forest.Cluster) (view.Cluster, error) {
	node, err := st.Node(c)
	if err != nil {
		return view.Cluster{}, err
	}
	cluster := view.Cluster{ID: node, Members: int(c.Count())}
	first, last, err := r.endsOf(st, c)
	if err != nil {
		return cluster, err
	}
	cluster.First, cluster.Last = first.Time, last.Time
	cluster.Parts, err = r.partsOf(c.Covers, true)
	return cluster, err
}

// goneSummary stands for a summary that was forgotten, up to the next leave.
const goneSummary = "[forgotten]"

// evicted reads the newest tombstones and, with summaries, what more clusters than those say.
func (r *listReader) evicted(st *forest.State, in *view.Input, summaries bool) error {
	most := shownTombstones
	if summaries {
		most = readEvicted
	}
	newest, all, err := st.NewestEvicted(most)
	if err != nil {
		return err
	}
	in.OlderTombstones = int(all) - min(len(newest), shownTombstones)
	for i, e := range newest {
		stone, line, err := r.stone(e.Tombstone)
		if err != nil {
			return err
		}
		if i < shownTombstones {
			in.Tombstones = append(in.Tombstones, view.Tombstone{ID: stone.Node, Line: line, Members: int(stone.Count)})
		}
		if !summaries {
			continue
		}
		parts, err := r.parts([]format.Cover{{Summary: stone.Summary, Count: stone.Count}})
		var gone *objects.GoneError
		if err != nil && !errors.As(err, &gone) {
			return err
		}
		in.Evicted = append(in.Evicted, view.Cluster{ID: stone.Node, Members: int(stone.Count), Parts: parts})
	}
	return nil
}

// parts reads the summaries of a cluster, ranked lists not decoded.
func (r *listReader) parts(covers []format.Cover) ([]view.Part, error) {
	return r.partsOf(covers, false)
}

// partsOf is parts; with gone a summary that was forgotten says that, and is no error.
func (r *listReader) partsOf(covers []format.Cover, gone bool) ([]view.Part, error) {
	parts := make([]view.Part, len(covers))
	for i, c := range covers {
		header, text, err := r.text(c.Summary)
		if gone && err != nil && butGone(err) == nil {
			parts[i] = view.Part{Summary: c.Summary, Interim: c.Interim, Text: goneSummary}
			continue
		}
		if err != nil {
			return nil, err
		}
		sum, err := format.DecodeSummary(header)
		if err != nil {
			return nil, err
		}
		parts[i] = view.Part{Summary: c.Summary, Interim: c.Interim}
		if sum.Body.Media == format.MediaExtract {
			r.lists = append(r.lists, list{&parts[i], text})
		} else {
			parts[i].Text = string(text)
		}
	}
	return parts, nil
}

// leastRead is how much is decoded of every list, in bytes of text.
const leastRead = 2048

// read decodes the lists: all together about most bytes of text, of each its beginning in proportion to its size, and the numbers of what is
// left.
func (r *listReader) read(most int) error {
	total := 0
	for _, l := range r.lists {
		total += len(l.body)
	}
	for _, l := range r.lists {
		share := leastRead + int(int64(most)*int64(len(l.body))/int64(total))
		var err error
		if l.part.Sentences, l.part.Unread, err = summarize.DecodeSome(l.body, share); err != nil {
			return fmt.Errorf("summary %v: %w", l.part.Summary, err)
		}
	}
	return nil
}

// parts reads the summaries of a cluster.
func (s *Store) parts(covers []format.Cover) ([]view.Part, error) {
	r := &listReader{Store: s}
	parts, err := r.parts(covers)
	if err != nil {
		return nil, err
	}
	return parts, r.read(format.MaxBody)
}

// tail reads the messages after a branch's through, oldest first, as they are shown. A message before it that was amended since counts with the prefix.
func (s *Store) tail(v format.Value) ([]view.Message, error) {
	type said struct {
		id, version format.ID
		seq         uint64
	}
	var list []said
	var controls []entryAt
	version := map[format.ID]format.ID{}
	err := s.backSides(v.ID, func(id format.ID, e *format.Entry, side bool) bool {
		switch e.Kind {
		case format.KindMessage:
			if e.Seq <= v.Through {
				return false
			}
			list = append(list, said{id, version[id], e.Seq})
		case format.KindAmend:
			if _, newer := version[e.Amends]; !newer {
				version[e.Amends] = id
			}
			controls = append(controls, entryAt{id, e}) // what was made of older words shows no more
		case format.KindMask, format.KindReplace, format.KindEpoch:
			if !side {
				controls = append(controls, entryAt{id, e})
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	tail := make([]view.Message, 0, len(list))
	for _, m := range slices.Backward(list) {
		shown, err := s.Version(m.id, m.version)
		if err != nil {
			return nil, err
		}
		shown.Entry.Seq = m.seq
		tail = append(tail, MessageOf(shown))
	}
	slices.Reverse(controls)
	return s.overlay(tail, controls)
}

// MessageOf is an entry as a rendering takes it.
func MessageOf(s *Shown) view.Message {
	return view.Message{
		ID: s.ID, Seq: s.Entry.Seq, Role: s.Entry.Role, Author: s.Entry.Author, Time: s.Entry.Time,
		Text: s.Text, Parts: s.Parts, Calls: s.Entry.Calls, Results: s.Entry.Results, Gone: s.Gone != "",
	}
}

package find

import (
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// updateSearch brings x up to date with view. It passes over sessions of which it would have to
// read more than most messages, together with those before.
func (s *Reader) updateSearch(x *searchIndex, view *refs.View, most uint64) error {
	now := branchTipsIn(view, "sessions/")
	var changed []string
	for session, branches := range now {
		if !maps.Equal(branches, x.tips[session]) {
			changed = append(changed, session)
		}
	}
	for session := range x.tips {
		if now[session] == nil {
			changed = append(changed, session)
		}
	}
	if slices.Sort(changed); most == math.MaxUint64 {
		changed = s.ByPlace(changed,
			func(session string) format.ID { return now[session][history.MainBranch] })
	}
	r := newSearchUpdate(s, x)
	for _, session := range changed {
		was, is := x.tips[session], now[session]
		if most < math.MaxUint64 {
			n, err := s.behind(was, is)
			if err != nil && !s.PassOver(session, err) {
				return err
			}
			if err != nil || n > most {
				continue
			}
			most -= n
		}
		c, err := s.searchChange(view, session, was, is)
		if err != nil && s.PassOver(session, err) {
			continue
		}
		if err == nil {
			err = r.apply(session, c)
		}
		if err != nil {
			return err
		}
		x.tips.put(session, is)
	}
	return r.flush()
}

// behind returns about how many messages of a session the index lacks, given its branches as they
// were and are.
func (s *Reader) behind(old, now map[string]format.ID) (uint64, error) {
	n := uint64(0)
	for branch, tip := range now {
		e, err := s.Header(tip)
		if err != nil {
			return 0, err
		}
		from := uint64(0)
		if was := old[branch]; !was.IsZero() {
			e, err := s.Header(was)
			if errors.Is(err, objects.ErrNotFound) {
				e, err = &format.Entry{}, nil
			}
			if err != nil {
				return 0, err
			}
			from = e.Seq
		}
		n += max(e.Seq, from) - min(e.Seq, from)
	}
	return n, nil
}

// searchChange is the change of the documents of a session.
type searchChange struct {
	present  []searchDoc
	removed  []searchDoc
	complete bool // present has all documents; all others are removed
}

// searchChange compares the branches of a session as they were and are.
func (s *Reader) searchChange(
	view *refs.View, session string, old, now map[string]format.ID,
) (c searchChange, err error) {
	was, is := slices.Sorted(maps.Keys(old)), slices.Sorted(maps.Keys(now))
	if len(is) == 0 {
		return searchChange{complete: true}, nil
	}
	moved := slices.DeleteFunc(slices.Clone(is), func(b string) bool { return old[b] == now[b] })
	if slices.Equal(was, is) && len(moved) == 1 {
		c, ok, err := s.movedBranch(view, old[moved[0]], now[moved[0]], len(is) > 1)
		// The old tip may have been removed from the store.
		if ok || err != nil && !errors.Is(err, objects.ErrNotFound) {
			return c, err
		}
	}
	list, err := s.sessionDocs(view, session)
	return searchChange{present: list, complete: true}, err
}

// movedBranch is searchChange for a session of which one branch has moved. ok is false if other
// branches may have what the branch has left.
func (s *Reader) movedBranch(
	view *refs.View, from, to format.ID, others bool,
) (c searchChange, ok bool, err error) {
	base, err := s.MergeBase(from, to)
	if err != nil || others && base != from {
		return c, false, err
	}
	past, err := s.collectRange(historyRange{from, base})
	if err != nil || past.joins {
		return c, false, err
	}
	next, err := s.collectRange(historyRange{to, base})
	if err != nil || next.joins {
		return c, false, err
	}
	known := lists.Set(lists.Map(next.list, func(f searchDoc) format.ID { return f.id }))
	for _, f := range past.list {
		if !known[f.id] {
			known[f.id] = true
			c.removed = append(c.removed, f)
		}
	}
	// Messages before the base that have another latest version now.
	for _, id := range append(past.amended, next.amended...) {
		if known[id] {
			continue
		}
		known[id] = true
		e, err := s.Header(id)
		if err != nil {
			return c, false, err
		}
		c.present = append(c.present, searchDoc{id: id, seq: e.Seq})
	}
	if err := s.setLatest(view, c.present); err != nil {
		return c, false, err
	}
	if err := s.setLatest(view, next.list[:next.standing]); err != nil {
		return c, false, err
	}
	c.present = append(next.list, c.present...)
	return c, true, nil
}

// collectRange collects a range and what was rewound from it.
func (s *Reader) collectRange(c historyRange) (*docCollector, error) {
	w := &docCollector{s: s}
	left, err := w.along(c, false)
	w.standing = len(w.list)
	if err == nil && !w.joins {
		err = w.rewound(left)
	}
	return w, err
}

// searchUpdate applies changes to an index.
type searchUpdate struct {
	s *Reader
	x *searchIndex
	b search.Builder
	// The rewound versions in b, by session: a fork may have left what its origin still says.
	rewound map[string]map[format.ID]bool
}

func newSearchUpdate(s *Reader, x *searchIndex) *searchUpdate {
	return &searchUpdate{s: s, x: x, rewound: map[string]map[format.ID]bool{}}
}

// leave says of a version that is added to b that the session has rewound it.
func (r *searchUpdate) leave(session string, version format.ID) {
	if r.rewound[session] == nil {
		r.rewound[session] = map[format.ID]bool{}
	}
	r.rewound[session][version] = true
}

func (r *searchUpdate) apply(session string, c searchChange) error {
	if c.complete {
		if err := r.hideOthers(session, c.present); err != nil {
			return err
		}
	}
	for _, f := range c.removed {
		if _, err := r.mark(session, f, true); err != nil {
			return err
		}
	}
	for _, f := range slices.Backward(c.present) { // oldest first, as they lie on the disk
		has, err := r.mark(session, f, false)
		if err != nil {
			return err
		}
		if !has {
			if err := r.add(session, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideOthers hides the documents of a session that are not in list.
func (r *searchUpdate) hideOthers(session string, list []searchDoc) error {
	var keep map[format.ID]bool
	for _, seg := range r.x.segments {
		first, end := seg.Range(session)
		if first < end && keep == nil {
			keep = make(map[format.ID]bool, len(list))
			for _, f := range list {
				keep[f.id] = true
			}
		}
		for doc := first; doc < end; doc++ {
			id, _, err := seg.Entry(doc)
			if err != nil {
				return err
			}
			if !keep[id] {
				r.hide(seg, doc, false)
			}
		}
	}
	return nil
}

// mark sets the state of the documents of an entry to that of f, or hides them if gone is true. has
// is true if the index has the text of f.
func (r *searchUpdate) mark(session string, f searchDoc, gone bool) (has bool, err error) {
	for _, seg := range r.x.segments {
		docs, err := seg.Find(session, f.seq, f.id)
		if err != nil {
			return false, err
		}
		for _, doc := range docs {
			_, version, err := seg.Entry(doc)
			switch {
			case err != nil:
				return false, err
			case gone || version != f.version() || has:
				r.hide(seg, doc, false)
			case f.rewound:
				has = true
				r.hide(seg, doc, true)
			default:
				has = true
				if _, hidden := seg.Hidden[doc]; hidden {
					delete(seg.Hidden, doc)
					r.x.changed++
				}
			}
		}
	}
	return has, nil
}

func (r *searchUpdate) hide(seg *searchSegment, doc uint32, rewound bool) {
	if was, hidden := seg.Hidden[doc]; !hidden || was != rewound {
		seg.Hidden[doc] = rewound
		r.x.changed++
	}
}

func (r *searchUpdate) add(session string, f searchDoc) error {
	doc, ok, err := r.s.indexDoc(session, f)
	if err != nil || !ok {
		return err
	}
	if f.rewound {
		r.leave(session, f.version())
	}
	return r.put(doc)
}

// put adds a document.
func (r *searchUpdate) put(doc search.Doc) error {
	r.b.Add(doc)
	r.x.changed++
	if r.b.Full() {
		return r.flush()
	}
	return nil
}

// flush makes a segment of the added documents. A large one goes to the cache, so that memory does
// not hold the whole index.
func (r *searchUpdate) flush() error {
	if r.b.Docs() == 0 {
		return nil
	}
	var seg *searchSegment
	if r.b.Full() && !r.x.noWrite {
		var err error
		if seg, err = r.s.newSegment(map[uint32]bool{},
			func(w io.Writer) error { return r.b.Write(w) }); err != nil {
			r.x.noWrite = true
		} else {
			r.b.Reset()
		}
	}
	if seg == nil {
		segment, b, err := r.b.Segment()
		if err != nil {
			return err
		}
		seg = &searchSegment{bytes: b,
			Source: search.Source{Segment: segment, Hidden: map[uint32]bool{}}}
	}
	for session, versions := range r.rewound {
		first, end := seg.Range(session)
		for doc := first; doc < end; doc++ {
			_, version, err := seg.Entry(doc)
			if err != nil {
				return err
			}
			if versions[version] {
				seg.Hidden[doc] = true
			}
		}
	}
	clear(r.rewound)
	r.x.segments = append(r.x.segments, seg)
	return nil
}

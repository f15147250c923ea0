package sharing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/share"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/objects"
)

// walk finds the objects that tips lead to and other tips do not. It reads entries from the newest
// to the oldest, by their numbers along the branch, and stops where only what is known is left, so
// its time depends on what is new. Where a link leads to a greater number it may find too much, and
// never too little.
type walk struct {
	x     *Sharer
	ctx   context.Context
	marks map[format.ID]mark
	queue lists.Heap[queued]
	fresh int // entries in the queue that are not known

	met  map[format.ID]bool // known entries that a wanted one leads to
	seen map[format.ID]bool // objects of other kinds that were found or are known
}

type mark uint8

const (
	wanted mark = 1 << iota
	known
	read // its links were followed as wanted
)

// missing returns the entries and other objects that tips lead to and have does not, what is named
// before what names it.
func (x *Sharer) missing(ctx context.Context, tips, have []format.ID) ([]format.ID, error) {
	return x.newWalk(ctx).find(tips, have)
}

// branchTips are ends of branches, by their sessions.
type branchTips map[string][]format.ID

// add adds the end of a branch.
func (t branchTips) add(b share.Branch, tip format.ID) { t[b.Session] = append(t[b.Session], tip) }

// missingBySession returns what missing does, and reads one session after another: the entries of a
// session are beside each other in packs, those of one time are not. What a session has of another
// one it may find again.
func (x *Sharer) missingBySession(ctx context.Context, tips, have branchTips) ([]format.ID, error) {
	w := x.newWalk(ctx)
	var out []format.ID
	for _, list := range tips {
		slices.SortFunc(list, format.ID.Compare)
	}
	first := func(session string) format.ID { return tips[session][0] }
	for _, session := range x.s.History.ByPlace(slices.Sorted(maps.Keys(tips)), first) {
		list, err := w.find(tips[session], have[session])
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func (x *Sharer) newWalk(ctx context.Context) *walk {
	return &walk{x: x, ctx: ctx, marks: map[format.ID]mark{}, met: map[format.ID]bool{},
		seen: map[format.ID]bool{}}
}

// find returns what tips lead to, and neither have nor what the walk has found before, what is
// named before what names it.
func (w *walk) find(tips, have []format.ID) ([]format.ID, error) {
	w.queue, w.fresh = lists.Heap[queued]{Before: queued.before}, 0
	for _, list := range []struct {
		ids []format.ID
		m   mark
	}{{have, known}, {tips, wanted}} {
		for _, id := range list.ids {
			if err := w.add(id, list.m); err != nil {
				return nil, err
			}
		}
	}
	found, err := w.run()
	if err != nil {
		return nil, err
	}
	out, err := w.withOthers(found)
	for _, at := range found {
		w.marks[at.id] |= known
	}
	return out, err
}

// add marks an entry, and puts it into the queue unless it had the mark.
func (w *walk) add(id format.ID, m mark) error {
	old := w.marks[id]
	if m == wanted && old&known != 0 {
		w.met[id] = true
		return nil
	}
	if old&m != 0 {
		return nil
	}
	e, err := w.x.entry(id)
	if err != nil {
		if m == known && errors.Is(err, objects.ErrNotFound) {
			return nil // a tip of earlier, which gc has removed
		}
		return fmt.Errorf("entry %v: %w", id, err)
	}
	w.marks[id] = old | m
	if m == wanted {
		w.fresh++
	} else if old&wanted != 0 && old&read == 0 {
		w.fresh-- // it is in the queue, and turned out to be known
	}
	w.queue.Add(queued{id, e, m})
	return nil
}

// run returns the wanted entries that are not known, newest first.
func (w *walk) run() ([]queued, error) {
	var found []queued
	for w.fresh > 0 && len(w.queue.List) > 0 {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		at := w.queue.Take()
		m := wanted
		switch now := w.marks[at.id]; {
		case now&known != 0:
			m = known
			if at.m == wanted {
				continue // the copy in the queue that is known goes on
			}
		default:
			w.marks[at.id] = now | read
			w.fresh--
			found = append(found, at)
		}
		for _, l := range at.e.Links() {
			if l.Want != format.EntryKind {
				continue
			}
			if err := w.add(l.ID, m); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// withOthers returns entries, oldest first, each behind the epochs and blobs that it names.
func (w *walk) withOthers(found []queued) ([]format.ID, error) {
	var out []format.ID
	for i := len(found) - 1; i >= 0; i-- {
		at := found[i]
		if w.marks[at.id]&known != 0 {
			continue // a link to a greater number told late
		}
		for _, l := range at.e.Links() {
			if l.Want == format.EntryKind {
				continue
			}
			below, err := w.below(l)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		}
		out = append(out, at.id)
	}
	return out, nil
}

// below returns an object that is no entry and what it names, each once in a walk. Each is of the
// kind that the link asks for, so the walk is no deeper than kinds name one another.
func (w *walk) below(link format.Link) ([]format.ID, error) {
	id := link.ID
	if w.seen[id] {
		return nil, nil
	}
	w.seen[id] = true
	kind, o, err := w.x.decode(id)
	if err != nil {
		return nil, err
	}
	if kind != link.Want || kind == format.EntryKind {
		return nil, fmt.Errorf("object %v is a %v in the place of a %v", id, kind, link.Want)
	}
	var out []format.ID
	for _, l := range o.Links() {
		list, err := w.below(l)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return append(out, id), nil
}

// queued is an entry in the queue.
type queued struct {
	id format.ID
	e  *format.Entry
	m  mark
}

// before has the greatest number come first, and of one number what is known.
func (q queued) before(other queued) bool {
	return q.e.Seq > other.e.Seq || q.e.Seq == other.e.Seq && q.m > other.m
}

package importer

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

// This file moves the end of a branch to another line of a tree: it rewinds the branch, and takes
// the forest with it.

// moveToPlace moves the branch to the place of the next message. A nil step moves it to the end of
// the line.
func (w *treeWriter) moveToPlace(next *treeStep) error {
	im := w.im
	if im.tree == nil || len(im.placed) == 0 || !w.Tip.Value.Exists() {
		return nil
	}
	target, err := im.target()
	if err != nil {
		return err
	}
	near, after, err := im.nearest(w.Tip.Value.ID, target, w.fresh)
	if err != nil {
		return err
	}
	switch {
	case near.IsZero() && !target.IsZero(), im.loose && im.onPath[near]:
		return nil
	case near == target:
		if next == nil || next.step.Loose || !im.anyAtOrAfter(next, after) {
			return nil
		}
		if im.repeatable(next, after) {
			return w.move(target, nil)
		}
	}
	src, err := im.rewindSource(w.Tx, next)
	if err != nil {
		return err
	}
	target, left, err := w.beforeLeft(target, next)
	if err != nil {
		return err
	}
	if err := w.move(target, src); err != nil {
		return err
	}
	return w.amendAgain(left)
}

// amendAgain repeats the newest versions of messages on the line whose amend entries have left the
// branch.
func (w *treeWriter) amendAgain(left []history.Entry) error {
	h := w.Tip
	copies, err := w.conversation.RepeatAmends(left, h.Value.ID, h.Seq, w.im.agent,
		func(id format.ID) bool { return w.im.onPath[id] })
	for _, at := range copies {
		h.Value.ID, w.fresh[at.ID] = at.ID, at.Entry
		w.Wrote(at.ID, at.Entry)
		w.Amended = append(w.Amended, at.Amends)
	}
	return err
}

// beforeLeft returns the entry to which the branch goes back when the transcript's messages after
// target leave: the one before the first of them; and the entries after it, newest first. Entries
// of others between target and that message stay, as with Rewind: joins, masks, replacements,
// forks, updates and messages. It returns target itself if the branch does not contain target.
func (w *treeWriter) beforeLeft(
	target format.ID, next *treeStep,
) (to format.ID, left []history.Entry, err error) {
	to = target
	var passed []history.Entry
	for at := w.Tip.Value.ID; at != target; {
		e, err := w.at(at)
		if err != nil || e == nil {
			return target, passed, err
		}
		passed = append(passed, history.Entry{ID: at, Entry: e})
		if w.im.placed[at] && !w.im.onPath[at] || next != nil && w.im.isAtOrAfter(&next.step, e) {
			to, left = history.FirstParent(e), passed
		}
		at = history.FirstParent(e)
	}
	return to, left, nil
}

// move sets the end of the branch to an entry. rewind, if not nil, is the source of the entry that
// records the move and keeps the abandoned entries.
func (w *treeWriter) move(target format.ID, rewind *format.Source) error {
	from := w.Tip.Value.ID
	if err := w.noteMove(from, target); err != nil {
		return err
	}
	to, err := w.at(target)
	if err != nil {
		return err
	}
	h := w.Tip
	h.Value.ID, h.Seq, h.Invocation = target, 0, ""
	if to != nil {
		h.Seq, h.Time = to.Seq, to.Time
	} else {
		h.Value.Kind = format.NoValue
	}
	h.Items, w.moved = nil, true
	if rewind == nil {
		return nil
	}
	return w.rewound(from, rewind)
}

// rewound puts a rewind on the branch, which keeps the entries up to left.
func (w *treeWriter) rewound(left format.ID, src *format.Source) error {
	h := w.Tip
	e := &format.Entry{
		Session: h.Session, Kind: format.KindRewind, Left: left, Time: w.Now().UTC().Truncate(1e6),
		Seq: h.Seq, Source: src,
	}
	if !h.Value.ID.IsZero() {
		e.Parents = []format.ID{h.Value.ID}
	}
	header, err := e.Encode()
	if err != nil {
		return err
	}
	id := w.store.Add(format.Raw{Header: header})
	h.Value.Kind, h.Value.ID = format.SessionValue, id
	w.fresh[id] = e
	w.Wrote(id, e)
	w.count.Rewinds++
	return nil
}

// at reads an entry, stored or not; nil for the zero ID.
func (w *treeWriter) at(id format.ID) (*format.Entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	if e := w.fresh[id]; e != nil {
		return e, nil
	}
	return w.Header(id)
}

// noteMove records the entries that the branch loses and gains when it moves from one entry to
// another.
func (w *treeWriter) noteMove(from, to format.ID) error {
	lines := [2]format.ID{from, to}
	var seen [2]map[format.ID]bool
	seq := [2]uint64{^uint64(0), ^uint64(0)}
	seen[0], seen[1] = map[format.ID]bool{}, map[format.ID]bool{}
	base := format.ID{}
	for !lines[0].IsZero() || !lines[1].IsZero() {
		i := 0
		if lines[0].IsZero() || !lines[1].IsZero() && seq[1] > seq[0] {
			i = 1
		}
		id := lines[i]
		if seen[1-i][id] {
			base = id
			break
		}
		e, err := w.at(id)
		if err != nil {
			return err
		}
		seen[i][id], seq[i], lines[i] = true, e.Seq, history.FirstParent(e)
	}
	for i, at := range [2]format.ID{from, to} {
		for !at.IsZero() && at != base {
			e, err := w.at(at)
			if err != nil {
				return err
			}
			w.off[at] = i == 0
			at = history.FirstParent(e)
		}
	}
	return nil
}

// moveForest moves the forest and the branch's frontier, pin and epoch to another line.
func (w *treeWriter) moveForest(op *format.Operation) error {
	if err := w.store.Flush(); err != nil {
		return err
	}
	diff := conversation.NewDifference()
	if err := w.conversation.Compare(diff, w.old.ID, w.Tip.Value.ID); err != nil {
		return err
	}
	for id := range diff.Coming {
		if w.fresh[id] != nil {
			continue
		}
		if e, err := w.Header(id); err != nil {
			return err
		} else if e.Kind == format.KindMessage {
			w.returned++
		}
	}
	if _, err := w.conversation.Retract(diff.Leaving, op.Session, op.Refs...); err != nil {
		return err
	}
	w.amended = w.amended || len(diff.Amended) > 0
	diff.Amended = append(diff.Amended, w.Amended...)
	if err := w.store.SetLatestAt(w.Tip.Value.ID, diff.Amended); err != nil {
		return err
	}
	if err := w.conversation.Refresh(diff.Amended); err != nil {
		return err
	}
	return w.conversation.FitBranches(op, diff.Epochs)
}

package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// treeWriter writes the steps of a transcript under the lock, as one operation.
type treeWriter struct {
	*writer
	im    *treeImporter
	old   format.Value // of the branch
	fresh map[format.ID]*format.Entry
	off   map[format.ID]bool // entries that have left the history of the branch since, or come to it
	moved bool               // the branch has been elsewhere than at its end
	count Tally
	// returned are messages of lines that the branch had left, which are in the conversation again.
	returned int
}

// open begins an operation.
func (im *treeImporter) open(t *tx) (*treeWriter, error) {
	if err := format.CheckName(im.out.Session); err != nil {
		return nil, fmt.Errorf("%w: session %q: %w", ErrInput, clip(im.out.Session), err)
	}
	im.view = t.view
	old := t.view.Get(RefName(im.out.Session, MainBranch))
	if im.movedTo(old.ID) {
		for i := range im.queue {
			next := &im.queue[i]
			if next.step.Kind != transcript.KindMessage {
				continue
			}
			var err error
			if next.known, err = im.entriesOf(next.out.Source, next.step.Message.Origin); err != nil {
				return nil, err
			}
		}
	}
	h, err := t.head(im.out.Session, MainBranch, old)
	if err != nil {
		return nil, err
	}
	w := &writer{tx: t, h: h, orphan: true, line: t.lineage(old.ID), past: t.history(old.ID), batch: map[[16]byte][]imported{}}
	return &treeWriter{writer: w, im: im, old: old, fresh: map[format.ID]*format.Entry{}, off: map[format.ID]bool{}}, nil
}

// step takes a step that waited.
func (w *treeWriter) step(next *treeStep) error {
	im := w.im
	if next.step.Kind == transcript.KindRewind {
		im.leave(next.step.RewindTo)
		return nil
	}
	id, err := im.there(next, w.where())
	if err != nil {
		return err
	}
	if !id.IsZero() {
		w.count.Known++
		im.put(next.step.Message.Origin, id)
		return nil
	}
	if id, err = im.entryFor(next, w.where()); err != nil {
		return err
	}
	if !id.IsZero() {
		done, err := w.amend(next, id)
		if err != nil || done {
			return err
		}
	}
	if err := w.seat(next); err != nil {
		return err
	}
	e, err := w.entryWith(next)
	if err != nil {
		return err
	}
	first := len(im.placed) == 0
	if first {
		im.base = w.h.value.ID
	}
	a, err := w.append(&next.out, e)
	if err != nil {
		return err
	}
	if next.out.Note {
		w.count.Notes++
	} else {
		w.count.Messages++
	}
	im.put(next.step.Message.Origin, a.ID)
	return nil
}

func (w *treeWriter) where() where {
	return where{tip: w.h.value.ID, fresh: w.fresh, onLine: w.onLine}
}

// onLine reports whether an entry is in the history of the branch as it is now.
func (w *treeWriter) onLine(id format.ID) (bool, error) {
	if off, known := w.off[id]; known {
		return !off, nil
	}
	if w.fresh[id] != nil {
		return true, nil
	}
	return w.past.has(id)
}

// entryWith is the entry of a message, with its source.
func (w *treeWriter) entryWith(next *treeStep) (*format.Entry, error) {
	e := w.entryOf(&next.out)
	digest, err := w.Digest16(next.out.record())
	src := next.out.Source
	e.Source = &format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message, Digest: digest}
	return e, err
}

// amend writes a message as a newer version of the entry that it has. done is false where it has to be said anew.
func (w *treeWriter) amend(next *treeStep, id format.ID) (done bool, err error) {
	e, err := w.entryWith(next)
	if err != nil {
		return false, err
	}
	known, err := w.known(e)
	if err != nil {
		return false, err
	}
	on, err := w.onLine(id)
	if err != nil {
		return false, err
	}
	for _, k := range known {
		if k.digest == e.Source.Digest && k.message() == id {
			on = false // that version is there
		}
	}
	if !on || e.Kind != format.KindMessage {
		w.count.Known++
		w.im.put(next.step.Message.Origin, id)
		return true, nil
	}
	e.Kind, e.Amends = format.KindAmend, id
	e.Seq--
	if _, err := w.append(&next.out, e); err != nil {
		return false, err
	}
	w.count.Amended++
	w.im.put(next.step.Message.Origin, id)
	return true, nil
}

func (w *treeWriter) append(m *Message, e *format.Entry) (Appended, error) {
	a, err := w.put(m, e)
	if err == nil {
		w.fresh[a.ID] = e
	}
	return a, err
}

// seat brings the branch to where the next message goes. nil is for none.
func (w *treeWriter) seat(next *treeStep) error {
	im := w.im
	if len(im.placed) == 0 || !w.h.value.Exists() {
		return nil
	}
	target, err := im.target()
	if err != nil {
		return err
	}
	near, after, err := im.nearest(w.h.value.ID, target, w.fresh)
	if err != nil {
		return err
	}
	switch {
	case near.IsZero() && !target.IsZero(), im.loose && im.onPath[near]:
		return nil
	case near == target:
		if next == nil || next.step.Loose || !im.anyComes(next, after) {
			return nil
		}
		if im.sayAgain(next, after) {
			return w.move(target, nil)
		}
	}
	src, err := im.rewindSource(w.tx, next)
	if err != nil {
		return err
	}
	target, left, err := w.beforeLeft(target, next)
	if err != nil {
		return err
	}
	if err := w.move(target, &format.Entry{Source: src}); err != nil {
		return err
	}
	return w.amendAgain(left)
}

// amendAgain has messages that are still on the line say what they said last, where the amends that say so have left.
func (w *treeWriter) amendAgain(left []entryAt) error {
	h := w.h
	copies, err := w.amendsAgain(left, h.value.ID, h.Seq, w.im.tree.Agent, func(id format.ID) bool { return w.im.onPath[id] })
	for _, at := range copies {
		header, err := at.e.Encode()
		if err != nil {
			return err
		}
		h.value.ID, w.fresh[at.id] = at.id, at.e
		w.done = append(w.done, appendedEntry{at.id, at.e, header})
		w.amended = append(w.amended, at.e.Amends)
	}
	return err
}

// beforeLeft returns the entry that the branch goes back to when the messages of the transcript after target leave, the
// one before the first of them, and the entries after it, newest first. What others put between target and that message
// stays, as it does with Rewind: joins, masks, replacements, forks, updates and messages. It returns target itself where
// the branch does not stand on target.
func (w *treeWriter) beforeLeft(target format.ID, next *treeStep) (to format.ID, left []entryAt, err error) {
	to = target
	var passed []entryAt
	for at := w.h.value.ID; at != target; {
		e, err := w.at(at)
		if err != nil || e == nil {
			return target, passed, err
		}
		passed = append(passed, entryAt{at, e})
		if w.im.placed[at] && !w.im.onPath[at] || next != nil && w.im.comes(&next.step, e) {
			to, left = firstParent(e), passed
		}
		at = firstParent(e)
	}
	return to, left, nil
}

// move has the branch end at an entry, and go on from there. rewind, where not nil, is the entry that says so, and keeps what is left: it needs its source only.
func (w *treeWriter) move(target format.ID, rewind *format.Entry) error {
	from := w.h.value.ID
	if err := w.part(from, target); err != nil {
		return err
	}
	to, err := w.at(target)
	if err != nil {
		return err
	}
	h := w.h
	h.value.ID, h.Seq, h.Invocation = target, 0, ""
	if to != nil {
		h.Seq, h.Time = to.Seq, to.Time
	} else {
		h.value.Kind = format.NoValue
	}
	h.Items, w.moved = nil, true
	if rewind == nil {
		return nil
	}
	e := &format.Entry{
		Session: h.session, Kind: format.KindRewind, Left: from, Time: w.Now().UTC().Truncate(1e6), Seq: h.Seq, Source: rewind.Source,
	}
	if !target.IsZero() {
		e.Parents = []format.ID{target}
	}
	header, err := e.Encode()
	if err != nil {
		return err
	}
	raw := format.Raw{Header: header}
	id := w.add(raw)
	h.value.Kind, h.value.ID = format.SessionValue, id
	w.fresh[id] = e
	w.done = append(w.done, appendedEntry{id, e, header})
	w.count.Rewinds++
	return nil
}

// at reads an entry, put or not; nil for the zero ID.
func (w *treeWriter) at(id format.ID) (*format.Entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	if e := w.fresh[id]; e != nil {
		return e, nil
	}
	return w.entry(id)
}

// part notes what the branch leaves and comes back to when it goes from one entry to another.
func (w *treeWriter) part(from, to format.ID) error {
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
		seen[i][id], seq[i], lines[i] = true, e.Seq, firstParent(e)
	}
	for i, at := range [2]format.ID{from, to} {
		for !at.IsZero() && at != base {
			e, err := w.at(at)
			if err != nil {
				return err
			}
			w.off[at] = i == 0
			at = firstParent(e)
		}
	}
	return nil
}

// close commits what was written.
func (w *treeWriter) close() error {
	h := w.h
	if h.value.ID == w.old.ID {
		return nil // everything was known
	}
	h.value.Kind = format.SessionValue
	before := w.view
	if len(w.done) > objects.LooseMost {
		// Learning now is cheap, and reading many entries again later is not.
		if err := w.withLinks(before, func(*links) error { return nil }); err != nil {
			return err
		}
	}
	op := &format.Operation{Verb: refs.VerbImport, Session: h.session}
	op.Refs = append(op.Refs, format.RefUpdate{Name: RefName(h.session, h.branch), Old: w.old, New: h.value})
	amended := len(w.amended) > 0
	if w.off[w.old.ID] {
		if err := w.turn(op, &amended); err != nil {
			return err
		}
	} else if err := w.refresh(w.amended); err != nil {
		return err
	}
	if u, moved := w.headTo(h.session); moved {
		op.Refs = append(op.Refs, u)
	}
	if err := w.commit(op); err != nil {
		return err
	}
	w.im.tip = h.value.ID
	if !w.moved {
		w.saveHead(h)
	}
	if !w.moved || !amended {
		w.learn(before, w.view, w.done)
	}
	return nil
}

// turn has the forest and the branch's frontier, pin and epoch follow to another line.
func (w *treeWriter) turn(op *format.Operation, amended *bool) error {
	if err := w.flush(); err != nil {
		return err
	}
	turn := &turned{leaving: map[format.ID]bool{}, coming: map[format.ID]bool{}}
	if err := w.between(turn, w.old.ID, w.h.value.ID); err != nil {
		return err
	}
	for id := range turn.coming {
		if w.fresh[id] != nil {
			continue
		}
		if e, err := w.entry(id); err != nil {
			return err
		} else if e.Kind == format.KindMessage {
			w.returned++
		}
	}
	if _, err := w.retract(turn.leaving, op.Session, op.Refs...); err != nil {
		return err
	}
	*amended = *amended || len(turn.amended) > 0
	turn.amended = append(turn.amended, w.amended...)
	if err := w.becomeAt(w.h.value.ID, turn.amended); err != nil {
		return err
	}
	if err := w.refresh(turn.amended); err != nil {
		return err
	}
	leaves, err := w.fitValue(&op.Refs[0])
	if err != nil {
		return err
	}
	u, moved, err := w.turnEpoch(op, &op.Refs[0], leaves, turn.epochs)
	if err != nil {
		return err
	}
	if moved {
		op.Refs = append(op.Refs, u)
	}
	if len(w.decided) > 0 {
		return w.writeForests()
	}
	return nil
}

package importer

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
)

// treeWriter writes the steps of a transcript under the lock, in one operation.
type treeWriter struct {
	*Tx
	*conversation.Appender
	im    *treeImporter
	old   format.Value // of the branch
	fresh map[format.ID]*format.Entry
	// newest are the newest versions of the messages that this operation wrote, by message.
	newest map[format.ID]*history.Shown
	off    map[format.ID]bool // entries whose membership in the branch's history has changed
	moved  bool               // the branch has moved away from its end
	// amended says that messages have other newest versions than before.
	amended bool
	shared  sharedEntry    // the newest entry that another session has as well
	owed    []format.Entry // rewinds that are not written yet, see moveOn
	count   Tally
	// withheld counts messages whose words were forgotten.
	withheld int
	lines    map[string]*history.Lineage // of other sessions
	// returned counts messages of abandoned lines that are in the conversation again.
	returned int
}

// open begins an operation.
func (im *treeImporter) open(t *Tx) (*treeWriter, error) {
	if err := format.CheckName(im.as); err != nil {
		return nil, fmt.Errorf("%w: session %q: %w", history.ErrInput, history.Clip(im.as), err)
	}
	before := im.view
	im.view = t.store.View
	old := t.store.View.Get(history.RefName(im.as, im.branch))
	if im.movedTo(old.ID) || before.Number != im.view.Number { // others have written meanwhile
		for i := range im.queue {
			if next := &im.queue[i]; next.step.Kind == transcript.KindMessage {
				if err := im.lookUp(next); err != nil {
					return nil, err
				}
			}
		}
	}
	h, err := t.Head(im.as, im.branch, old)
	if err != nil {
		return nil, err
	}
	return &treeWriter{Tx: t, Appender: t.conversation.NewAppender(h, true), im: im, old: old,
		fresh: map[format.ID]*format.Entry{}, newest: map[format.ID]*history.Shown{},
		off: map[format.ID]bool{}, lines: map[string]*history.Lineage{}}, nil
}

// step processes a step that waited.
func (w *treeWriter) step(next *treeStep) error {
	im := w.im
	if next.step.Kind == transcript.KindRewind {
		im.abandon(next.step.RewindTo)
		return nil
	}
	if err := w.beginAtCopy(); err != nil {
		return err
	}
	if shared, err := w.share(next); err != nil || shared {
		return err
	}
	id, err := im.stored(next, w.state())
	if err != nil {
		return err
	}
	if !id.IsZero() {
		w.count.Known++
		im.put(next.step.Message.Origin, id)
		return nil
	}
	if id, err = im.entryFor(next, w.state()); err != nil {
		return err
	}
	if !id.IsZero() {
		done, err := w.amend(next, id)
		if err != nil || done {
			return err
		}
	}
	if err := w.settleLeft(); err != nil {
		return err
	}
	if err := w.moveToPlace(next); err != nil {
		return err
	}
	e, err := w.entryWith(next)
	if err != nil {
		return err
	}
	first := len(im.placed) == 0
	if first {
		im.base = w.Tip.Value.ID
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

func (w *treeWriter) state() branchState {
	return branchState{tip: w.Tip.Value.ID, fresh: w.fresh, newest: w.newest, onLine: w.onLine}
}

// onLine reports whether an entry is in the current history of the branch.
func (w *treeWriter) onLine(id format.ID) (bool, error) {
	if off, known := w.off[id]; known {
		return !off, nil
	}
	if w.fresh[id] != nil {
		return true, nil
	}
	return w.InBranch(id)
}

// entryWith builds the entry of a message, with its source.
func (w *treeWriter) entryWith(next *treeStep) (*format.Entry, error) {
	e := w.EntryOf(&next.out)
	digest, err := w.Digest16(next.out.Record())
	src := next.out.Source
	e.Source = &format.Source{Agent: src.Agent, Session: src.Session, Message: src.Message,
		Digest: digest}
	return e, err
}

// amend writes a message as a newer version of its entry. done is false if the message has to be
// added instead.
func (w *treeWriter) amend(next *treeStep, id format.ID) (done bool, err error) {
	w.im.compared = true
	if err := w.takeSource(next, id); err != nil {
		return false, err
	}
	e, err := w.entryWith(next)
	if err != nil {
		return false, err
	}
	known, err := w.Known(e)
	if err != nil {
		return false, err
	}
	on, err := w.onLine(id)
	if err != nil {
		return false, err
	}
	isNew := w.im.tree == nil && (!on || e.Kind != format.KindMessage)
	for _, k := range known {
		if k.Digest == e.Source.Digest && (k.Message() == id || w.im.tree == nil) {
			id, on, isNew = k.Message(), false, false // this version is stored already
		}
	}
	if isNew {
		return false, nil // a rewound message has no place for a later version, nor has a note
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

func (w *treeWriter) append(
	m *conversation.Message, e *format.Entry,
) (conversation.Appended, error) {
	a, err := w.Put(m, e)
	if err != nil {
		return a, err
	}
	w.fresh[a.ID] = e
	shown := &history.Shown{ID: a.ID, Version: a.ID, Entry: e, Text: m.Text, Parts: m.Parts}
	if a.Forgotten {
		shown.Gone = format.ReasonForgotten
		w.withheld++
	}
	if e.Kind == format.KindAmend {
		w.newest[e.Amends] = shown
	} else {
		w.newest[a.ID] = shown
	}
	return a, nil
}

// tellWithheld says how many messages came without their words.
func (w *treeWriter) tellWithheld() {
	if w.withheld > 0 {
		w.Report(conversation.Withheld(w.im.as, w.withheld, len(w.im.queue)))
	}
}

// settleBranch adds to an operation how the branch moves, and the forest with it.
func (w *treeWriter) settleBranch(op *format.Operation) error {
	h := w.Tip
	moves := func() {
		op.Refs = append(op.Refs,
			format.RefUpdate{Name: history.RefName(h.Session, h.Branch), Old: w.old, New: h.Value})
	}
	w.amended = len(w.Amended) > 0
	if w.off[w.old.ID] {
		moves()
		return w.moveForest(op)
	}
	err := w.conversation.Refresh(w.Amended)
	var folded []format.RefUpdate
	if err == nil && w.im.goesOn && w.im.tree == nil {
		folded, err = w.conversation.GraduateOnAppend(h)
	}
	moves()
	op.Refs = append(op.Refs, folded...)
	if err != nil || w.shared.id.IsZero() || len(folded) > 0 {
		return err
	}
	told, err := w.epochs.InForce(h.Value.ID) // it may be the other session's
	op.Refs = append(op.Refs, w.epochs.EpochTo(h.Session, h.Branch, told)...)
	return err
}

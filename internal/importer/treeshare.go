package importer

import (
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/history"
)

// This file lets sessions share history. An agent that forks a session copies its records into a
// new transcript, under the UUIDs that they have. The branch of such a session goes through the
// entries of the other session up to where the two part, in whatever order their transcripts come.

// sharedEntry is an entry that a session has in common with another one.
type sharedEntry struct {
	id      format.ID
	session string // the other one
}

// share moves the branch on to an entry that another session has of a message. It does nothing and
// returns false unless all of the entry's history is that of the branch.
func (w *treeWriter) share(next *treeStep) (bool, error) {
	if len(next.known) > 0 || len(next.elsewhere) == 0 ||
		w.im.onPath[w.im.ids[next.step.Message.Origin]] {
		return false, nil
	}
	if next.out.Note && !w.Tip.Value.Exists() && !w.im.waitsForCopy() {
		return false, nil // transcripts that have nothing else in common begin with the same notes
	}
	for _, id := range next.elsewhere {
		follows, left, err := w.goesOn(id)
		if err != nil {
			return false, err
		}
		if !follows {
			continue
		}
		with, err := w.sharer(next, id)
		if err != nil {
			return false, err
		}
		if with == "" {
			continue
		}
		return true, w.moveOn(next, id, with, left)
	}
	// With a shared entry came the lines that were left before it.
	line := w.Lineage(w.shared.id)
	for _, id := range next.elsewhere {
		if in, err := line.Has(id); err != nil {
			return false, err
		} else if in {
			next.known = append(next.known, id)
		}
	}
	return false, nil
}

// beginAtCopy has the branch of a fork begin at the newest message of the copy that the transcript
// begins with, if the copy has all that is before that message and nothing else. An agent that does
// not keep the ids of records in a fork has such transcripts.
func (w *treeWriter) beginAtCopy() error {
	c := w.im.copy
	if c == nil || !c.fork || !c.over || c.last.id.IsZero() || w.Tip.Value.Exists() ||
		len(w.im.placed) > 0 || w.im.tree != nil || w.im.as == w.im.begins.From {
		return nil
	}
	left := maps.Clone(c.met)
	for e, err := range w.Walk(c.last.id, history.OwnLine) {
		if err != nil {
			return err
		}
		if e.Kind == format.KindMessage && !left[e.ID] && !c.silent[e.ID] {
			return nil
		}
		delete(left, e.ID)
	}
	if len(left) > 0 {
		return nil
	}
	return w.moveToShared(sharedEntry{c.last.id, w.im.begins.From})
}

// moveToShared moves the end of the branch to an entry that another session has.
func (w *treeWriter) moveToShared(at sharedEntry) error {
	if err := w.move(at.id, nil); err != nil {
		return err
	}
	w.Tip.Value.Kind = format.SessionValue
	w.shared = at
	return nil
}

// onlyCopies reports whether nothing was written of a fork, whose messages are all copies.
func (im *treeImporter) onlyCopies() (bool, error) {
	c := im.copy
	if c == nil || !c.fork || c.over || c.last.id.IsZero() || im.wrote ||
		slices.ContainsFunc(im.queue, func(next treeStep) bool { return !next.out.Note }) {
		return false, nil
	}
	view, err := im.refs()
	return err == nil && !exists(view, im.as), err
}

// waitsForCopy reports whether another session has a message that waits.
func (im *treeImporter) waitsForCopy() bool {
	return slices.ContainsFunc(im.queue,
		func(next treeStep) bool { return !next.out.Note && len(next.elsewhere) > 0 })
}

// moveOn moves the branch on to an entry of another session. left says that the branch is on a line
// that the message does not follow.
func (w *treeWriter) moveOn(next *treeStep, id format.ID, session string, left bool) error {
	if left {
		src, err := w.im.rewindSource(w.Tx, next)
		if err != nil {
			return err
		}
		w.owed = append(w.owed, format.Entry{Left: w.Tip.Value.ID, Source: src})
	}
	if err := w.moveToShared(sharedEntry{id, session}); err != nil {
		return err
	}
	w.count.Known++
	if err := w.im.begin(id); err != nil {
		return err
	}
	w.im.put(next.step.Message.Origin, id)
	return nil
}

// settleLeft writes the rewinds of lines that were left for an entry of another session, which has
// none of them in its history.
func (w *treeWriter) settleLeft() error {
	for _, rewind := range w.owed {
		if err := w.rewound(rewind.Left, rewind.Source); err != nil {
			return err
		}
	}
	w.owed = nil
	return nil
}

// sharer returns a session of this store that has an entry with what a message says; "" if there is
// none.
func (w *treeWriter) sharer(next *treeStep, id format.ID) (string, error) {
	shown, err := w.Entry(id)
	if err != nil || !next.isCopyOf(shown) {
		return "", err
	}
	has := func(name string) (bool, error) {
		line := w.lineOf(name)
		if line == nil {
			return false, nil
		}
		return line.Has(id)
	}
	if in, err := has(w.shared.session); err != nil || in {
		return w.shared.session, err
	}
	first := shown.Entry.Session
	for _, name := range append([]string{first}, history.Relatives(w.store.View, first)...) {
		if in, err := has(name); err != nil || in {
			return name, err
		}
	}
	return "", nil
}

// lineOf returns what another session of this store has, rewound lines included; nil if there is no
// such session.
func (w *treeWriter) lineOf(session string) *history.Lineage {
	view := w.store.View
	tip := view.Get(history.RefName(session, history.MainBranch)).ID
	if _, others := history.Owner(view, session); others || session == w.im.as || tip.IsZero() {
		return nil
	}
	if w.lines[session] == nil {
		w.lines[session] = w.Lineage(tip)
	}
	return w.lines[session]
}

// goesOn reports whether an entry follows the end of the line, with no message of the agent between
// them. left says that its history, lines that were left included, does not have all of the branch.
// That has to be a line which the transcript has left.
func (w *treeWriter) goesOn(id format.ID) (follows, left bool, err error) {
	end, tip := w.im.end(), w.Tip.Value.ID
	met := tip.IsZero()
	e, err := w.at(id)
	for err == nil {
		at := history.FirstParent(e)
		if met = met || at == tip; at == end {
			break
		}
		if at.IsZero() || w.im.placed[at] {
			return false, false, nil
		}
		if e, err = w.at(at); err != nil {
			return false, false, err
		}
		if _, own := w.im.originOf(e); own && e.Kind != format.KindAmend &&
			e.Kind != format.KindRewind {
			return false, false, nil
		}
	}
	if err == nil && !met {
		met, err = w.Lineage(id).Has(tip)
	}
	if err != nil || met || w.im.tree == nil {
		return met, false, err
	}
	target, err := w.im.target()
	if err != nil {
		return false, false, err
	}
	near, _, err := w.im.nearest(tip, end, w.fresh)
	left = target == end && near != end && !near.IsZero()
	return left, left, err
}

// isCopyOf reports whether an entry that came from the transcript of another session, or was said
// to the store, says what a message says. The other fields of the records may differ, as the
// directory does.
func (next *treeStep) isCopyOf(shown *history.Shown) bool {
	src := shown.Entry.Source
	if next.step.Message.Origin.Agent != transcript.Own &&
		(src == nil || src.Session == next.out.Source.Session) {
		return false
	}
	if shown.Gone != "" {
		return true
	}
	clean := next.out
	if _, err := clean.Clean(); err != nil {
		return false // flush says why
	}
	is := transcript.Message{Role: clean.Role, Text: clean.Text, Parts: clean.Parts}
	was := exporter.MessageOf(shown)
	return wordsOf(&is) == wordsOf(&was)
}

// takeSource gives a message the source of its entry, which may have come from the transcript of
// another session.
func (w *treeWriter) takeSource(next *treeStep, id format.ID) error {
	e, err := w.at(id)
	if err == nil && e.Source != nil && e.Source.Agent == next.out.Source.Agent &&
		e.Source.Message == next.out.Source.Message {
		src := *next.out.Source
		src.Session = e.Source.Session
		next.out.Source = &src
	}
	return err
}

// noteShared notes in an operation that two sessions share history, and the newest entry that both
// have. The first session of a line has no such note: the other ones name it.
func (w *treeWriter) noteShared(op *format.Operation) error {
	if w.shared.id.IsZero() {
		return nil
	}
	view, session := w.store.View, w.im.as
	first := history.OriginOf(view, session)
	if first == session {
		first = history.OriginOf(view, w.shared.session)
	}
	if first != session {
		name := history.OriginRef(first, session)
		op.Refs = append(op.Refs, format.RefUpdate{Name: name, Old: view.Get(name),
			New: format.Value{Kind: format.ObjectValue, ID: w.shared.id}})
	}
	return w.conversation.NoLongerAlone(w.shared.session, history.MainBranch)
}

package importer

import (
	"bytes"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/objects"
)

// This file finds the entry that the store already has for a message of a tree, if it is in its
// place.

// branchState is a state of the branch.
type branchState struct {
	tip    format.ID
	fresh  map[format.ID]*format.Entry          // entries that are not stored yet
	newest map[format.ID]*history.Shown         // by message: newest versions of these
	onLine func(format.ID) (in bool, err error) // whether an entry is in the branch's history
}

// stored returns the entry of a message that need not be written; the zero ID if it must be.
func (im *treeImporter) stored(next *treeStep, at branchState) (format.ID, error) {
	id, err := im.entryFor(next, at)
	if err != nil || id.IsZero() {
		return format.ID{}, err
	}
	shown := at.newest[id] // the store cannot read it before the operation is committed
	waits := shown != nil
	if !waits {
		if shown, err = im.LatestParts(im.view, id); err != nil {
			return format.ID{}, err
		}
	}
	clean := next.out
	if _, err := clean.Clean(); err != nil {
		return format.ID{}, nil // flush says why
	}
	fresh := transcript.Message{Text: clean.Text, Parts: clean.Parts}
	if shown.Gone == "" && shown.Entry.Role == next.out.Role && sameBytes(shown, &fresh) ||
		next.isCopyOf(shown) {
		return id, nil
	}
	if !waits {
		if shown, err = im.Latest(im.view, id); err != nil {
			return format.ID{}, err
		}
	}
	same, err := im.holds(shown, next.out.Role, &fresh)
	if err != nil || !same {
		return format.ID{}, err
	}
	return id, nil
}

// sameBytes reports whether a message has the words of an entry, byte for byte.
func sameBytes(shown *history.Shown, fresh *transcript.Message) bool {
	if shown.Parts == nil || fresh.Parts == nil {
		return shown.Parts == nil && fresh.Parts == nil && shown.Text == fresh.Text
	}
	return bytes.Equal(shown.Parts, fresh.Parts)
}

// entryFor returns the entry that a message already has or amends; the zero ID for none. Of several
// entries it prefers the one that follows the end of the line. An entry that follows another one
// represents the message while the branch has it, unless a few messages have to be repeated in
// their order.
func (im *treeImporter) entryFor(next *treeStep, at branchState) (format.ID, error) {
	if id, ok := im.ids[next.step.Message.Origin]; ok && im.onPath[id] {
		return id, nil
	}
	if im.tree == nil {
		return im.entryNear(next, at)
	}
	// Messages that left the line are written again
	known := slices.DeleteFunc(slices.Clone(next.known),
		func(id format.ID) bool { return im.placed[id] })
	for _, id := range known {
		in, err := im.inPlace(next, id)
		if err != nil {
			return format.ID{}, err
		}
		if in {
			return id, im.begin(id)
		}
	}
	for _, id := range known {
		in, err := at.onLine(id)
		if err != nil {
			return format.ID{}, err
		}
		if !in {
			continue
		}
		if again, err := im.reorders(next, at); err != nil || again {
			return format.ID{}, err
		}
		im.loose = true
		return id, im.begin(id)
	}
	return format.ID{}, nil
}

// entryNear is entryFor for a transcript that is no tree: the entry that the branch has, or else
// one that was rewound.
func (im *treeImporter) entryNear(next *treeStep, at branchState) (format.ID, error) {
	for _, id := range next.known {
		if in, err := at.onLine(id); err != nil || in {
			return id, err
		}
	}
	if len(next.known) > 0 {
		return next.known[0], nil
	}
	return format.ID{}, nil
}

// maxReorder is the largest number of entries that are repeated after a message that was written
// later and belongs before them. An agent that writes records out of order is a few records behind;
// more would be another transcript.
const maxReorder = 256

// reorders reports whether every entry of the branch after the end of the line is the message or
// follows it in the transcript, and there are at most maxReorder: they are then repeated in their
// order.
func (im *treeImporter) reorders(next *treeStep, at branchState) (bool, error) {
	target, err := im.target()
	if err != nil || next.step.Loose || len(im.placed) == 0 {
		return false, err
	}
	near, after, err := im.nearest(at.tip, target, at.fresh)
	if err != nil || near != target {
		return false, err
	}
	return im.repeatable(next, after), nil
}

func (im *treeImporter) repeatable(next *treeStep, after []history.Entry) bool {
	origin := next.step.Message.Origin
	for _, at := range after {
		of, own := im.originOf(at.Entry)
		if !own || of.Message != origin.Message && !im.tree.Follows(of, origin) {
			return false
		}
	}
	return len(after) > 0 && len(after) <= maxReorder
}

// anyAtOrAfter reports whether one of the entries is a message of the transcript that comes after a
// step.
func (im *treeImporter) anyAtOrAfter(next *treeStep, after []history.Entry) bool {
	return slices.ContainsFunc(after,
		func(at history.Entry) bool { return im.isAtOrAfter(&next.step, at.Entry) })
}

// originOf returns the agent's name for an entry; own is false for messages of others.
func (im *treeImporter) originOf(e *format.Entry) (of transcript.Origin, own bool) {
	if of = exporter.Source(e.Source); e.Source == nil || of.Agent != im.agent {
		return transcript.Origin{}, false
	}
	return of, true
}

// isAtOrAfter reports whether an entry is a message of the transcript at a step or after it.
func (im *treeImporter) isAtOrAfter(st *transcript.Step, e *format.Entry) bool {
	of, own := im.originOf(e)
	if !own {
		return false
	}
	number, ok := im.tree.Number(of)
	return ok && number >= st.Number
}

// begin determines the entry that the first message of the transcript follows.
func (im *treeImporter) begin(id format.ID) error {
	if len(im.placed) > 0 {
		return nil
	}
	e, err := im.Header(id)
	if err == nil {
		im.base = history.FirstParent(e)
	}
	return err
}

// end returns the last entry of the line, or base if the line is empty.
func (im *treeImporter) end() format.ID {
	if n := len(im.path); n > 0 {
		return im.path[n-1].id
	}
	return im.base
}

// inPlace reports whether the entry of a message follows the end of the line, with only messages of
// others between them.
func (im *treeImporter) inPlace(next *treeStep, id format.ID) (bool, error) {
	e, err := im.Header(id)
	if err != nil {
		return false, err
	}
	if s := e.Source; s == nil || s.Agent != im.agent || len(im.placed) == 0 {
		return true, nil // another agent said it first: the order of the branch applies
	}
	for at := history.FirstParent(e); !at.IsZero(); at = history.FirstParent(e) {
		if im.placed[at] {
			return at == im.end(), nil
		}
		if e, err = im.Header(at); err != nil {
			return false, err
		}
		if im.isAtOrAfter(&next.step, e) {
			return false, nil
		}
		if e.Kind == format.KindRewind && e.Source == nil {
			// It follows the end of the line at the time when this rewind removed that end.
			if after, err := im.handRewoundTo(im.end(), at); err != nil || after {
				return after, err
			}
		}
	}
	return len(im.path) == 0, nil
}

// saidElsewhere returns the entry of a message that was said to this store, if the transcript is a
// fork of the session that has it.
func (im *treeImporter) saidElsewhere(o transcript.Origin) ([]format.ID, error) {
	id, err := format.ParseID(o.Message)
	if err != nil || im.tree == nil {
		return nil, nil
	}
	switch _, err = im.Header(id); {
	case errors.Is(err, objects.ErrNotFound):
		return nil, nil // to another store
	case err != nil:
		return nil, err
	}
	return []format.ID{id}, nil
}

// lookUp finds the entries of a message, rewound ones included, first versions only.
func (im *treeImporter) lookUp(next *treeStep) error {
	next.known, next.elsewhere = nil, nil
	o, src := next.step.Message.Origin, next.out.Source
	if o.Agent == transcript.Own {
		id, err := im.find(src, o)
		if err != nil || !id.IsZero() {
			next.known = []format.ID{id}
			return err
		}
		if next.elsewhere, err = im.saidElsewhere(o); err != nil {
			return err
		}
	}
	found, err := im.CopiesOf(im.view, src.Agent, src.Session, src.Message)
	if err != nil {
		return err
	}
	for _, at := range found {
		if !at.Amends.IsZero() {
			continue
		}
		in, err := im.line.Has(at.ID)
		if err != nil {
			return err
		}
		switch {
		case in:
			next.known = append(next.known, at.ID)
		case im.tree != nil || src.Agent == im.agent && src.Agent != adk.Agent:
			next.elsewhere = append(next.elsewhere, at.ID)
		}
	}
	return nil
}

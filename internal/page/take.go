package page

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/sanitize/controls"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// Taken is what an import of a page has done.
type Taken struct {
	Session, Branch string
	Messages        int // new in this store
	Others          int // other objects that are new
	Known           int // objects that the store had
	// Wordless counts new objects without words: those were left out of the page, were forgotten
	// here, or are secret by the rules of today.
	Wordless int
	Moved    bool
}

// Take stores the entries of a page under the ids that they had, as the branch of the session in
// which its newest entry was said: another name would not fit the entries. A branch that is there
// must have that entry, or be the beginning of what the page has; anything else is an ErrStale.
// Nothing is believed: each object is of a kind that a conversation has, names only what is there,
// and has the id and the digest that it is named by; else the error is ErrForm. Words that this
// store has forgotten stay away.
func Take(ctx context.Context, s *session.Store, page []byte) (Taken, error) {
	e, err := entriesOf(s.Objects, page)
	if err != nil {
		return Taken{}, err
	}
	t := &taking{s: s, e: e, done: Taken{Branch: e.branch}, in: map[format.ID]*format.Entry{}}
	if err := t.check(); err != nil {
		return t.done, err
	}
	t.done.Session = t.in[e.tip].Session
	if strings.Contains(e.branch, "/") {
		return t.done, formError("a name that no branch has")
	}
	if err := t.store(ctx); err != nil {
		return t.done, err
	}
	return t.done, s.Store.Locked(ctx, t.commit)
}

type taking struct {
	s      *session.Store
	e      *entries
	in     map[format.ID]*format.Entry // entries of the page
	fresh  []format.Raw
	absent []format.ID
	done   Taken
}

// check looks at every object, and chooses those that are new.
func (t *taking) check() error {
	clean := newCleaner(t.s)
	traces, err := t.s.History.ForgottenWords()
	if err != nil {
		return err
	}
	there := lists.Set(lists.Map(t.e.objects, format.Raw.ID))
	for _, raw := range t.e.objects {
		id := raw.ID()
		kind, o, err := format.DecodeObject(raw.Header)
		if err != nil {
			return formError(fmt.Sprintf("object %v: %v", id, err))
		}
		switch kind {
		case format.EntryKind, format.EpochKind, format.BlobKind:
		default:
			return formError(fmt.Sprintf("object %v is a %v", id, kind))
		}
		for _, l := range o.Links() {
			if !there[l.ID] {
				return formError(fmt.Sprintf("object %v names %v, which the page does not have",
					id, l.ID))
			}
		}
		if entry, ok := o.(*format.Entry); ok {
			t.in[id] = entry
		}
		known, err := t.s.Objects.Has(id)
		if err != nil {
			return err
		}
		if known {
			t.done.Known++
			continue
		}
		if raw.Body != nil {
			ok, err := t.mayCome(clean, traces, id, raw, t.in[id])
			if err != nil {
				return err
			}
			if !ok {
				raw.Body = nil
			}
		}
		if _, named, _ := format.HeaderBody(raw.Header); named && raw.Body == nil {
			t.absent = append(t.absent, id)
			t.done.Wordless++
		}
		t.fresh = append(t.fresh, raw)
		if entry := t.in[id]; entry != nil && entry.Kind == format.KindMessage {
			t.done.Messages++
		} else {
			t.done.Others++
		}
	}
	if t.in[t.e.tip] == nil {
		return formError("the newest entry is missing")
	}
	return nil
}

// mayCome reports whether the words of an object may be stored: they have no control characters and
// no secrets by the rules of today, and this store was not asked to forget them.
func (t *taking) mayCome(
	clean *cleaner, traces *history.Traces, id format.ID, raw format.Raw, e *format.Entry,
) (bool, error) {
	ok, err := clean.passes(id, raw)
	if err != nil || !ok {
		return false, nil // what the rules cannot read does not come in
	}
	text := raw.Text()
	if _, found, broken := controls.Strip(text, nil); found+broken > 0 {
		return false, nil
	}
	forgotten, err := traces.InObject(e, raw)
	return !forgotten, err
}

// store writes the new objects. Nothing names them yet.
func (t *taking) store(ctx context.Context) error {
	if len(t.absent) > 0 {
		err := t.s.Store.Locked(ctx,
			func(tx *store.Tx) error {
				return tx.MarkAbsent(t.absent, format.ReasonLost, t.s.Now())
			})
		if err != nil {
			return err
		}
	}
	const batch = 4096
	for list := range slices.Chunk(t.fresh, batch) {
		if err := t.s.Store.Put(ctx, nil, list...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// commit names the tip.
func (t *taking) commit(tx *store.Tx) error {
	name := history.RefName(t.done.Session, t.done.Branch)
	old := tx.View.Get(name)
	value := format.Value{Kind: format.SessionValue, ID: t.e.tip}
	if old.Exists() {
		if old.ID == t.e.tip {
			return nil
		}
		has, err := t.s.History.Lineage(old.ID).Has(t.e.tip)
		if err != nil || has {
			return err
		}
		if on, err := t.onLine(old.ID); err != nil || !on {
			if err == nil {
				err = fmt.Errorf("%w: session %q has other messages than the page",
					history.ErrStale, history.Clip(t.done.Session))
			}
			return err
		}
		value = old
		value.ID = t.e.tip
	}
	op := &format.Operation{Verb: refs.VerbImport,
		Refs: []format.RefUpdate{{Name: name, Old: old, New: value}}}
	if err := t.epoch(tx, op); err != nil {
		return err
	}
	if !tx.View.Get(history.KeyRef).Exists() {
		mark, err := tx.KeyMark()
		if err != nil {
			return err
		}
		v, err := tx.AddBlob(mark, format.MediaText)
		if err != nil {
			return err
		}
		op.Refs = append(op.Refs, format.RefUpdate{Name: history.KeyRef, New: v})
	}
	op.Refs = append(op.Refs, tx.HeadTo(t.done.Session)...)
	t.done.Moved = true
	return tx.Commit(op)
}

// epoch adds the update of the ref of the epoch that is in force at the tip.
func (t *taking) epoch(tx *store.Tx, op *format.Operation) error {
	ref := epochs.EpochRef(t.done.Session, t.done.Branch)
	u := format.RefUpdate{Name: ref, Old: tx.View.Get(ref)}
	for e, err := range history.Line(t.e.tip, t.s.History.Header) {
		if err != nil {
			return err
		}
		if e.Kind == format.KindEpoch {
			u.New = format.Value{Kind: format.ObjectValue, ID: e.Epoch}
			break
		}
	}
	if u.Old != u.New {
		op.Refs = append(op.Refs, u)
	}
	return nil
}

// onLine reports whether an entry is on the line of first parents of the page's tip, without a
// rewind after it.
func (t *taking) onLine(id format.ID) (bool, error) {
	for e, err := range history.Line(t.e.tip, t.s.History.Header) {
		if err != nil {
			return false, err
		}
		if e.ID == id {
			return true, nil
		}
		if e.Kind == format.KindRewind {
			return false, nil
		}
	}
	return false, nil
}

package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Add has objects written by the next commit, and returns the id of the last one.
func (t *Tx) Add(raws ...format.Raw) (id format.ID) {
	t.waiting = append(t.waiting, raws...)
	if len(raws) > 0 {
		id = raws[len(raws)-1].ID()
	}
	return id
}

// Waiting returns the objects that the next commit writes, in the order in which they were added.
func (t *Tx) Waiting() []format.Raw { return t.waiting }

// EntryNow is Header for an entry that may be waiting.
func (t *Tx) EntryNow(id format.ID) (*format.Entry, error) {
	for _, raw := range t.waiting {
		if raw.ID() == id {
			return format.DecodeEntry(raw.Header)
		}
	}
	return t.Header(id)
}

// Flush writes the objects that are waiting, so that they can be read before the commit.
func (t *Tx) Flush() error {
	if len(t.waiting) == 0 {
		return nil
	}
	t.waiting = distinct(t.waiting)
	if err := t.repo.Objects.Put(t.waiting...); err != nil {
		return err
	}
	for _, r := range t.waiting {
		t.present[r.ID()] = true
	}
	t.waiting = nil
	return nil
}

// distinct returns every object once.
func distinct(raws []format.Raw) []format.Raw {
	if len(raws) < 2 {
		return raws
	}
	seen := map[format.ID]bool{}
	return slices.DeleteFunc(slices.Clone(raws), func(r format.Raw) bool {
		id := r.ID()
		known := seen[id]
		seen[id] = true
		return known
	})
}

// Commit writes the objects that are waiting and records the operation with everything decided.
// The sync of the record is the moment from which the operation has happened. After a power cut
// before it, the objects are there and nothing names them: gc removes them after gc.grace. A
// checkpoint follows where the log has become long.
func (t *Tx) Commit(op *format.Operation) error {
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range forestNames {
		f := t.draft(name)
		if len(f.decided) > 0 {
			op.Forests = append(op.Forests, format.ForestUpdate{Name: name, Decisions: f.decided})
		}
		if old := t.View.Get(history.ForestRefOf(name)); !f.written.IsZero() && old.ID != f.written {
			op.Refs = append(op.Refs, format.RefUpdate{
				Name: history.ForestRefOf(name), Old: old, New: format.Value{Kind: format.ObjectValue, ID: f.written},
			})
		}
	}
	for _, p := range t.participants {
		if err := p.Prepare(op); err != nil {
			return err
		}
	}
	if _, known := refs.EffectOf(op.Verb); !known {
		return fmt.Errorf("no effect is known of a verb %q", op.Verb)
	}
	op.Time = t.Now().UTC().Truncate(time.Millisecond)
	view, err := t.repo.Refs.Commit(t.Held, t.View, op, t.present)
	if err != nil {
		return err
	}
	t.View, t.latest = view, nil
	decided := t.main.decided
	for _, name := range forestNames {
		f := t.draft(name)
		f.decided, f.written = nil, format.ID{}
	}
	for _, p := range t.participants {
		p.Committed(decided)
	}
	if view.Long() && op.Verb != refs.VerbCheckpoint {
		if err := t.checkpoint(); err != nil {
			t.Report(fmt.Errorf("no checkpoint yet: %w", err))
		}
	}
	return nil
}

// ShortenLog writes a checkpoint if the operations since the last one would slow readers down.
func (t *Tx) ShortenLog() error {
	if t.View.Overlay() < history.LongOverlay {
		return nil
	}
	return t.checkpoint()
}

// checkpoint writes the forests and then every ref, so that readers overlay fewer records.
func (t *Tx) checkpoint() error {
	pending := false
	for _, name := range forestNames {
		if len(t.View.Pending(name)) == 0 {
			continue
		}
		t.draft(name).state = nil // what the operation decided is in the view now
		if _, err := t.WriteForestOf(name); err != nil {
			return err
		}
		pending = true
	}
	if pending {
		if err := t.Commit(&format.Operation{Verb: refs.VerbCheckpoint}); err != nil {
			return err
		}
	}
	return t.repo.Refs.Checkpoint(t.Held, t.View)
}

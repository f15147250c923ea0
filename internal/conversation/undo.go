package conversation

import (
	"context"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/refs"
)

// Undone is the result of Undo and Redo.
type Undone struct {
	Operation uint64 `json:"operation"` // the one taken back, or repeated
	Verb      string `json:"verb"`      // of that one
	Retracted int    `json:"retracted"` // entries that left the forest
	Restored  int    `json:"restored"`  // entries that came back to it
}

// Undo takes back the last operation of a session that is not yet taken back. Refs return to their
// earlier values. The forest goes forward: entries that leave the session are retracted, and
// entries that return get back to their places.
func (s *Writer) Undo(ctx context.Context, session string) (Undone, error) {
	return s.apply(ctx, session, refs.VerbUndo)
}

// Redo repeats the operation that the last undo of a session took back, if nothing else has
// happened in the session since.
func (s *Writer) Redo(ctx context.Context, session string) (Undone, error) {
	return s.apply(ctx, session, refs.VerbRedo)
}

// apply is Undo or Redo, as the verb says.
func (s *Writer) apply(ctx context.Context, session, verb string) (Undone, error) {
	var done Undone
	err := s.Locked(ctx, func(t *Tx) error {
		if err := history.CheckOwn(t.store.View, session); err != nil {
			return err
		}
		if err := t.checkNoForget(); err != nil {
			return err
		}
		find := lastDone
		if verb == refs.VerbRedo {
			find = lastUndone
		}
		ops, target, err := t.operationsOf(session, find)
		if err == nil && target != nil {
			err = checkUndoable(target.Op)
		}
		if err != nil {
			return err
		}
		if target == nil {
			return fmt.Errorf("%w: nothing to %s in session %q", history.ErrNotFound, verb,
				history.Clip(session))
		}
		done, err = t.applyInverse(session, verb, *target, ops)
		return err
	})
	return done, err
}

// checkNoForget refuses an undo right after a forget. A forget cannot be taken back, and the
// operation before it is not the one that the caller means.
func (t *Tx) checkNoForget() error {
	var last *format.Operation
	err := t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		last = r.Op
		return last.Verb == refs.VerbCheckpoint
	})
	if err != nil || last == nil || !history.Forgets(last) {
		return err
	}
	return fmt.Errorf("%w: operation %d was to forget, and cannot be taken back: %w",
		history.ErrRefused, last.Number, history.ErrAfterForget)
}

// checkUndoable returns ErrRefused for an operation that cannot be taken back.
func checkUndoable(op *format.Operation) error {
	e, known := refs.EffectsOf(op)
	switch {
	case !known:
		return fmt.Errorf("%w: this version does not know what operation %d (%s) did",
			history.ErrRefused, op.Number, op.Verb)
	case e.Undo != format.UndoTakes:
		return fmt.Errorf("%w: operation %d (%s) cannot be taken back", history.ErrRefused,
			op.Number, op.Verb)
	}
	return nil
}

// applyInverse moves the refs of a session to their values before (undo) or after (redo) an
// operation. ops are the operations of the session, newest first.
func (t *Tx) applyInverse(session, verb string, r refs.Record, ops []refs.Record) (Undone, error) {
	done := Undone{Operation: r.Op.Number, Verb: r.Op.Verb}
	op := &format.Operation{Verb: verb, Session: session, About: r.Op.Number}
	effect, _ := refs.EffectsOf(r.Op)
	diff := NewDifference()
	for _, u := range r.Op.Refs {
		want, expected := u.Old, u.New
		if verb == refs.VerbRedo {
			want, expected = u.New, u.Old
		}
		now := t.store.View.Get(u.Name)
		switch {
		case u.Name == "HEAD":
			if effect.Removes && now == expected && now != want {
				op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
			}
		case isStateRef(u.Name):
			if now != expected {
				return done,
					fmt.Errorf("%w: %s has changed since operation %d", history.ErrStale,
						u.Name, r.Op.Number)
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
		case !strings.HasPrefix(u.Name, "sessions/"+session+"/"):
		default:
			if same, err := t.epochs.SameButFolds(now.ID, expected.ID); err != nil {
				return done, err
			} else if !same {
				return done,
					fmt.Errorf("%w: %s has moved since operation %d", history.ErrStale,
						u.Name, r.Op.Number)
			}
			if err := t.compareBranch(diff, u.Name, now, want); err != nil {
				return done, fmt.Errorf("%w: %w", history.ErrGone, err)
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
		}
	}
	if err := t.moveMembers(op, diff, ops, &done); err != nil {
		return done, err
	}
	for _, u := range op.Refs {
		if u.New.Kind != format.SessionValue {
			continue
		}
		if err := t.store.SetLatestAt(u.New.ID, diff.Amended); err != nil {
			return done, err
		}
	}
	if err := t.Refresh(diff.Amended); err != nil {
		return done, err
	}
	if err := t.restoreCovers(r.Op.Number, ops); err != nil {
		return done, err
	}
	if err := t.FitBranches(op, r.Op, diff.Epochs); err != nil {
		return done, err
	}
	return done, t.store.Commit(op)
}

// compareBranch adds to diff what lies between two values of a branch. What an open child gets back
// behind its frontier does not come back to the forest: a parent had graduated it meanwhile, and
// has lost it again.
func (t *Tx) compareBranch(diff *Difference, name string, now, want format.Value) error {
	own := NewDifference()
	if err := t.Compare(own, now.ID, want.ID); err != nil {
		return err
	}
	session, branch, _ := history.BranchOfRef(name)
	fork, err := t.ForkOf(session, branch, want)
	if err != nil {
		return err
	}
	for id := range own.Coming {
		if fork.IsZero() {
			break
		}
		e, err := t.Header(id)
		if err != nil {
			return err
		}
		if e.Seq > want.Frontier {
			delete(own.Coming, id)
		}
	}
	diff.add(own)
	return nil
}

// operationsOf returns the operations that move refs of a session, newest first, up to the first
// for which find returns a target.
func (t *Tx) operationsOf(
	session string, find func([]refs.Record) *refs.Record,
) (ops []refs.Record, target *refs.Record, err error) {
	err = t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		if !movesSession(r.Op, session) {
			return true
		}
		ops = append(ops, r)
		target = find(ops)
		return target == nil
	})
	return ops, target, err
}

// movesSession reports whether an operation moves refs of a session. Shared state belongs to the
// session that set it.
func movesSession(op *format.Operation, session string) bool {
	for _, u := range op.Refs {
		if strings.HasPrefix(u.Name, "sessions/"+session+"/") ||
			strings.HasPrefix(u.Name, "epochs/"+session+"/") ||
			isStateRef(u.Name) && op.Session == session {
			return true
		}
	}
	return false
}

// undoRule returns how undo treats an operation. Undo refuses a verb that is not known.
func undoRule(op *format.Operation) format.UndoRule {
	e, _ := refs.EffectsOf(op)
	return e.Undo
}

// lastDone returns the latest operation that is not taken back, or nil. It passes over undos, what
// they took back, and operations that change no history.
func lastDone(ops []refs.Record) *refs.Record {
	undone := map[uint64]bool{}
	for i := range ops {
		op := ops[i].Op
		switch rule := undoRule(op); {
		case rule == format.UndoIsUndo:
			if !undone[op.Number] {
				undone[op.About] = true
			}
		case rule == format.UndoIsRedo:
			// The redo cancels the undo that it answers.
			if u := undoOf(ops[i+1:], op.About); u != 0 {
				undone[u] = true
			}
		case undone[op.Number] || rule == format.UndoPasses:
		default:
			return &ops[i]
		}
	}
	return nil
}

// undoOf returns the number of the latest undo of an operation, or 0. ops are newest first.
func undoOf(ops []refs.Record, about uint64) uint64 {
	for _, r := range ops {
		if undoRule(r.Op) == format.UndoIsUndo && r.Op.About == about {
			return r.Op.Number
		}
	}
	return 0
}

// lastUndone returns the operation that redo repeats: that of the latest undo without a redo. It
// returns nil if another change of history has followed.
func lastUndone(ops []refs.Record) *refs.Record {
	redone := map[uint64]int{}
	for i := range ops {
		op := ops[i].Op
		switch undoRule(op) {
		case format.UndoPasses:
		case format.UndoIsRedo:
			redone[op.About]++
		case format.UndoIsUndo:
			if redone[op.About] > 0 {
				redone[op.About]--
				continue
			}
			for j := range ops {
				if ops[j].Op.Number == op.About {
					return &ops[j]
				}
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}

package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// Undone is the result of Undo and Redo.
type Undone struct {
	Operation uint64 `json:"operation"` // the one taken back, or repeated
	Verb      string `json:"verb"`      // of that one
	Called    string `json:"-"`         // that one in the words of the command that makes it
	Retracted int    `json:"retracted"` // entries that left the forest
	Restored  int    `json:"restored"`  // entries that came back to it
	Left      int    `json:"left"`      // messages that left the branches of the session
	Back      int    `json:"back"`      // messages that came back to them
	Passed    []Step `json:"passed"`    // later operations that stay as they are, newest first
}

// Step is an operation by its number and its verb.
type Step struct {
	Operation uint64 `json:"operation"`
	Verb      string `json:"verb"`
	Called    string `json:"-"` // in the words of the command that makes it
}

// Undo takes back the last operation of a session that is not yet taken back. Refs return to their
// earlier values. The forest goes forward: entries that leave the session are retracted, and
// entries that return get back to their places. Operations that change no history stay; Undo passes
// over them.
func (s *Writer) Undo(ctx context.Context, session string) (Undone, error) {
	return s.apply(ctx, session, refs.VerbUndo, (*Tx).checkNoForget)
}

// UndoMeant is Undo for a person, who may mean another operation than the one that Undo takes back.
// It returns a *NotMeantError if Undo would pass over a compaction, an eviction or a choice of the
// session, or right after a forget, unless number is that of the operation that Undo takes back.
// Zero names none. chosen says that the person has named the session: else the last change of
// another one may be meant.
func (s *Writer) UndoMeant(
	ctx context.Context, session string, number uint64, chosen bool,
) (Undone, error) {
	return s.apply(ctx, session, refs.VerbUndo, func(t *Tx, u *Undone) error {
		target := Step{u.Operation, u.Verb, u.Called}
		if number == u.Operation {
			return nil
		}
		if number != 0 {
			return &NotMeantError{Meant: Step{Operation: number}, Target: target}
		}
		switch last, err := t.lastForget(); {
		case err != nil:
			return err
		case last != nil:
			return &NotMeantError{Meant: t.stepOf(last), Target: target}
		}
		for _, p := range u.Passed {
			if !mayBeMeant(p.Verb) {
				continue
			}
			meant := &NotMeantError{Meant: p, Target: target}
			if chosen {
				return meant
			}
			return cmp.Or(t.isOfAnother(session, p, target), error(meant))
		}
		if chosen {
			return nil
		}
		return t.isOfAnother(session, target, target)
	})
}

// isOfAnother returns a *NotMeantError if the last change after a step that undo can take back is
// of another session than that of target, and somebody has made it by a command: what agents said
// meanwhile is not meant.
func (t *Tx) isOfAnother(session string, after, target Step) (meant error) {
	redone, back := map[uint64]int{}, map[uint64]bool{} // by the operation that was taken back
	return cmp.Or(t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		op := r.Op
		switch {
		case op.Number <= after.Operation:
			return false
		case op.Effects.Undo == format.UndoIsRedo:
			redone[op.About]++
			return true
		case op.Effects.Undo == format.UndoIsUndo && redone[op.About] > 0:
			redone[op.About]--
			return true
		case op.Effects.Undo == format.UndoIsUndo:
			back[op.About] = true
			return true
		case op.Effects.Undo == format.UndoPasses, op.Verb == refs.VerbImport,
			op.Verb == refs.VerbObserve, back[op.Number]:
			return true
		case op.Session != "" && op.Session != session && op.Effects.Undo == format.UndoTakes:
			meant = &NotMeantError{Meant: t.stepOf(op), Session: op.Session,
				Target: target}
		}
		return false
	}), meant)
}

// stepOf returns an operation as a step.
func (t *Tx) stepOf(op *format.Operation) Step {
	return Step{op.Number, op.Verb, t.called(op)}
}

// called returns what a person calls an operation: the words of the command that makes it.
func (t *Tx) called(op *format.Operation) string {
	switch op.Verb {
	case refs.VerbSessionRm, refs.VerbSessionLink, refs.VerbSessionUse:
		return strings.Replace(op.Verb, "-", " ", 1)
	case refs.VerbState:
		return "session state"
	case refs.VerbFork, refs.VerbJoin:
		return "branch " + op.Verb
	}
	for _, u := range op.Refs {
		switch {
		case op.Verb == refs.VerbAbout:
			was, _ := t.AboutAt(u.Old.ID) // of one that is gone nothing is known
			is, _ := t.AboutAt(u.New.ID)
			return "session " + is.ChangeOf(&was)
		case op.Verb != refs.VerbAppend:
		case strings.HasPrefix(u.Name, history.OriginRefs):
			return "session fork"
		case u.New.Kind == format.SessionValue:
			e, err := t.Header(u.New.ID)
			if err == nil && e.Kind == format.KindNote && len(op.Refs) == 1 {
				return "note"
			}
		}
	}
	return op.Verb
}

// NotMeantError says that an undo would take back Target where Meant may have been meant, which is
// of another Session if that is not "". It is an ErrRefused.
type NotMeantError struct {
	Meant, Target Step
	Session       string
}

func (e *NotMeantError) Error() string {
	switch {
	case e.Meant.Verb == "":
		return fmt.Sprintf("%v: operation %d is not the one that undo takes back: that is operation "+
			"%d (%s)", history.ErrRefused, e.Meant.Operation, e.Target.Operation, e.Target.Called)
	case e.Session != "":
		return fmt.Sprintf("%v: the last change is operation %d (%s) of session %s, and not "+
			"operation %d (%s)", history.ErrRefused, e.Meant.Operation, e.Meant.Called,
			e.Session, e.Target.Operation, e.Target.Called)
	}
	return fmt.Sprintf("%v: undo cannot take back operation %d (%s), which is newer than "+
		"operation %d (%s)", history.ErrRefused, e.Meant.Operation, e.Meant.Called,
		e.Target.Operation, e.Target.Called)
}

// Unwrap returns ErrRefused.
func (e *NotMeantError) Unwrap() error { return history.ErrRefused }

// Redo repeats the operation that the last undo of a session took back, if nothing else has
// happened in the session since.
func (s *Writer) Redo(ctx context.Context, session string) (Undone, error) {
	return s.apply(ctx, session, refs.VerbRedo, (*Tx).checkNoForget)
}

// apply is Undo or Redo, as the verb says. may can refuse what is about to be done.
func (s *Writer) apply(
	ctx context.Context, session, verb string, may func(*Tx, *Undone) error,
) (Undone, error) {
	done, err := s.applyOne(ctx, session, verb, may)
	if err == nil && done.Verb == refs.VerbSessionRm {
		err = s.applyToWorkers(ctx, session, verb, &done)
	}
	return done, err
}

// applyOne is apply without the sessions that work for the session.
func (s *Writer) applyOne(
	ctx context.Context, session, verb string, may func(*Tx, *Undone) error,
) (Undone, error) {
	return store.Do(ctx, s.Room, func(t *Tx) (done Undone, err error) {
		if err := history.CheckOwn(t.store.View, session); err != nil {
			return done, err
		}
		find := lastDone
		if verb == refs.VerbRedo {
			find = lastUndone
		}
		ops, passed, target, err := t.operationsOf(session, find)
		if err == nil && target != nil {
			err = checkUndoable(target.Op)
		}
		if err != nil {
			return done, err
		}
		if main := t.store.View.Get(history.RefName(session, history.MainBranch)); target == nil &&
			len(ops) == 0 && !main.Exists() {
			return done, history.UnknownSession(session, history.MainBranch)
		}
		if target == nil {
			return done, fmt.Errorf("%w: nothing to %s in session %q", history.NoStep, verb,
				history.Clip(session))
		}
		step := t.stepOf(target.Op)
		done = Undone{Operation: step.Operation, Verb: step.Verb, Called: step.Called,
			Passed: []Step{}}
		if verb == refs.VerbUndo {
			done.Passed = notPassedBefore(passed, ops)
		}
		if err := may(t, &done); err != nil {
			return done, err
		}
		err = t.applyInverse(session, verb, *target, ops, &done)
		return done, err
	})
}

// checkNoForget refuses an undo right after a forget. A forget cannot be taken back, and the
// operation before it is not the one that the caller means.
func (t *Tx) checkNoForget(*Undone) error {
	last, err := t.lastForget()
	if err != nil || last == nil {
		return err
	}
	return fmt.Errorf("%w: operation %d was to forget, and cannot be taken back: %w",
		history.ErrRefused, last.Number, history.ErrAfterForget)
}

// lastForget returns the last operation of the store if it forgot something; else nil.
func (t *Tx) lastForget() (last *format.Operation, err error) {
	err = t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		last = r.Op
		return last.Verb == refs.VerbCheckpoint
	})
	if last != nil && !last.Effects.Forgets {
		last = nil
	}
	return last, err
}

// checkUndoable returns ErrRefused for an operation that cannot be taken back.
func checkUndoable(op *format.Operation) error {
	if op.Effects.Undo != format.UndoTakes {
		return fmt.Errorf("%w: operation %d (%s) cannot be taken back", history.ErrRefused,
			op.Number, op.Verb)
	}
	return nil
}

// applyInverse moves the refs of a session to their values before (undo) or after (redo) an
// operation. ops are the operations of the session, newest first.
func (t *Tx) applyInverse(
	session, verb string, r refs.Record, ops []refs.Record, done *Undone,
) error {
	op := &format.Operation{Verb: verb, Session: session, About: r.Op.Number}
	diff := NewDifference()
	for _, u := range r.Op.Refs {
		want, expected := u.Old, u.New
		if verb == refs.VerbRedo {
			want, expected = u.New, u.Old
		}
		now := t.store.View.Get(u.Name)
		switch {
		case u.Name == "HEAD":
			if r.Op.Effects.Removes && now == expected && now != want {
				op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
			}
		case isStateRef(u.Name):
			if now != expected {
				return fmt.Errorf("%w: %s has changed since operation %d", history.ErrStale,
					u.Name, r.Op.Number)
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
		case !strings.HasPrefix(u.Name, "sessions/"+session+"/"):
		default:
			if same, err := t.epochs.SameButFolds(now.ID, expected.ID); err != nil {
				return err
			} else if !same {
				return fmt.Errorf("%w: %s has moved since operation %d", history.ErrStale,
					u.Name, r.Op.Number)
			}
			if err := t.compareBranch(diff, u.Name, now, want); err != nil {
				return fmt.Errorf("%w: %w", history.ErrGone, err)
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
		}
	}
	before, after := t.tipsAround(session, op)
	var left, back error
	done.Left, left = t.said(diff, diff.Leaving, after)
	done.Back, back = t.said(diff, diff.Coming, before)
	if err := errors.Join(left, back); err != nil {
		return err
	}
	if err := t.moveMembers(op, diff, ops, done); err != nil {
		return err
	}
	for _, u := range op.Refs {
		if u.New.Kind != format.SessionValue {
			continue
		}
		if err := t.store.SetLatestAt(u.New.ID, diff.Amended); err != nil {
			return err
		}
	}
	if err := t.Refresh(diff.Amended); err != nil {
		return err
	}
	if err := t.restoreCovers(r.Op.Number, ops); err != nil {
		return err
	}
	if err := t.FitBranches(op, diff.Epochs); err != nil {
		return err
	}
	return t.store.Commit(op)
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
// for which find returns a target. passed are the later operations that an undo says it leaves as
// they are.
func (t *Tx) operationsOf(
	session string, find func([]refs.Record) *refs.Record,
) (ops []refs.Record, passed []Step, target *refs.Record, err error) {
	err = t.Refs.Backward(t.store.View, func(r refs.Record) bool {
		if staysSaid(r.Op.Verb) && (r.Op.Session == "" || r.Op.Session == session) {
			passed = append(passed, t.stepOf(r.Op))
		}
		if !movesSession(r.Op, session) {
			return true
		}
		ops = append(ops, r)
		target = find(ops)
		return target == nil
	})
	return ops, passed, target, err
}

// staysSaid reports whether an undo says that it leaves the operations of a verb as they are. It
// does not say so of those that other commands make on their way.
func staysSaid(verb string) bool {
	return mayBeMeant(verb) || verb == refs.VerbPull || verb == refs.VerbUpdateRef
}

// mayBeMeant reports whether somebody who undoes the last change may mean an operation of a verb,
// which undo cannot take back: it changes what the session shows, or which one commands show.
func mayBeMeant(verb string) bool {
	return verb == refs.VerbCompact || verb == refs.VerbEvict || verb == refs.VerbSessionUse
}

// notPassedBefore returns the steps that the undos of a session have not passed over yet: those
// older than all that they took back. ops are newest first.
func notPassedBefore(passed []Step, ops []refs.Record) []Step {
	oldest := uint64(math.MaxUint64)
	for number := range takenBack(ops) {
		oldest = min(oldest, number)
	}
	list := []Step{}
	for _, p := range passed {
		if p.Operation < oldest {
			list = append(list, p)
		}
	}
	return list
}

// movesSession reports whether an operation moves refs of a session. Shared state belongs to the
// session that set it.
func movesSession(op *format.Operation, session string) bool {
	return slices.ContainsFunc(op.Refs, func(u format.RefUpdate) bool {
		return strings.HasPrefix(u.Name, "sessions/"+session+"/") ||
			strings.HasPrefix(u.Name, "epochs/"+session+"/") ||
			isStateRef(u.Name) && op.Session == session
	})
}

// lastDone returns the latest operation that is not taken back, or nil. It passes over undos, what
// they took back, and operations that change no history.
func lastDone(ops []refs.Record) *refs.Record {
	back := takenBack(ops)
	for i := range ops {
		op := ops[i].Op
		switch op.Effects.Undo {
		case format.UndoIsUndo, format.UndoIsRedo, format.UndoPasses:
		default:
			if !back[op.Number] {
				return &ops[i]
			}
		}
	}
	return nil
}

// takenBack returns the numbers of the operations that undos took back and no redo repeated. ops
// are newest first.
func takenBack(ops []refs.Record) map[uint64]bool {
	back, answered := map[uint64]bool{}, map[uint64]bool{}
	for i := range ops {
		switch op := ops[i].Op; op.Effects.Undo {
		case format.UndoIsUndo:
			if !answered[op.Number] {
				back[op.About] = true
			}
		case format.UndoIsRedo:
			// The redo cancels the undo that it answers.
			answered[undoOf(ops[i+1:], op.About)] = true
		}
	}
	return back
}

// undoOf returns the number of the latest undo of an operation, or 0. ops are newest first.
func undoOf(ops []refs.Record, about uint64) uint64 {
	for _, r := range ops {
		if r.Op.Effects.Undo == format.UndoIsUndo && r.Op.About == about {
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
		switch op.Effects.Undo {
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

package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// ErrRefused says that an operation is not one that can be taken back.
var ErrRefused = errors.New("refused")

// Undone is what Undo and Redo report.
type Undone struct {
	Operation uint64 // the one taken back, or brought back
	Verb      string // of that one
	Retracted int    // entries that left the forest
	Restored  int    // entries that came back to it
}

// Undo takes back the last operation of a session that is not taken back yet. Refs return to the values they had, by the values they have now; the
// shared forest goes on: entries that leave the session are retracted, entries that come back return to the places they left.
func (s *Store) Undo(ctx context.Context, session string) (Undone, error) {
	return s.turn(ctx, session, refs.VerbUndo)
}

// Redo brings back the operation that the last undo of a session took back, if nothing else has happened in the session since.
func (s *Store) Redo(ctx context.Context, session string) (Undone, error) {
	return s.turn(ctx, session, refs.VerbRedo)
}

func (s *Store) turn(ctx context.Context, session, verb string) (Undone, error) {
	var done Undone
	err := s.locked(ctx, func(t *tx) error {
		if err := t.afterForget(verb); err != nil {
			return err
		}
		find := lastDone
		if verb == refs.VerbRedo {
			find = lastUndone
		}
		ops, target, err := t.operationsOf(session, find)
		if err == nil && target != nil {
			err = mayTurn(target.Op)
		}
		if err != nil {
			return err
		}
		if target == nil {
			return fmt.Errorf("%w: nothing to %s in session %q", ErrNotFound, verb, clip(session))
		}
		done, err = t.turnOne(session, verb, *target, ops)
		return err
	})
	return done, err
}

// afterForget refuses to take back the operation that was last where that one forgot something: nothing brings it back, and what was done before is not
// what whoever asks means.
func (t *tx) afterForget(verb string) error {
	var last *format.Operation
	err := t.Refs.Backward(t.view, func(r refs.Record) bool {
		last = r.Op
		return last.Verb == refs.VerbCheckpoint
	})
	if err != nil || last == nil || !forgets(last) {
		return err
	}
	return fmt.Errorf("%w: operation %d was to forget, and cannot be taken back: nothing to %s", ErrRefused, last.Number, verb)
}

// operationsOf reads the operations that move a session's refs, newest first, until find has one among them. It returns those read.
func (t *tx) operationsOf(session string, find func([]refs.Record) *refs.Record) (ops []refs.Record, target *refs.Record, err error) {
	err = t.Refs.Backward(t.view, func(r refs.Record) bool {
		if !movesSession(r.Op, session) {
			return true
		}
		ops = append(ops, r)
		target = find(ops)
		return target == nil
	})
	return ops, target, err
}

// movesSession reports whether an operation moves refs of a session. State is of the session that set it, whoever shares it.
func movesSession(op *format.Operation, session string) bool {
	for _, u := range op.Refs {
		if strings.HasPrefix(u.Name, "sessions/"+session+"/") || strings.HasPrefix(u.Name, "epochs/"+session+"/") ||
			isStateRef(u.Name) && op.Session == session {
			return true
		}
	}
	return false
}

// forgets reports whether an operation erased words.
func forgets(op *format.Operation) bool {
	e, _ := refs.EffectOf(op.Verb)
	return e.Forgets
}

// undoRule returns what undo does about an operation. For a verb that is not known that is to refuse.
func undoRule(op *format.Operation) refs.UndoRule {
	e, _ := refs.EffectOf(op.Verb)
	return e.Undo
}

// mayTurn returns ErrRefused for an operation that cannot be taken back.
func mayTurn(op *format.Operation) error {
	e, known := refs.EffectOf(op.Verb)
	switch {
	case !known:
		return fmt.Errorf("%w: this version does not know what operation %d (%s) did", ErrRefused, op.Number, op.Verb)
	case e.Undo != refs.UndoTakes:
		return fmt.Errorf("%w: operation %d (%s) cannot be taken back", ErrRefused, op.Number, op.Verb)
	}
	return nil
}

// lastDone returns the newest operation that is not taken back: the one for undo, or one that undo must not go past. It passes over undos, what they
// took back, and operations that change no history.
func lastDone(ops []refs.Record) *refs.Record {
	undone := map[uint64]bool{}
	for i := range ops {
		op := ops[i].Op
		switch rule := undoRule(op); {
		case rule == refs.UndoIsUndo:
			if !undone[op.Number] {
				undone[op.About] = true
			}
		case rule == refs.UndoIsRedo:
			// A redo brought back what an undo took: that undo counts no more.
			if u := undoOf(ops[i+1:], op.About); u != 0 {
				undone[u] = true
			}
		case undone[op.Number] || rule == refs.UndoPasses:
		default:
			return &ops[i]
		}
	}
	return nil
}

// undoOf returns the newest undo of an operation among ops.
func undoOf(ops []refs.Record, about uint64) uint64 {
	for _, r := range ops {
		if undoRule(r.Op) == refs.UndoIsUndo && r.Op.About == about {
			return r.Op.Number
		}
	}
	return 0
}

// lastUndone returns what redo brings back: the operation of the newest undo that no redo answers, as long as nothing follows it that changes history
// but undos and redos.
func lastUndone(ops []refs.Record) *refs.Record {
	redone := map[uint64]int{}
	for i := range ops {
		op := ops[i].Op
		switch undoRule(op) {
		case refs.UndoPasses:
		case refs.UndoIsRedo:
			redone[op.About]++
		case refs.UndoIsUndo:
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

// turnOne moves the session's refs to the values before (undo) or after (redo) an operation.
func (t *tx) turnOne(session, verb string, r refs.Record, ops []refs.Record) (Undone, error) {
	done := Undone{Operation: r.Op.Number, Verb: r.Op.Verb}
	op := &format.Operation{Verb: verb, Session: session, About: r.Op.Number}
	effect, _ := refs.EffectOf(r.Op.Verb)
	turn := &turned{leaving: map[format.ID]bool{}, coming: map[format.ID]bool{}}
	for _, u := range r.Op.Refs {
		want, expected := u.Old, u.New
		if verb == refs.VerbRedo {
			want, expected = u.New, u.Old
		}
		now := t.view.Get(u.Name)
		switch {
		case u.Name == "HEAD":
			if effect.Removes && now == expected && now != want {
				op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
			}
		case isStateRef(u.Name):
			if now != expected {
				return done, fmt.Errorf("%w: %s has changed since operation %d", ErrStale, u.Name, r.Op.Number)
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
		case !strings.HasPrefix(u.Name, "sessions/"+session+"/"):
		default:
			if same, err := t.sameButFolds(now.ID, expected.ID); err != nil {
				return done, err
			} else if !same {
				return done, fmt.Errorf("%w: %s has moved since operation %d", ErrStale, u.Name, r.Op.Number)
			}
			if err := t.between(turn, now.ID, want.ID); err != nil {
				return done, fmt.Errorf("%w: %w", ErrGone, err)
			}
			op.Refs = append(op.Refs, format.RefUpdate{Name: u.Name, Old: now, New: want})
		}
	}
	if err := t.moveMembers(op, turn, ops, &done); err != nil {
		return done, err
	}
	for _, u := range op.Refs {
		if u.New.Kind != format.SessionValue {
			continue
		}
		if err := t.becomeAt(u.New.ID, turn.amended); err != nil {
			return done, err
		}
	}
	if err := t.refresh(turn.amended); err != nil {
		return done, err
	}
	if err := t.returnCovers(r.Op.Number, ops); err != nil {
		return done, err
	}
	var told []format.RefUpdate
	for i := range op.Refs {
		leaves, err := t.fitValue(&op.Refs[i])
		if err != nil {
			return done, err
		}
		u, moved, err := t.turnEpoch(r.Op, &op.Refs[i], leaves, turn.epochs)
		if err != nil {
			return done, err
		}
		if moved {
			told = append(told, u)
		}
	}
	op.Refs = append(op.Refs, told...)
	if len(t.decided) > 0 {
		if err := t.writeForests(); err != nil {
			return done, err
		}
	}
	return done, t.commit(op)
}

// turned is what an undo or a redo leaves behind and comes back to.
type turned struct {
	leaving, coming map[format.ID]bool
	amended         []format.ID // messages that have another newest version then
	epochs          bool        // something that was told is among them
}

// between adds what lies between two tips of a branch.
func (t *tx) between(turn *turned, from, to format.ID) error {
	base, err := t.Base(from, to)
	if err != nil {
		return err
	}
	collect := func(tip format.ID, ids map[format.ID]bool) error {
		return t.back(tip, func(id format.ID, e *format.Entry) bool {
			if id == base {
				return false
			}
			ids[id] = true
			turn.epochs = turn.epochs || e.Kind == format.KindEpoch
			if e.Kind == format.KindAmend {
				turn.amended = append(turn.amended, e.Amends)
			}
			return true
		})
	}
	leaving, coming := map[format.ID]bool{}, map[format.ID]bool{}
	if err := errors.Join(collect(from, leaving), collect(to, coming)); err != nil {
		return err
	}
	// What joins brought to both is not among what they have in common.
	for id := range leaving {
		if coming[id] {
			delete(coming, id)
		} else {
			turn.leaving[id] = true
		}
	}
	maps.Copy(turn.coming, coming)
	return nil
}

// ErrGone says that what is named was forgotten, or went with a session that was removed.
var ErrGone = errors.New("gone")

// moveMembers retracts what is left behind and restores what comes back.
func (t *tx) moveMembers(op *format.Operation, turn *turned, ops []refs.Record, done *Undone) error {
	n, err := t.retract(turn.leaving, op.Session, op.Refs...)
	if err != nil {
		return err
	}
	done.Retracted = n
	if len(turn.coming) == 0 {
		return nil
	}
	for _, name := range t.forests() {
		back, err := t.returnTo(name, maps.Clone(turn.coming), ops)
		if err != nil {
			return err
		}
		if name == MainForest {
			done.Restored = len(back)
			err = t.returnFlat(back)
		}
		if err != nil {
			return err
		}
	}
	if done.Restored > 0 {
		t.cands = nil
	}
	return nil
}

// returnTo restores what comes back to a forest, by the retracts in ops, newest first.
func (t *tx) returnTo(name string, coming map[format.ID]bool, ops []refs.Record) (all []format.Decision, err error) {
	st, err := t.forestOf(name)
	if err != nil {
		return nil, err
	}
	for _, r := range ops {
		var left []format.Decision
		for _, f := range r.Op.Forests {
			for _, d := range f.Decisions {
				if f.Name == name && d.Kind == format.DecideRetract && coming[d.ID] {
					left = append(left, d)
					delete(coming, d.ID)
				}
			}
		}
		back, err := st.Return(left)
		if err != nil {
			return nil, err
		}
		if err := t.decideIn(name, back...); err != nil {
			return nil, err
		}
		all = append(all, back...)
	}
	return all, nil
}

// fitValue makes an old value of a branch hold in the forest as it is now: the frontier is past every member and no further, and a pin whose
// forest is gone, or that stands for messages which are not there, gives way to the newest forest: the branch leaves.
func (t *tx) fitValue(u *format.RefUpdate) (leaves bool, err error) {
	if u.New.Kind != format.SessionValue {
		return false, nil
	}
	frontier, err := t.frontierOf(u.Old, u.New)
	if err != nil {
		return false, err
	}
	session, branch, _ := branchOfRef(u.Name)
	fork, err := t.forkOf(session, branch, u.New)
	if err != nil {
		return false, err
	}
	if !fork.IsZero() {
		frontier = min(frontier, u.New.Frontier) // what an open child says is nobody's before the join, whoever else has it already
	}
	u.New.Frontier = frontier
	if u.New.Pin.IsZero() {
		u.New.Through = 0
		return false, nil
	}
	there, err := t.Objects.Has(u.New.Pin)
	if err != nil {
		return false, err
	}
	if there && u.New.Through <= u.New.Frontier {
		return false, nil
	}
	u.New.Through = min(u.New.Through, u.New.Frontier)
	tip, err := t.entry(u.New.ID)
	if err != nil {
		return false, err
	}
	u.New, err = t.leave(u.New, tip.Seq)
	return true, err
}

// turnEpoch has the ref of a branch's epoch follow the branch to where an undo or a redo of an operation brings it. Without epochs nothing that was told lies
// between, and no history is read for it. Where the branch leaves there, its epoch is folded on top of that.
func (t *tx) turnEpoch(of *format.Operation, u *format.RefUpdate, leaves, epochs bool) (told format.RefUpdate, moved bool, err error) {
	session, branch, ok := branchOfRef(u.Name)
	name := EpochRef(session, branch)
	if !ok || !t.view.Get(name).Exists() && !slices.Contains(of.RefNames(), name) {
		return told, false, nil // it has no epoch, and had none
	}
	id := t.view.Get(name).ID
	if epochs {
		id, err = t.inForce(u.New.ID)
	}
	if err == nil && leaves {
		var e *format.Entry
		if e, err = t.entry(u.New.ID); err == nil {
			u.New, id, err = t.fold(session, u.New, e.Seq, id)
		}
	}
	told, moved = t.epochTo(session, branch, id)
	return told, moved, err
}

// branchOfRef splits the name of a branch's ref.
func branchOfRef(name string) (session, branch string, ok bool) {
	rest, ok := strings.CutPrefix(name, "sessions/")
	session, branch, cut := strings.Cut(rest, "/")
	return session, branch, ok && cut
}

// frontierOf returns the seq up to which every message of a branch at its wanted value is a member. It looks at those alone that came back, or that
// the branch as it is now had not graduated.
func (t *tx) frontierOf(now, want format.Value) (uint64, error) {
	members, err := t.commonMembers(now, want)
	if err != nil {
		return 0, err
	}
	var list []entryAt
	ids := map[format.ID]bool{}
	err = t.back(want.ID, func(id format.ID, e *format.Entry) bool {
		// What comes back may have graduated in a later operation than the one that is brought back: nothing but the forest knows.
		if e.Kind == format.KindMessage && e.Seq > members {
			list = append(list, entryAt{id, e})
			ids[id] = true
		}
		return e.Seq > members
	})
	if err != nil || len(list) == 0 {
		return members, err
	}
	st, err := t.forest()
	if err != nil {
		return 0, err
	}
	found, err := st.Find(ids)
	if err != nil {
		return 0, err
	}
	for _, at := range slices.Backward(list) {
		if _, ok := found[at.id]; !ok {
			break // a later one may be a member since another branch has it, too
		}
		members = at.e.Seq
	}
	return members, nil
}

// commonMembers is the seq up to which what two values of a branch have in common has graduated.
func (t *tx) commonMembers(now, want format.Value) (uint64, error) {
	base, err := t.Base(now.ID, want.ID)
	if err != nil || base.IsZero() {
		return 0, err
	}
	e, err := t.entry(base)
	if err != nil {
		return 0, err
	}
	return min(now.Frontier, e.Seq), nil
}

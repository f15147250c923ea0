package epochs

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// EpochRef is the name of the ref of a branch's epoch. It follows the branch: it names what the
// nearest epoch entry on the branch's own line does, and is moved in the operation that moves the
// branch.
func EpochRef(session, branch string) string { return "epochs/" + session + "/" + branch }

// EpochRef says what the ref of a branch's epoch must become when the branch comes to stand at tip,
// which is in the history of one of the session's branches, or new on top of it; moved is false
// where it stays as it is. The update goes into the operation that moves the branch.
func (t *Tx) EpochRef(session, branch string, tip format.ID) (u format.RefUpdate, moved bool, err error) {
	var id format.ID
	// Without a ref in the session nothing was ever observed in it, and no history need be read.
	if len(t.store.View.Names("epochs/"+session+"/")) > 0 {
		if id, err = t.InForce(tip); err != nil {
			return u, false, err
		}
	}
	u, moved = t.EpochTo(session, branch, id)
	return u, moved, nil
}

// EpochTo returns the update that sets the ref of a branch's epoch to id; to nothing where id is
// zero.
func (t *Tx) EpochTo(session, branch string, id format.ID) (u format.RefUpdate, moved bool) {
	name := EpochRef(session, branch)
	u = format.RefUpdate{Name: name, Old: t.store.View.Get(name)}
	if !id.IsZero() {
		u.New = format.Value{Kind: format.ObjectValue, ID: id}
	}
	return u, u.Old != u.New
}

// InForce returns the epoch of the newest epoch entry on the line that ends at tip; zero where
// there is none. Joined entries do not count: they told others.
func (t *Tx) InForce(tip format.ID) (format.ID, error) {
	for e, err := range history.Line(tip, t.store.EntryNow) {
		if err != nil {
			return format.ID{}, err
		}
		if e.Kind == format.KindEpoch {
			return e.Epoch, nil
		}
	}
	return format.ID{}, nil
}

// HidesUpdates reports whether a branch that stands at tip was told something in force before its
// through, where nothing of the tail is shown: it stands before the leave that made a block of
// that.
func (t *Tx) HidesUpdates(tip format.ID, through uint64) (bool, error) {
	if through == 0 {
		return false, nil
	}
	for e, err := range history.Line(tip, t.store.EntryNow) {
		if err != nil {
			return false, err
		}
		if e.Kind != format.KindEpoch {
			continue
		}
		told, _, err := t.EpochObject(e.Epoch)
		switch {
		case history.IsLost(err):
			return false, nil
		case err != nil:
			return false, err
		case told.Step != format.EpochUpdate:
			return false, nil // its block says it all
		case e.Seq < through:
			return true, nil
		}
	}
	return false, nil
}

// epochForFork gives a branch that starts at an entry in the past of another one what that one was
// told since: the epoch entry that the new branch begins with, on top of at, is to name the epoch
// that is returned. It is zero where the branch needs no such entry, since what was in force at
// that entry still is. Its updates up to there stay where they are, as they were sent.
func (t *Tx) epochForFork(session, parent string, at format.ID) (format.ID, error) {
	newest := t.store.View.Get(EpochRef(session, parent)).ID
	if newest.IsZero() {
		return newest, nil
	}
	then, err := t.InForce(at)
	if err != nil || then == newest {
		return format.ID{}, err
	}
	e, _, err := t.EpochObject(newest)
	if err = history.ButGone(err); err != nil {
		return format.ID{}, fmt.Errorf("cannot read the epoch of %s/%s: %w", session, parent, err)
	}
	raw, err := epoch.Object(epoch.Fork(e), "")
	if err != nil {
		return format.ID{}, err
	}
	return t.store.Add(raw), nil
}

// EpochOfLine is epochForFork for a branch that starts at a value: it puts the epoch entry on top
// where there has to be one, and folds where the branch adopts a forest. It returns the value of
// the new branch and the epoch in force.
func (t *Tx) EpochOfLine(session, parent string, v format.Value, seq uint64, adopts bool) (format.Value, format.ID, error) {
	inForce, err := t.epochForFork(session, parent, v.ID)
	if err != nil {
		return v, inForce, err
	}
	if inForce.IsZero() {
		inForce = t.store.View.Get(EpochRef(session, parent)).ID
	} else {
		c := &store.Controlled{Head: &history.Head{Session: session, Value: v, Seq: seq}}
		if err := t.store.OnTop(c, &format.Entry{Kind: format.KindEpoch, Epoch: inForce}, nil, ""); err != nil {
			return v, inForce, err
		}
		v = c.Value
	}
	if !adopts {
		return v, inForce, nil
	}
	if err := t.store.Flush(); err != nil { // what is folded may be in it
		return v, inForce, err
	}
	return t.Fold(session, v, seq, inForce)
}

// Fold begins a new epoch where a branch adopts a forest: the block and all updates since become
// the new block. It puts an epoch entry on top of the branch, which has seq messages, and returns
// the branch's new value and the epoch in force. Without an update both stay as they were. Fold
// leaves an epoch alone that cannot be read: the next observation replaces it, and an adoption does
// not wait for that.
func (t *Tx) Fold(session string, v format.Value, seq uint64, inForce format.ID) (format.Value, format.ID, error) {
	if inForce.IsZero() {
		return v, inForce, nil
	}
	e, _, err := t.EpochObject(inForce)
	if history.IsLost(err) {
		t.Report(fmt.Errorf("epoch of %s is not folded: %w", session, err))
		return v, inForce, nil
	}
	if err != nil {
		return v, inForce, err
	}
	next := epoch.Fold(e)
	if next == nil {
		return v, inForce, nil
	}
	raw, err := epoch.Object(next, "")
	if err != nil {
		return v, inForce, err
	}
	c := &store.Controlled{Head: &history.Head{Session: session, Value: v, Seq: seq}}
	if err := t.store.OnTop(c, &format.Entry{Kind: format.KindEpoch, Epoch: t.store.Add(raw)}, nil, ""); err != nil {
		return v, inForce, err
	}
	return c.Value, raw.ID(), nil
}

// FoldAt is Fold for a branch whose epoch does not move otherwise, and returns the update of its
// ref.
func (t *Tx) FoldAt(session, branch string, v format.Value, seq uint64) (format.Value, []format.RefUpdate, error) {
	v, id, err := t.Fold(session, v, seq, t.store.View.Get(EpochRef(session, branch)).ID)
	if err != nil {
		return v, nil, err
	}
	if u, moved := t.EpochTo(session, branch, id); moved {
		return v, []format.RefUpdate{u}, nil
	}
	return v, nil, nil
}

// beforeFolds returns the newest entry at or before id that no adoption put there. An undo does not
// take back an adoption alone: it goes with the message before it.
func (t *Tx) beforeFolds(id format.ID) (format.ID, error) {
	for e, err := range t.Walk(id, history.OwnLine) {
		if err != nil || e.Kind != format.KindEpoch {
			return e.ID, err
		}
		told, _, err := t.EpochObject(e.Epoch)
		if history.IsLost(err) {
			return e.ID, nil
		}
		if err != nil || told.Step != format.EpochFold {
			return e.ID, err
		}
	}
	return format.ID{}, nil
}

// SameButFolds reports whether two tips differ by nothing but folds.
func (t *Tx) SameButFolds(a, b format.ID) (bool, error) {
	if a == b {
		return true, nil
	}
	a, err := t.beforeFolds(a)
	if err != nil {
		return false, err
	}
	b, err = t.beforeFolds(b)
	return a == b && !a.IsZero(), err
}

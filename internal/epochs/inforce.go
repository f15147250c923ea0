package epochs

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// EpochRef is the name of the ref of a branch's epoch. The ref names the same epoch as the newest
// epoch entry on the branch's own line. The operation that moves the branch also moves this ref.
func EpochRef(session, branch string) string { return "epochs/" + session + "/" + branch }

// EpochRef returns the update of the ref of a branch's epoch for a branch that moves to tip. tip is
// in the history of a branch of the session, or new on top of one. moved is false if the ref stays
// as it is. The caller records the update in the operation that moves the branch.
func (t *Tx) EpochRef(
	session, branch string, tip format.ID,
) (u format.RefUpdate, moved bool, err error) {
	var id format.ID
	// A session without such refs has no epoch entries: its history need not be read.
	if len(t.store.View.Names("epochs/"+session+"/")) > 0 {
		if id, err = t.InForce(tip); err != nil {
			return u, false, err
		}
	}
	u, moved = t.EpochTo(session, branch, id)
	return u, moved, nil
}

// EpochTo returns the update that sets the ref of a branch's epoch to id, or removes the ref if id
// is zero.
func (t *Tx) EpochTo(session, branch string, id format.ID) (u format.RefUpdate, moved bool) {
	name := EpochRef(session, branch)
	u = format.RefUpdate{Name: name, Old: t.store.View.Get(name)}
	if !id.IsZero() {
		u.New = format.Value{Kind: format.ObjectValue, ID: id}
	}
	return u, u.Old != u.New
}

// InForce returns the epoch of the newest epoch entry on the own line of tip; zero if there is
// none. Joined entries do not count, because they were sent to the model of another branch.
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

// HidesUpdates reports whether a branch at tip has an update in force that is not shown, because
// its entry is before through and no later epoch has a block that includes it.
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
			return false, nil // its block includes all updates before it
		case e.Seq < through:
			return true, nil
		}
	}
	return false, nil
}

// epochForFork returns the epoch for a branch that starts at an entry in the past of parent. The
// new branch begins with an epoch entry on top of at that names this epoch, so that it knows the
// updates which parent got since. The id is zero if there were none: the branch then needs no such
// entry. Updates up to at are shown as they were sent.
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

// EpochOfLine gives a branch that starts at v its epoch: it adds the epoch entry of epochForFork if
// the branch needs one, and folds if the branch adopts a forest. It returns the value of the new
// branch and the epoch in force.
func (t *Tx) EpochOfLine(
	session, parent string, v format.Value, seq uint64, adopts bool,
) (format.Value, format.ID, error) {
	inForce, err := t.epochForFork(session, parent, v.ID)
	if err != nil {
		return v, inForce, err
	}
	if inForce.IsZero() {
		inForce = t.store.View.Get(EpochRef(session, parent)).ID
	} else {
		c := &store.Controlled{Head: &history.Head{Session: session, Value: v, Seq: seq}}
		if err := t.store.OnTop(c, &format.Entry{Kind: format.KindEpoch, Epoch: inForce}, nil,
			""); err != nil {
			return v, inForce, err
		}
		v = c.Value
	}
	if !adopts {
		return v, inForce, nil
	}
	if err := t.store.Flush(); err != nil { // Fold may read an entry that is waiting
		return v, inForce, err
	}
	return t.Fold(session, v, seq, inForce)
}

// Fold begins a new epoch when a branch adopts a forest: the block and all updates since become the
// new block. It adds an epoch entry on top of the branch, which has seq messages, and returns the
// new value of the branch and the epoch in force. Both stay as they are if there was no update, or
// if the epoch cannot be read: the next observation replaces it.
func (t *Tx) Fold(
	session string, v format.Value, seq uint64, inForce format.ID,
) (format.Value, format.ID, error) {
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
	if err := t.store.OnTop(c, &format.Entry{Kind: format.KindEpoch, Epoch: t.store.Add(raw)}, nil,
		""); err != nil {
		return v, inForce, err
	}
	return c.Value, raw.ID(), nil
}

// FoldAt is Fold for a branch whose epoch does not change otherwise. It returns the update of the
// ref of the epoch.
func (t *Tx) FoldAt(
	session, branch string, v format.Value, seq uint64,
) (format.Value, []format.RefUpdate, error) {
	v, id, err := t.Fold(session, v, seq, t.store.View.Get(EpochRef(session, branch)).ID)
	if err != nil {
		return v, nil, err
	}
	if u, moved := t.EpochTo(session, branch, id); moved {
		return v, []format.RefUpdate{u}, nil
	}
	return v, nil, nil
}

// beforeFolds returns the newest entry at or before id that is not a fold. An undo does not take
// back a fold alone: it also takes back the message before it.
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

// SameButFolds reports whether two tips differ only by folds.
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

package session

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/session/epoch"
)

// epochRef says what the ref of a branch's epoch must become when the branch comes to stand at tip, which is in the history of one of the session's
// branches, or new on top of it; moved is false where it stays as it is. The update goes into the operation that moves the branch.
func (t *tx) epochRef(session, branch string, tip format.ID) (u format.RefUpdate, moved bool, err error) {
	var id format.ID
	// Without a ref in the session nothing was ever observed in it, and no history need be read.
	if len(t.view.Names("epochs/"+session+"/")) > 0 {
		if id, err = t.inForce(tip); err != nil {
			return u, false, err
		}
	}
	u, moved = t.epochTo(session, branch, id)
	return u, moved, nil
}

// epochTo moves the ref of a branch's epoch, to nothing where id is zero.
func (t *tx) epochTo(session, branch string, id format.ID) (u format.RefUpdate, moved bool) {
	name := EpochRef(session, branch)
	u = format.RefUpdate{Name: name, Old: t.view.Get(name)}
	if !id.IsZero() {
		u.New = format.Value{Kind: format.ObjectValue, ID: id}
	}
	return u, u.Old != u.New
}

// inForce returns the epoch of the nearest epoch entry on the line that ends at tip; zero where there is none. What a join brought was told to
// others, and is not on it.
func (t *tx) inForce(tip format.ID) (format.ID, error) {
	for id := tip; !id.IsZero(); {
		e, err := t.entryNow(id)
		if err != nil {
			return format.ID{}, err
		}
		if e.Kind == format.KindEpoch {
			return e.Epoch, nil
		}
		id = firstParent(e)
	}
	return format.ID{}, nil
}

// hidesUpdates reports whether a branch that stands at tip was told something in force before its through, where nothing of the tail is shown: it stands
// before the leave that made a block of that.
func (t *tx) hidesUpdates(tip format.ID, through uint64) (bool, error) {
	for id := tip; !id.IsZero() && through > 0; {
		e, err := t.entryNow(id)
		if err != nil {
			return false, err
		}
		if e.Kind == format.KindEpoch {
			told, _, err := t.epochObject(e.Epoch)
			switch {
			case isLost(err):
				return false, nil
			case err != nil:
				return false, err
			case told.Step != format.EpochUpdate:
				return false, nil // its block says it all
			case e.Seq < through:
				return true, nil
			}
		}
		id = firstParent(e)
	}
	return false, nil
}

// entryNow is entry for one that may be of this operation.
func (t *tx) entryNow(id format.ID) (*format.Entry, error) {
	for _, raw := range t.raws {
		if raw.ID() == id {
			return format.DecodeEntry(raw.Header)
		}
	}
	return t.entry(id)
}

// epochForFork gives a branch that starts at an entry in the past of another one what that one was told since: the epoch entry that the new branch begins
// with, on top of at, is to name the epoch that is returned. It is zero where the branch needs no such entry, since what was in force at that entry
// still is. Its updates up to there stay where they are, as they were sent.
func (t *tx) epochForFork(session, parent string, at format.ID) (format.ID, error) {
	newest := t.view.Get(EpochRef(session, parent)).ID
	if newest.IsZero() {
		return newest, nil
	}
	then, err := t.inForce(at)
	if err != nil || then == newest {
		return format.ID{}, err
	}
	e, _, err := t.epochObject(newest)
	if err = butGone(err); err != nil {
		return format.ID{}, fmt.Errorf("cannot read the epoch of %s/%s: %w", session, parent, err)
	}
	raw, err := epoch.Object(epoch.Fork(e), "")
	if err != nil {
		return format.ID{}, err
	}
	return t.add(raw), nil
}

// epochOfLine is epochForFork for a branch that starts at a value: it puts the epoch entry on top where there has to be one, and folds where the branch
// leaves. It returns the value of the new branch and the epoch in force.
func (t *tx) epochOfLine(session, parent string, v format.Value, seq uint64, leaves bool) (format.Value, format.ID, error) {
	inForce, err := t.epochForFork(session, parent, v.ID)
	if err != nil {
		return v, inForce, err
	}
	if inForce.IsZero() {
		inForce = t.view.Get(EpochRef(session, parent)).ID
	} else {
		c := &controlled{head: &head{session: session, value: v, Seq: seq}}
		if err := t.onTop(c, &format.Entry{Kind: format.KindEpoch, Epoch: inForce}, nil, ""); err != nil {
			return v, inForce, err
		}
		v = c.value
	}
	if !leaves {
		return v, inForce, nil
	}
	if err := t.flush(); err != nil { // what is folded may be in it
		return v, inForce, err
	}
	return t.fold(session, v, seq, inForce)
}

// fold begins a new epoch where a branch leaves: what it was told since its initial block becomes the block. It puts an epoch entry on top of the branch,
// of seq messages, and returns the branch's value then and the epoch in force; both are as they were where nothing was told. An epoch that cannot be read
// is left alone: the next observation heals it, and a leave does not wait for that.
func (t *tx) fold(session string, v format.Value, seq uint64, inForce format.ID) (format.Value, format.ID, error) {
	if inForce.IsZero() {
		return v, inForce, nil
	}
	e, _, err := t.epochObject(inForce)
	if isLost(err) {
		t.warn(fmt.Errorf("epoch of %s is not folded: %w", session, err))
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
	c := &controlled{head: &head{session: session, value: v, Seq: seq}}
	if err := t.onTop(c, &format.Entry{Kind: format.KindEpoch, Epoch: t.add(raw)}, nil, ""); err != nil {
		return v, inForce, err
	}
	return c.value, raw.ID(), nil
}

// foldAt is fold for a branch whose epoch does not move otherwise; its ref is among those returned.
func (t *tx) foldAt(session, branch string, v format.Value, seq uint64) (format.Value, []format.RefUpdate, error) {
	v, id, err := t.fold(session, v, seq, t.view.Get(EpochRef(session, branch)).ID)
	if err != nil {
		return v, nil, err
	}
	if u, moved := t.epochTo(session, branch, id); moved {
		return v, []format.RefUpdate{u}, nil
	}
	return v, nil, nil
}

// beforeFolds is an entry without the epochs that leaves began on top of it. A leave is nothing that a person takes back by itself: it goes with what was
// said before it.
func (t *tx) beforeFolds(id format.ID) (format.ID, error) {
	for !id.IsZero() {
		e, err := t.entry(id)
		if err != nil || e.Kind != format.KindEpoch {
			return id, err
		}
		told, _, err := t.epochObject(e.Epoch)
		if isLost(err) {
			return id, nil
		}
		if err != nil || told.Step != format.EpochFold {
			return id, err
		}
		id = firstParent(e)
	}
	return id, nil
}

// sameButFolds reports whether two tips are one, or would be without leaves.
func (t *tx) sameButFolds(a, b format.ID) (bool, error) {
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

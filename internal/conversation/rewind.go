package conversation

import (
	"context"
	"fmt"
	"maps"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

// Rewound is the result of Rewind.
type Rewound struct {
	Entry     format.ID // the rewind entry, the branch's new tip
	Left      format.ID // the old tip
	Messages  int       // messages removed from the branch
	Retracted int       // of these, how many were in the forest
	Known     bool      // nothing changed: it was done before
}

// RewindOptions are the options of Rewind.
type RewindOptions struct {
	Expect format.ID // if not zero: the tip that the branch must have, else ErrStale
	Source *Source   // of an imported rewind; a rewind of a known source is not repeated
}

// RewindTarget returns the first entry that a rewind removes. A revision that counts from the tip
// of the branch counts messages: `@` and the name of the branch are the latest message, and `@~n`
// is the oldest of the latest n, so that n messages are removed, as with `git reset HEAD~n`. Any
// other revision is the entry that it names.
func (s *Reader) RewindTarget(view *refs.View, session, branch, rev string) (format.ID, error) {
	base, steps, err := clusters.CutSteps(rev)
	if err != nil {
		return format.ID{}, err
	}
	name, tip := s.clusters.ResolveRef(view, clusters.InBranch(base, session, branch))
	if name != history.RefName(session, branch) {
		return s.clusters.ResolveEntry(view, clusters.InBranch(rev, session, branch))
	}
	return s.messageBack(tip.ID, max(1, steps))
}

// messageBack returns the n-th message back from tip, counted from 1.
func (s *Reader) messageBack(tip format.ID, n int) (target format.ID, err error) {
	seen := 0
	for e, err := range s.Walk(tip, history.WithJoined) {
		if err != nil {
			return target, err
		}
		if e.Kind == format.KindMessage {
			if seen++; seen == n {
				return e.ID, nil
			}
		}
	}
	return target,
		fmt.Errorf("%w: %d messages were to leave, and the branch has %d",
			history.NoStep, n, seen)
}

// Rewind removes an entry and everything after it from a branch; the zero target removes
// everything. A call whose result is removed is removed with it. The words stay in the store, under
// the rewind entry, until somebody forgets them.
func (s *Writer) Rewind(
	ctx context.Context, session, branch string, target format.ID, o RewindOptions,
) (Rewound, error) {
	return store.Do(ctx, s.Room, func(t *Tx) (Rewound, error) {
		return t.rewind(session, branch, target, false, o)
	})
}

// EndAt makes a branch end at one of its entries, by a rewind of what follows. At the tip it does
// nothing, and the result has no Entry. ErrRefused says that the entry is not in the branch: the
// ref of a session moves only back.
func (s *Writer) EndAt(
	ctx context.Context, session, branch string, id format.ID, o RewindOptions,
) (Rewound, error) {
	return store.Do(ctx, s.Room, func(t *Tx) (Rewound, error) {
		tip, err := history.TipAs(t.store.View, session, branch, o.Expect)
		if err == nil && tip.ID == id {
			return Rewound{Left: tip.ID, Known: true}, nil
		}
		if err != nil {
			return Rewound{}, err
		}
		return t.rewind(session, branch, id, true, o)
	})
}

// rewind removes target and everything after it from a branch; with keep, only what is after it.
func (t *Tx) rewind(
	session, branch string, target format.ID, keep bool, o RewindOptions,
) (Rewound, error) {
	old, err := history.TipAs(t.store.View, session, branch, o.Expect)
	if err != nil {
		return Rewound{}, err
	}
	e := &format.Entry{Session: session, Kind: format.KindRewind, Left: old.ID,
		Time: t.Now().UTC().Truncate(1e6)}
	if o.Source != nil {
		known, err := t.sourceRewind(e, o.Source, old.ID)
		if err != nil || known {
			return Rewound{Known: true}, err
		}
	}
	left, last, found, err := t.cut(old.ID, target, keep)
	switch {
	case err != nil:
		return Rewound{}, err
	case !found && keep:
		return Rewound{},
			fmt.Errorf("%w: entry %v is not in %s/%s", history.ErrRefused, target, session, branch)
	case !found:
		return Rewound{},
			fmt.Errorf("%w: entry %v is not in the branch", history.NoID, target)
	}
	parent, err := t.newTip(session, old.ID, last)
	if err != nil {
		return Rewound{}, err
	}
	if !parent.ID.IsZero() {
		e.Parents, e.Seq = []format.ID{parent.ID}, parent.Seq
	}
	header, err := e.Encode()
	if err != nil {
		return Rewound{}, err
	}
	done := Rewound{Left: old.ID, Messages: left.Messages}
	done.Entry = t.store.Add(format.Raw{Header: header})
	v := old
	v.ID = done.Entry
	moves := []format.RefUpdate{{Name: history.RefName(session, branch), Old: old}}
	if done.Retracted, err = t.Retract(left.IDs, session, moves...); err != nil {
		return Rewound{}, err
	}
	if err := t.store.SetLatestAt(parent.ID, left.Amended); err != nil {
		return Rewound{}, err
	}
	if o.Source != nil {
		copies, err := t.RepeatAmends(left.Amends, done.Entry, e.Seq, o.Source.Agent,
			func(id format.ID) bool { return !left.IDs[id] })
		if err != nil {
			return Rewound{}, err
		}
		for _, at := range copies {
			t.store.SetLatest(at.Amends, at.ID)
			v.ID = at.ID
		}
	}
	if err := t.Refresh(left.Amended); err != nil {
		return Rewound{}, err
	}
	if done.Retracted == 0 {
		left.IDs = nil
	}
	v, adopts, err := t.rewindPin(v, e.Seq, left.IDs)
	if err != nil {
		return Rewound{}, err
	}
	v, epoch, err := t.rewindEpoch(session, branch, v, e.Seq, done.Entry, left.Epochs, adopts)
	if err != nil {
		return Rewound{}, err
	}
	moves[0].New = v
	return done,
		t.store.Commit(&format.Operation{Verb: refs.VerbRewind, Session: session,
			Refs: append(moves, epoch...)})
}

// rewindEpoch returns what a branch of seq messages becomes when its epoch follows the rewind, and
// how the ref of the epoch moves. left says that an epoch entry has left the branch; adopts, that
// the branch adopts a forest.
func (t *Tx) rewindEpoch(
	session, branch string, v format.Value, seq uint64, rewind format.ID, left, adopts bool,
) (format.Value, []format.RefUpdate, error) {
	id := t.store.View.Get(epochs.EpochRef(session, branch)).ID
	var err error
	// A session without such refs has no epoch entries: its history need not be read.
	if left && len(t.store.View.Names("epochs/"+session+"/")) > 0 {
		id, err = t.epochs.InForce(rewind)
	}
	if err == nil && !adopts && left && !id.IsZero() {
		adopts, err = t.epochs.HidesUpdates(rewind, v.Through)
	}
	if err == nil && adopts {
		v, id, err = t.epochs.Fold(session, v, seq, id)
	}
	if err != nil {
		return v, nil, err
	}
	return v, t.epochs.EpochTo(session, branch, id), nil
}

// rewindPin fits frontier and pin of a branch to a tip of seq messages. The branch adopts the
// newest forest if its pin stands for more than is left, leaves too few messages word for word, or
// has members among retracted.
func (t *Tx) rewindPin(
	v format.Value, seq uint64, retracted map[format.ID]bool,
) (to format.Value, adopts bool, err error) {
	v.Frontier = min(v.Frontier, seq)
	stays := v.Pin.IsZero() || v.Through <= seq && !t.Params().Cold(seq, v.Through)
	if stays && !v.Pin.IsZero() && len(retracted) > 0 {
		// After an earlier rewind made the branch adopt a forest, the pin may have members of the tail.
		has, err := t.pinHas(v.Pin, retracted)
		if err != nil && !history.IsDamage(err) {
			return v, false, err
		}
		stays = !has && err == nil
	}
	if stays {
		if len(retracted) > 0 {
			return v, false, t.store.WriteForests()
		}
		return v, false, nil
	}
	to, err = t.Adopt(v, seq)
	return to, true, err
}

// pinHas reports whether a pinned forest has one of some entries as a member.
func (s *Reader) pinHas(pin format.ID, ids map[format.ID]bool) (bool, error) {
	st, err := s.ReadForest(pin)
	if err != nil {
		return false, err
	}
	found, err := st.Find(maps.Clone(ids))
	return len(found) > 0, err
}

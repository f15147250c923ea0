package conversation

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/refs"
)

// Difference is what branches lose and gain when they move from one tip to another.
type Difference struct {
	Leaving, Coming map[format.ID]bool
	Messages        map[format.ID]bool // those of both that are messages
	Amended         []format.ID        // messages whose latest version changes
	Epochs          bool               // an epoch entry is among them
}

// NewDifference returns an empty difference.
func NewDifference() *Difference {
	return &Difference{Leaving: map[format.ID]bool{}, Coming: map[format.ID]bool{},
		Messages: map[format.ID]bool{}}
}

// add adds what another branch loses and gains.
func (d *Difference) add(o *Difference) {
	maps.Copy(d.Leaving, o.Leaving)
	maps.Copy(d.Coming, o.Coming)
	maps.Copy(d.Messages, o.Messages)
	d.Amended = append(d.Amended, o.Amended...)
	d.Epochs = d.Epochs || o.Epochs
}

// Compare adds to diff what lies between two tips of a branch.
func (t *Tx) Compare(diff *Difference, from, to format.ID) error {
	base, err := t.MergeBase(from, to)
	if err != nil {
		return err
	}
	collect := func(tip format.ID, ids map[format.ID]bool) error {
		for e, err := range t.Walk(tip, history.WithJoined) {
			if err != nil {
				return err
			}
			if e.ID == base {
				break
			}
			ids[e.ID] = true
			if e.Kind == format.KindMessage {
				diff.Messages[e.ID] = true
			}
			diff.Epochs = diff.Epochs || e.Kind == format.KindEpoch
			if e.Kind == format.KindAmend {
				diff.Amended = append(diff.Amended, e.Amends)
			}
		}
		return nil
	}
	leaving, coming := map[format.ID]bool{}, map[format.ID]bool{}
	if err := errors.Join(collect(from, leaving), collect(to, coming)); err != nil {
		return err
	}
	// Joins may have brought the same entries to both.
	for id := range leaving {
		if coming[id] {
			delete(coming, id)
		} else {
			diff.Leaving[id] = true
		}
	}
	maps.Copy(diff.Coming, coming)
	return nil
}

// said counts the messages among entries that none of some tips has: a branch may lose what another
// one of its session has still.
func (t *Tx) said(d *Difference, ids map[format.ID]bool, tips []format.ID) (n int, err error) {
	lines := lists.Map(tips, t.History)
	for id := range ids {
		has := !d.Messages[id]
		for i := 0; i < len(lines) && !has && err == nil; i++ {
			has, err = lines[i].Has(id)
		}
		if err != nil {
			return n, err
		}
		if !has {
			n++
		}
	}
	return n, nil
}

// tipsAround returns the tips of the branches of a session before and after an operation that is to
// move some of them; none for a session of one branch.
func (t *Tx) tipsAround(session string, op *format.Operation) (before, after []format.ID) {
	moved := map[string]format.Value{}
	for _, u := range op.Refs {
		moved[u.Name] = u.New
	}
	for _, name := range t.store.View.Names("sessions/" + session + "/") {
		now := t.store.View.Get(name)
		before = append(before, now.ID)
		if _, ok := moved[name]; !ok {
			moved[name] = now
		}
	}
	for name, v := range moved {
		if strings.HasPrefix(name, "sessions/") && v.Exists() {
			after = append(after, v.ID)
		}
	}
	if len(before) < 2 && len(after) < 2 {
		return nil, nil
	}
	return before, after
}

// moveMembers retracts the entries that leave and restores the entries that return.
func (t *Tx) moveMembers(
	op *format.Operation, diff *Difference, ops []refs.Record, done *Undone,
) error {
	n, err := t.Retract(diff.Leaving, op.Session, op.Refs...)
	if err != nil {
		return err
	}
	done.Retracted = n
	if len(diff.Coming) == 0 {
		return nil
	}
	for _, name := range t.store.Forests() {
		back, err := t.restoreMembers(name, maps.Clone(diff.Coming), ops)
		if err != nil {
			return err
		}
		if name == history.MainForest {
			done.Restored = len(back)
			err = t.clusters.RestoreFlat(back)
		}
		if err != nil {
			return err
		}
	}
	if done.Restored > 0 {
		t.clusters.DropCandidates()
	}
	return nil
}

// restoreMembers restores entries to the places in a forest that the retractions in ops, newest
// first, took them from.
func (t *Tx) restoreMembers(
	name string, coming map[format.ID]bool, ops []refs.Record,
) (all []format.Decision, err error) {
	st, err := t.store.DraftOf(name)
	if err != nil {
		return nil, err
	}
	for _, r := range ops {
		var left []format.Decision
		for forest, d := range r.Op.Decisions() {
			if forest == name && d.Kind == format.DecideRetract && coming[d.ID] {
				left = append(left, d)
				delete(coming, d.ID)
			}
		}
		back, err := st.Return(left)
		if err != nil {
			return nil, err
		}
		if err := t.store.DecideIn(name, back...); err != nil {
			return nil, err
		}
		all = append(all, back...)
	}
	return all, nil
}

// FitBranches brings frontier, pin and epoch of the branches that op moves to their new tips, and
// writes the forests that have changed. epochs says that an epoch entry lies between the old tips
// and the new ones.
func (t *Tx) FitBranches(op *format.Operation, epochs bool) error {
	for i := range len(op.Refs) {
		adopts, err := t.fitValue(&op.Refs[i])
		if err != nil {
			return err
		}
		told, err := t.moveEpoch(&op.Refs[i], adopts, epochs)
		if err != nil {
			return err
		}
		op.Refs = append(op.Refs, told...)
	}
	if len(t.store.Decided(history.MainForest)) == 0 {
		return nil
	}
	return t.store.WriteForests()
}

// fitValue fits an earlier value of a branch to the forest as it is now. The frontier is just past
// the last member. The branch adopts the newest forest if its pin is gone or stands for messages
// that the branch does not have.
func (t *Tx) fitValue(u *format.RefUpdate) (adopts bool, err error) {
	if u.New.Kind != format.SessionValue {
		return false, nil
	}
	session, branch, _ := history.BranchOfRef(u.Name)
	frontier, err := t.frontierOf(u.Old, u.New)
	if err != nil {
		return false, err
	}
	fork, err := t.ForkOf(session, branch, u.New)
	if err != nil {
		return false, err
	}
	if !fork.IsZero() {
		frontier = min(frontier, u.New.Frontier) // an open child graduates nothing
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
	tip, err := t.Header(u.New.ID)
	if err != nil {
		return false, err
	}
	u.New, err = t.Adopt(u.New, tip.Seq)
	return true, err
}

// moveEpoch returns how the ref of a branch's epoch follows the branch. If the branch adopts a
// forest, its epoch is folded on top, which moves u.New.
func (t *Tx) moveEpoch(
	u *format.RefUpdate, adopts, epochMoves bool,
) (told []format.RefUpdate, err error) {
	session, branch, ok := history.BranchOfRef(u.Name)
	name := epochs.EpochRef(session, branch)
	if !ok || !t.store.View.Get(name).Exists() && !epochMoves {
		return nil, nil // it neither has nor had an epoch
	}
	id := t.store.View.Get(name).ID
	if epochMoves {
		id, err = t.epochs.InForce(u.New.ID)
	}
	if err == nil && adopts {
		var e *format.Entry
		if e, err = t.Header(u.New.ID); err == nil {
			u.New, id, err = t.epochs.Fold(session, u.New, e.Seq, id)
		}
	}
	return t.epochs.EpochTo(session, branch, id), err
}

// frontierOf returns the seq up to which every message of a branch at value want is a member. It
// looks only at messages that have returned or that now had not graduated.
func (t *Tx) frontierOf(now, want format.Value) (uint64, error) {
	members, err := t.commonMembers(now, want)
	if err != nil {
		return 0, err
	}
	var list []history.Entry
	ids := map[format.ID]bool{}
	for e, err := range t.Walk(want.ID, history.WithJoined) {
		if err != nil {
			return members, err
		}
		if e.Seq <= members {
			break
		}
		// A message that returns may have graduated after the operation: only the forest knows.
		if e.Kind == format.KindMessage {
			list = append(list, e)
			ids[e.ID] = true
		}
	}
	if len(list) == 0 {
		return members, nil
	}
	st, err := t.store.Draft()
	if err != nil {
		return 0, err
	}
	found, err := st.Find(ids)
	if err != nil {
		return 0, err
	}
	for _, at := range slices.Backward(list) {
		if _, ok := found[at.ID]; !ok {
			break // a later one may be a member through another branch
		}
		members = at.Seq
	}
	return members, nil
}

// commonMembers returns the seq up to which the common history of two values has graduated.
func (t *Tx) commonMembers(now, want format.Value) (uint64, error) {
	base, err := t.MergeBase(now.ID, want.ID)
	if err != nil || base.IsZero() {
		return 0, err
	}
	e, err := t.Header(base)
	if err != nil {
		return 0, err
	}
	return min(now.Frontier, e.Seq), nil
}

// Package epochs records what a model was told about its surroundings. An observation compares
// values with those that the model of a branch knows, and tells it the difference in an update.
// What the model knows is an epoch object, which a ref names and epoch entries on the branch name
// too.
//
// Begin to read at Writer.Observe (observe.go). inforce.go keeps the ref of the epoch with the
// branch through undo, forks and folds, and shows the updates among the messages. The pure rules
// are in the package epoch.
package epochs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
)

// EpochRef is the name of the ref of a branch's epoch. The ref names the same epoch as the newest
// epoch entry on the branch's own line. The operation that moves the branch also moves this ref.
func EpochRef(session, branch string) string { return "epochs/" + session + "/" + branch }

// EpochTo returns the update that sets the ref of a branch's epoch to id, or removes the ref if id
// is zero. There is none if the ref stays as it is. The caller records the update in the operation
// that moves the branch.
func (t *Tx) EpochTo(session, branch string, id format.ID) []format.RefUpdate {
	u := format.RefUpdate{Name: EpochRef(session, branch)}
	if !id.IsZero() {
		u.New = format.Value{Kind: format.ObjectValue, ID: id}
	}
	if u.Old = t.store.View.Get(u.Name); u.Old == u.New {
		return nil
	}
	return []format.RefUpdate{u}
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
	return v, t.EpochTo(session, branch, id), nil
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

// Reader reads epochs. It has no way to write.
type Reader struct {
	*history.Reader
}

// Writer has the verbs of epochs. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes epochs. It exists only while the store is locked.
type Tx struct {
	*Reader
	store *store.Tx
}

// New returns the verbs over the rooms below.
func New(s *store.Store) *Writer {
	r := &Reader{Reader: s.Reader}
	return &Writer{Reader: r,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx { return &Tx{Reader: r, store: t} })}
}

// EpochUpdate is an update that was sent after the block.
type EpochUpdate struct {
	Entry, Epoch format.ID
	Seq          uint64
	Time         time.Time
	Delta        []epoch.Change
	Text         string // unwrapped
}

// ToldLine reads the epoch entries of one line, newest first, back to the newest block.
type ToldLine struct {
	S      *Reader
	Newest *format.Epoch // in force; nil before the first
	ID     format.ID     // of Newest
	Entry  format.ID     // the epoch entry that names Newest
	list   []EpochUpdate // newest first; the last one has no Delta yet
	after  *format.Epoch // of the entry that was added last
	Done   bool          // a block was added: older entries do not count
	strict bool          // an update whose text was forgotten is an error; else it is left out
}

// Add takes the next older epoch entry of the line.
func (l *ToldLine) Add(e history.Entry) error {
	if l.Done {
		return nil
	}
	told, text, err := l.S.EpochObject(e.Epoch)
	if told != nil && !l.strict {
		err = history.ButGone(err)
	}
	if err != nil {
		return LostEpoch(err, e.Epoch)
	}
	if l.Newest == nil {
		l.Newest, l.ID, l.Entry = told, e.Epoch, e.ID
	}
	l.delta(told.Current)
	if told.Step == format.EpochUpdate {
		l.list = append(l.list,
			EpochUpdate{Entry: e.ID, Epoch: e.Epoch, Seq: e.Seq, Time: e.Time, Text: text})
	}
	l.after, l.Done = told, epoch.Starts(told)
	return nil
}

// delta sets the Delta of the update that was added last.
func (l *ToldLine) delta(before []format.Belief) {
	if l.after != nil && l.after.Step == format.EpochUpdate {
		l.list[len(l.list)-1].Delta = epoch.Diff(before, l.after.Current)
	}
}

// Updates returns the updates, oldest first.
func (l *ToldLine) Updates() []EpochUpdate {
	slices.Reverse(l.list)
	return l.list
}

// LostEpoch returns the error for an epoch that cannot be read: damage, where the object is not an
// epoch.
func LostEpoch(err error, id format.ID) error {
	if errors.Is(err, history.ErrNotEpoch) {
		return &objects.CorruptError{ID: id, Why: err.Error()}
	}
	return fmt.Errorf("cannot read epoch %v: %w", id, err)
}

// WithUpdates inserts the updates of epoch entries between the messages at which they were sent. It
// leaves out updates before the newest block, which includes them.
func (s *Reader) WithUpdates(tail []view.Message, epochs []history.Entry) ([]view.Message, error) {
	return (&ToldLine{S: s}).updatesIn(tail, epochs)
}

// updatesIn is WithUpdates for a line without entries yet.
func (l *ToldLine) updatesIn(tail []view.Message, epochs []history.Entry) ([]view.Message, error) {
	for _, at := range slices.Backward(epochs) {
		if err := l.Add(at); err != nil {
			return nil, err
		}
	}
	// The text of a forgotten update is empty.
	list := slices.DeleteFunc(l.Updates(), func(u EpochUpdate) bool { return u.Text == "" })
	if len(list) == 0 {
		return tail, nil
	}
	out := make([]view.Message, 0, len(tail)+len(list))
	for _, m := range tail {
		for len(list) > 0 && list[0].Seq < m.Seq {
			out, list = append(out, updateMessage(list[0])), list[1:]
		}
		out = append(out, m)
	}
	for _, u := range list {
		out = append(out, updateMessage(u))
	}
	return out, nil
}

func updateMessage(u EpochUpdate) view.Message {
	return view.Message{ID: u.Entry, Seq: u.Seq, Role: "system", Time: u.Time,
		Text: u.Text, Update: true}
}

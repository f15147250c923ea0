package epochs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/objects"
)

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

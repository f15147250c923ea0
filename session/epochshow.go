package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session/epoch"
	"github.com/gemini-ctx/ctx/session/view"
)

// EpochShown is what a branch was told as of some entry.
type EpochShown struct {
	ID      format.ID // of the epoch in force; zero where nothing was ever observed
	Entry   format.ID // that names it
	Step    string
	Initial []EpochKey // the block, in its order
	Current []EpochKey // what is believed, in the order of the sources
	Updates []EpochUpdate
}

// EpochKey is a key of an epoch.
type EpochKey struct {
	Key     string
	Blob    format.ID // of its value; zero where it was removed
	Value   []byte    // canonical JSON
	Text    string    // of the block, or of the next one
	Missing bool      // the value or the text cannot be read any more
}

// EpochUpdate is an update since the block, as it was sent.
type EpochUpdate struct {
	Entry, Epoch format.ID
	Seq          uint64
	Time         time.Time
	Delta        []epoch.Change
	Text         string // unwrapped
}

// EpochAt returns what a branch that ends at tip was told: the block in force and the updates since.
func (s *Store) EpochAt(tip format.ID) (EpochShown, error) {
	var shown EpochShown
	l := &toldLine{s: s}
	for id := tip; !id.IsZero() && !l.done; {
		e, err := s.entry(id)
		if err != nil {
			return shown, err
		}
		if e.Kind == format.KindEpoch {
			if err := l.add(id, e); err != nil {
				return shown, err
			}
		}
		id = firstParent(e)
	}
	if l.newest == nil {
		return shown, nil
	}
	shown = EpochShown{ID: l.id, Entry: l.entry, Step: l.newest.Step, Updates: l.updates()}
	return shown, s.fillEpoch(&shown)
}

// toldLine reads the epoch entries of one line, newest first, back to the block from which everything is told anew.
type toldLine struct {
	s      *Store
	newest *format.Epoch // in force; nil before the first
	id     format.ID     // of newest
	entry  format.ID     // that names it
	list   []EpochUpdate // newest first; each has its Delta when the one before it was met
	after  *format.Epoch // what was met last
	done   bool          // nothing before counts
	strict bool          // an update whose text was forgotten is an error; else it is left out
}

func (l *toldLine) add(id format.ID, e *format.Entry) error {
	if l.done {
		return nil
	}
	told, text, err := l.s.epochObject(e.Epoch)
	if told != nil && !l.strict {
		err = butGone(err)
	}
	if err != nil {
		return lostEpoch(err, e.Epoch)
	}
	if l.newest == nil {
		l.newest, l.id, l.entry = told, e.Epoch, id
	}
	l.delta(told.Current)
	if told.Step == format.EpochUpdate {
		l.list = append(l.list, EpochUpdate{Entry: id, Epoch: e.Epoch, Seq: e.Seq, Time: e.Time, Text: text})
	}
	l.after, l.done = told, epoch.Starts(told)
	return nil
}

// delta completes the update that was met last.
func (l *toldLine) delta(before []format.Belief) {
	if l.after != nil && l.after.Step == format.EpochUpdate {
		l.list[len(l.list)-1].Delta = epoch.Diff(before, l.after.Current)
	}
}

// updates returns the updates, oldest first.
func (l *toldLine) updates() []EpochUpdate {
	slices.Reverse(l.list)
	return l.list
}

// lostEpoch says what an unreadable epoch is, as damage.
func lostEpoch(err error, id format.ID) error {
	if errors.Is(err, errNotEpoch) {
		return &objects.CorruptError{ID: id, Why: err.Error()}
	}
	return fmt.Errorf("cannot read epoch %v: %w", id, err)
}

func (s *Store) fillEpoch(shown *EpochShown) error {
	e, _, err := s.epochObject(shown.ID)
	if err = butGone(err); err != nil {
		return err
	}
	for _, t := range e.Initial {
		k, err := s.epochKey(t.Key, t.Value, t.Text)
		if err != nil {
			return err
		}
		shown.Initial = append(shown.Initial, k)
	}
	for _, b := range e.Current {
		k, err := s.epochKey(b.Key, b.Value, b.First)
		if err != nil {
			return err
		}
		shown.Current = append(shown.Current, k)
	}
	return nil
}

func (s *Store) epochKey(key string, value, text format.ID) (EpochKey, error) {
	k := EpochKey{Key: key, Blob: value}
	if value.IsZero() {
		return k, nil
	}
	var err error
	if k.Value, err = s.blob(value); err == nil {
		var words []byte
		words, err = s.blob(text)
		k.Text = string(words)
	}
	if isLost(err) {
		k.Missing, err = true, nil
	}
	return k, err
}

// epochBlock reads the initial block of an epoch; none for the zero ID. A part that was forgotten is not told any more.
func (s *Store) epochBlock(id format.ID) ([]view.EpochPart, error) {
	if id.IsZero() {
		return nil, nil
	}
	e, _, err := s.epochObject(id)
	if err = butGone(err); err != nil {
		return nil, lostEpoch(err, id)
	}
	var parts []view.EpochPart
	for _, t := range e.Initial {
		b, err := s.blob(t.Text)
		if err != nil && butGone(err) == nil {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read what epoch %v says of %s: %w", id, t.Key, err)
		}
		parts = append(parts, view.EpochPart{Key: t.Key, Text: string(b)})
	}
	return parts, nil
}

// withUpdates puts the updates among epoch entries where they were sent: behind the messages that were there then. Those before the last block are
// in it, and not shown.
func (s *Store) withUpdates(tail []view.Message, epochs []entryAt) ([]view.Message, error) {
	return (&toldLine{s: s}).updatesIn(tail, epochs)
}

// updatesIn is withUpdates for a line of which nothing was read yet.
func (l *toldLine) updatesIn(tail []view.Message, epochs []entryAt) ([]view.Message, error) {
	for _, at := range slices.Backward(epochs) {
		if err := l.add(at.id, at.e); err != nil {
			return nil, err
		}
	}
	list := slices.DeleteFunc(l.updates(), func(u EpochUpdate) bool { return u.Text == "" }) // it was forgotten
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
	return view.Message{ID: u.Entry, Seq: u.Seq, Role: "system", Time: u.Time, Text: u.Text, Update: true}
}

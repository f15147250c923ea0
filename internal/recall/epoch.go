package recall

import (
	"encoding/json"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// EpochShown is what a branch told its model up to an entry.
type EpochShown struct {
	ID      format.ID // of the epoch in force; zero before the first observation
	Entry   format.ID // the entry that names the epoch
	Step    string
	Initial []EpochKey // the keys of the initial block, in its order
	Current []EpochKey // the observed values in force, in the order of their sources
	Updates []epochs.EpochUpdate
}

// EpochKey is one key of an epoch.
type EpochKey struct {
	Key     string          `json:"key"`
	Blob    format.ID       `json:"blob"`  // of the value; zero if the key was removed
	Value   json.RawMessage `json:"value"` // canonical
	Text    string          `json:"text"`  // in the block, or in the next block
	Removed bool            `json:"removed,omitempty"`
	Missing bool            `json:"missing,omitempty"` // its value or text was forgotten or lost
}

// EpochAt returns what the branch that ends at tip told its model: the block in force and the
// updates since.
func (s *Reader) EpochAt(tip format.ID) (EpochShown, error) {
	var shown EpochShown
	l := &epochs.ToldLine{S: s.epochs}
	for e, err := range s.Walk(tip, history.OwnLine) {
		if err != nil {
			return shown, err
		}
		if e.Kind == format.KindEpoch {
			if err := l.Add(e); err != nil {
				return shown, err
			}
		}
		if l.Done {
			break
		}
	}
	if l.Newest == nil {
		return shown, nil
	}
	shown = EpochShown{ID: l.ID, Entry: l.Entry, Step: l.Newest.Step, Updates: l.Updates()}
	return shown, s.fillEpoch(&shown)
}

func (s *Reader) fillEpoch(shown *EpochShown) error {
	e, _, err := s.EpochObject(shown.ID)
	if err = history.ButGone(err); err != nil {
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

func (s *Reader) epochKey(key string, value, text format.ID) (EpochKey, error) {
	k := EpochKey{Key: key, Blob: value, Removed: value.IsZero()}
	if k.Removed {
		return k, nil
	}
	var err error
	if k.Value, err = s.epochs.Blob(value); err == nil {
		var words []byte
		words, err = s.epochs.Blob(text)
		k.Text = string(words)
	}
	if history.IsLost(err) {
		k.Missing, err = true, nil
	}
	return k, err
}

// epochBlock reads the initial block of an epoch; nil for the zero ID. It leaves out a part that
// was forgotten.
func (s *Reader) epochBlock(id format.ID) ([]view.EpochPart, error) {
	if id.IsZero() {
		return nil, nil
	}
	e, _, err := s.EpochObject(id)
	if err = history.ButGone(err); err != nil {
		return nil, epochs.LostEpoch(err, id)
	}
	var parts []view.EpochPart
	for _, t := range e.Initial {
		b, err := s.epochs.Blob(t.Text)
		if err != nil && history.ButGone(err) == nil {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read what epoch %v says of %s: %w", id, t.Key, err)
		}
		parts = append(parts, view.EpochPart{Key: t.Key, Text: string(b)})
	}
	return parts, nil
}

package session

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Shown is an entry with its text, as the reading verbs give it.
type Shown struct {
	ID    format.ID
	Entry *format.Entry
	Text  string // plain text, or what Words makes of the parts; of an epoch entry the update as it was sent, of a replacement its text
	Parts []byte // a JSON array of message parts; nil for plain text
	Gone  string // why there is no text; "" where there is
	// Version is the newest version's id where the text is that of an amend, else ID.
	Version format.ID
	Masked  []int // parts that are shown shortened; only where that was asked for
}

// entry reads an entry's header. objects.ErrNotFound where there is no such object, and an error for one of another kind.
func (s *Store) entry(id format.ID) (*format.Entry, error) {
	b, err := s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	e, err := format.DecodeEntry(b)
	if err != nil {
		return nil, fmt.Errorf("object %v: %w", id, err)
	}
	return e, nil
}

// Entry reads an entry with its text; that of a body that was forgotten is "" and Gone says why.
func (s *Store) Entry(id format.ID) (*Shown, error) {
	raw, err := s.Objects.Get(id)
	var gone *objects.GoneError
	if err != nil && !errors.As(err, &gone) {
		return nil, err
	}
	e, err := format.DecodeEntry(raw.Header)
	if err != nil {
		return nil, fmt.Errorf("object %v: %w", id, err)
	}
	shown := &Shown{ID: id, Version: id, Entry: e}
	switch {
	case gone != nil:
		shown.Gone = gone.Reason
	case e.Kind == format.KindEpoch:
		if _, shown.Text, err = s.epochObject(e.Epoch); isLost(err) {
			shown.Gone = whyLost(err)
		} else if err != nil {
			return nil, err
		}
	case e.Body != nil:
		text := raw.Body[min(format.NonceLen, len(raw.Body)):]
		switch e.Body.Media {
		case format.MediaParts:
			shown.Parts, shown.Text = text, Words(text)
		case format.MediaReplace:
			r, err := format.DecodeReplacement(text)
			if err != nil {
				return nil, fmt.Errorf("object %v: %w", id, err)
			}
			shown.Text = r.Text
		default:
			shown.Text = string(text)
		}
	}
	return shown, nil
}

// latest reads a message as it was said last: the entry that has its newest text.
func (s *Store) latest(view *refs.View, id format.ID) (*Shown, error) {
	newest, err := s.newest(view, id)
	if err != nil {
		return nil, err
	}
	return s.Entry(newest)
}

// text reads what a body says: of a summary, a tombstone, an entry.
func (s *Store) text(id format.ID) (header, text []byte, err error) {
	raw, err := s.Objects.Get(id)
	if err != nil {
		return nil, nil, err
	}
	return raw.Header, raw.Body[min(format.NonceLen, len(raw.Body)):], nil
}

// seal builds an object whose stored body is a nonce and text: encode is called with the body's line and gives the header. The nonce depends on
// the store's key and the rest of the header, so that the same thing said twice has the same id, and nobody without the key can
// guess a short text from its digest.
func (s *Store) seal(text []byte, media string, encode func(format.Body) ([]byte, error)) (format.Raw, error) {
	return s.sealAs(nonceLabel, text, media, encode)
}

func (s *Store) sealAs(label string, text []byte, media string, encode func(format.Body) ([]byte, error)) (format.Raw, error) {
	blank, err := encode(format.Body{Media: media})
	if err != nil {
		return format.Raw{}, err
	}
	nonce, err := s.Nonce(label, cutLastLine(blank))
	if err != nil {
		return format.Raw{}, err
	}
	stored := make([]byte, 0, format.NonceLen+len(text))
	stored = append(append(stored, nonce...), text...)
	header, err := encode(format.SumBody(stored, media))
	if err != nil {
		return format.Raw{}, err
	}
	return format.Raw{Header: header, Body: stored}, nil
}

// sealNew is seal for what is made of words: a summary, a tombstone. What was made of other words before may have said the same and be forgotten, and
// may not come back; then it is another object, by another nonce.
func (s *Store) sealNew(text []byte, media string, encode func(format.Body) ([]byte, error)) (format.Raw, error) {
	for n := 0; ; n++ {
		raw, err := s.sealAs(labelOf(n), text, media, encode)
		if err != nil {
			return raw, err
		}
		if gone, err := s.Objects.Forgotten(raw.ID()); err != nil || !gone {
			return raw, err
		}
	}
}

// nonceLabel is what nonces are made for.
const nonceLabel = "nonce"

// labelOf is the label of the nonce that is taken where n objects of the same words were forgotten.
func labelOf(n int) string {
	if n == 0 {
		return nonceLabel
	}
	return fmt.Sprint(nonceLabel, " ", n)
}

func cutLastLine(header []byte) []byte {
	for i := len(header) - 2; i >= 0; i-- {
		if header[i] == '\n' {
			return header[:i+1]
		}
	}
	return nil
}

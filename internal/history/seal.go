package history

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// Seal builds an object whose stored body is a nonce and text. encode gets the body line and
// returns the header. The nonce depends on the store's key and the rest of the header: equal
// content has one id, and without the key nobody can guess a short text from its digest.
func (s *Reader) Seal(
	text []byte, media string, encode func(format.Body) ([]byte, error),
) (format.Raw, error) {
	return s.sealAs(nonceLabel, text, media, encode)
}

// SealEntry is Seal for an entry, whose body it sets.
func (s *Reader) SealEntry(e *format.Entry, text []byte, media string) (format.Raw, error) {
	e.Body = &format.Body{Media: media}
	header, err := e.Encode()
	if err != nil {
		return format.Raw{}, fmt.Errorf("%w: %w", ErrInput, err)
	}
	stored, err := s.storedAs(nonceLabel, header, text)
	if err != nil {
		return format.Raw{}, err
	}
	*e.Body = format.SumBody(stored, media)
	if header, err = format.SetBody(header, *e.Body); err != nil {
		return format.Raw{}, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return format.Raw{Header: header, Body: stored}, nil
}

// storedAs returns the nonce that a header gives, with text behind it.
func (s *Reader) storedAs(label string, header, text []byte) ([]byte, error) {
	nonce, err := s.Nonce(label, CutLastLine(header))
	if err != nil {
		return nil, err
	}
	return append(append(make([]byte, 0, len(nonce)+len(text)), nonce...), text...), nil
}

func (s *Reader) sealAs(
	label string, text []byte, media string, encode func(format.Body) ([]byte, error),
) (format.Raw, error) {
	blank, err := encode(format.Body{Media: media})
	if err != nil {
		return format.Raw{}, err
	}
	stored, err := s.storedAs(label, blank, text)
	if err != nil {
		return format.Raw{}, err
	}
	header, err := encode(format.SumBody(stored, media))
	if err != nil {
		return format.Raw{}, err
	}
	return format.Raw{Header: header, Body: stored}, nil
}

// SealNew is Seal for what is made of words: a summary, a tombstone. Where an object with the same
// content was forgotten, it returns another one, with another nonce: what was forgotten does not
// come back.
func (s *Reader) SealNew(
	text []byte, media string, encode func(format.Body) ([]byte, error),
) (format.Raw, error) {
	for n := 0; ; n++ {
		raw, err := s.sealAs(LabelOf(n), text, media, encode)
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

// LabelOf returns the label of the nonce that SealNew takes after n objects with the same words
// were forgotten.
func LabelOf(n int) string {
	if n == 0 {
		return nonceLabel
	}
	return fmt.Sprint(nonceLabel, " ", n)
}

// CutLastLine returns a header without its last line; nil for one of a single line.
func CutLastLine(header []byte) []byte {
	for i := len(header) - 2; i >= 0; i-- {
		if header[i] == '\n' {
			return header[:i+1]
		}
	}
	return nil
}

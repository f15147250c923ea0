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
	raw, err := s.Seal(text, media, func(b format.Body) ([]byte, error) {
		e.Body = &b
		header, err := e.Encode()
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrInput, err)
		}
		return header, err
	})
	if err == nil {
		*e.Body, _, err = format.HeaderBody(raw.Header)
	}
	return raw, err
}

func (s *Reader) sealAs(
	label string, text []byte, media string, encode func(format.Body) ([]byte, error),
) (format.Raw, error) {
	header, err := encode(format.Body{Media: media})
	if err != nil {
		return format.Raw{}, err
	}
	nonce, err := s.Nonce(label, CutLastLine(header))
	if err != nil {
		return format.Raw{}, err
	}
	stored := append(append(make([]byte, 0, len(nonce)+len(text)), nonce...), text...)
	header, err = format.SetBody(header, format.SumBody(stored, media))
	return format.Raw{Header: header, Body: stored}, err
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

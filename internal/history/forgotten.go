package history

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/objects"
)

// ReadForgotten reads a file of what was forgotten, named as in the store.
func (s *Reader) ReadForgotten(name string) (*format.Forgotten, error) {
	path := s.Objects.Path(name)
	b, err := durable.ReadAtMost(path, objects.MaxForgetFile)
	if err != nil {
		return nil, err
	}
	f, err := format.DecodeForgotten(b)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	return f, nil
}

// Forgotten returns what operation n forgot; fs.ErrNotExist where it forgot nothing.
func (s *Reader) Forgotten(n uint64) (*format.Forgotten, error) {
	return s.ReadForgotten(objects.ForgottenName(n))
}

// Forgets returns the numbers of the operations that forgot something, in order. An unfinished one
// is not among them.
func (s *Reader) Forgets() ([]uint64, error) {
	numbers, _, err := s.Objects.ForgetFiles()
	return numbers, err
}

// Unfinished returns what an interrupted forget was to forget; nil where there is none.
func (s *Reader) Unfinished() (*format.Forgotten, error) {
	f, err := s.ReadForgotten(objects.UnfinishedName())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// ForgetMark returns a number that changes whenever something is forgotten.
func (s *Reader) ForgetMark() (int, error) {
	numbers, unfinished, err := s.Objects.ForgetFiles()
	if unfinished {
		return -1, err // whoever takes the lock finishes it
	}
	return len(numbers), err
}

// ForgottenWords returns what recognizes forgotten words when they come again; nil where nothing
// was ever forgotten.
func (s *Reader) ForgottenWords() (*Traces, error) {
	numbers, _, err := s.Objects.ForgetFiles()
	if err != nil || len(numbers) == 0 {
		return nil, err
	}
	s.mu.Lock()
	known := s.traced
	s.mu.Unlock()
	if known != nil && slices.Equal(known.from, numbers) {
		return known, nil
	}
	w, err := s.NewTraces()
	if err != nil {
		return nil, err
	}
	w.from = numbers
	for _, n := range numbers {
		f, err := s.Forgotten(n)
		if err != nil {
			return nil, fmt.Errorf("cannot read what was forgotten: %w", err)
		}
		w.Add(f)
	}
	s.mu.Lock()
	s.traced = w
	s.mu.Unlock()
	return w, nil
}

// CheckForgotten returns ErrGone for bytes that hold a phrase that was forgotten: for what is
// stored and is no message.
func (s *Reader) CheckForgotten(b []byte) error {
	w, err := s.ForgottenWords()
	if err != nil || w == nil || !w.InAny(w.Phrases, b) {
		return err
	}
	return fmt.Errorf("%w: it holds what was forgotten, and is not stored", ErrGone)
}

// SourceDigest is the keyed digest of a source key (format.SourceKey), as the files of what was
// forgotten have it. Errors are those of repo.Key.
func (s *Reader) SourceDigest(key [16]byte) (format.ID, error) {
	return s.Keyed("forgotten source", key[:])
}

package objects

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// ErrNotFound is wrapped by the error for an object that is in no place of the store.
var ErrNotFound = errors.New("object not found")

// CorruptError says that what is stored for an id is not what the id names. ID is zero where a
// whole file is meant.
type CorruptError struct {
	ID   format.ID
	Path string // the file it was read from
	Why  string
}

func (e *CorruptError) Error() string {
	if e.ID.IsZero() {
		return fmt.Sprintf("corrupt: %q: %s", e.Path, e.Why)
	}
	return fmt.Sprintf("object %v is corrupt: %q: %s", e.ID, e.Path, e.Why)
}

// GoneError says that the object's body was forgotten: a record in absent/ says so. Get returns
// the header with it; Put returns it for an object that would bring the body back.
type GoneError struct {
	ID     format.ID
	Reason string // as the record has it
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("object %v is gone: %s", e.ID, e.Reason)
}

// IsGone reports whether an error is a *GoneError.
func IsGone(err error) bool { return errors.As(err, new(*GoneError)) }

// notFile makes damage of what the file system says of a name that something else than a file has.
func notFile(path string, err error) error {
	if errors.Is(err, durable.ErrNotFile) {
		return &CorruptError{Path: path, Why: "is not a regular file"}
	}
	return err
}

// vanished reports whether a file went away, or was closed, while it was looked at: the packs have
// to be listed again.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed)
}

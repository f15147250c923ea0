package history

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/objects"
)

// ErrNotFound says that a name or an id means nothing in the store. By itself it is about a name.
var ErrNotFound = errors.New("not found")

// NotFound is an ErrNotFound that is not about a name.
type NotFound uint8

// What was not found.
const (
	NoID   NotFound = iota // an id of nothing, or of something else than what is looked for
	NoStep                 // a step back in a branch or in the log, which does not go back so far
)

// Error says the same as ErrNotFound.
func (NotFound) Error() string { return ErrNotFound.Error() }

// Unwrap returns ErrNotFound.
func (NotFound) Unwrap() error { return ErrNotFound }

// ErrInput says that a message or a name is not valid.
var ErrInput = errors.New("bad input")

// ErrStale says that history has moved: it is not where the caller expected it.
var ErrStale = errors.New("history has moved")

// ErrRefused says that a command is not possible on what it was given.
var ErrRefused = errors.New("refused")

// ErrAfterForget says that the last operation of the store was to forget: a command of the user's,
// or what a pull did before it was stopped. It comes with ErrRefused.
var ErrAfterForget = errors.New("nothing is undone or redone right after a forget")

// ErrBlocked says that something has to happen first.
var ErrBlocked = errors.New("blocked")

// ErrGone says that something was forgotten, or went with a session that was removed.
var ErrGone = errors.New("gone")

// ErrNotEpoch says that an object is not part of an epoch.
var ErrNotEpoch = errors.New("no part of an epoch")

// UnknownSession returns the ErrNotFound for a session, or for a branch other than main.
func UnknownSession(session, branch string) error {
	if branch != MainBranch {
		return fmt.Errorf("%w: no branch %q in session %q", ErrNotFound, Clip(branch),
			Clip(session))
	}
	return fmt.Errorf("%w: no session %q", ErrNotFound, Clip(session))
}

// IsDamage reports whether an error says that an object is missing or corrupt.
func IsDamage(err error) bool {
	return errors.As(err, new(*objects.CorruptError)) || errors.Is(err, objects.ErrNotFound)
}

// ButDamage returns nil for an error that IsDamage knows, and every other error as it is.
func ButDamage(err error) error {
	if IsDamage(err) {
		return nil
	}
	return err
}

// IsLost reports whether an error says that a part of an epoch is missing, corrupt or forgotten.
func IsLost(err error) bool {
	return IsDamage(err) || objects.IsGone(err) || errors.Is(err, ErrNotEpoch)
}

// damaged is the reason that is shown for what a repair has not looked at yet.
const damaged = "damaged"

// whyLost is the reason of such an error, as it is shown.
func whyLost(err error) string {
	var gone *objects.GoneError
	if errors.As(err, &gone) {
		return gone.Reason
	}
	return damaged
}

// ButGone returns nil for the error that a body was forgotten, and every other error as it is.
func ButGone(err error) error {
	if objects.IsGone(err) {
		return nil
	}
	return err
}

// Package failure says what an error is to who asked: which exit code it has, of what kind it is, and what may help. It is the one place where errors
// get them, for every program of ctx.
package failure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/epoch"
	"github.com/gemini-ctx/ctx/upkeep"
)

// The exit codes. Scripts rely on them.
const (
	Done        = 0
	Failed      = 1
	Usage       = 2
	NoStore     = 10
	Locked      = 11
	Stale       = 12
	Corrupt     = 13
	Gone        = 14
	NotFound    = 15
	Blocked     = 16
	Interrupted = 130
)

// UsageError says that what was asked cannot be understood, or asks for what cannot be.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

// Usagef returns a *UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// hinted is an error with its own hint.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// WithHint gives an error a hint instead of the one that its kind has.
func WithHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Problem is an error as its reader gets it.
type Problem struct {
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Text is the problem as a person is told: a line, and where there is one a line with the hint.
func (p Problem) Text() string {
	if p.Hint == "" {
		return "ctx: " + p.Message
	}
	return "ctx: " + p.Message + "\nhint: " + p.Hint
}

// Explain is where errors get their codes, kinds and hints.
func Explain(err error) Problem {
	p := classify(err)
	p.Message = sanitize.Line(err.Error())
	if p.Code == Interrupted {
		p.Message = "interrupted"
	}
	var own *hinted
	if errors.As(err, &own) {
		p.Hint = own.hint
	}
	return p
}

func classify(err error) Problem {
	for _, f := range []func(error) (Problem, bool){outside, settings, inStore, named, onDisk} {
		if p, ok := f(err); ok {
			return p
		}
	}
	return Problem{Code: Failed, Kind: "failed"}
}

// outside knows errors that came with the command line, or from the keyboard.
func outside(err error) (Problem, bool) {
	var usage *UsageError
	switch {
	case errors.Is(err, context.Canceled):
		return Problem{Code: Interrupted, Kind: "interrupted"}, true
	case errors.As(err, &usage):
		return Problem{Code: Usage, Kind: "usage"}, true
	}
	return Problem{}, false
}

// settings knows errors about which store is meant and how it is set up.
func settings(err error) (Problem, bool) {
	var config *repo.ConfigError
	var owner *repo.OwnerError
	var version *format.VersionError
	switch {
	case errors.As(err, &config):
		return Problem{Code: Usage, Kind: "usage", Hint: config.Hint}, true
	case errors.Is(err, repo.ErrNoStore):
		return Problem{Code: NoStore, Kind: "no-store", Hint: "`ctx init` makes one here; -C DIR or CTX_DIR names another"}, true
	case errors.Is(err, repo.ErrHalf):
		return Problem{Code: NoStore, Kind: "no-store", Hint: "`ctx init` in the same directory finishes it"}, true
	case errors.Is(err, repo.ErrHome):
		return Problem{Code: Failed, Kind: "failed", Hint: "run it in a project's directory"}, true
	case errors.As(err, &owner):
		return Problem{Code: NoStore, Kind: "no-store", Hint: "if you trust what is in it, set CTX_DIR to it"}, true
	case errors.As(err, &version):
		return Problem{Code: NoStore, Kind: "newer-format", Hint: "a newer ctx wrote it: update this one"}, true
	}
	return Problem{}, false
}

// inStore knows errors about the state a store is in.
func inStore(err error) (Problem, bool) {
	var busy *lock.BusyError
	var stale *refs.StaleError
	var key *repo.KeyError
	switch {
	case errors.As(err, &busy):
		return Problem{Code: Locked, Kind: "locked", Hint: "try again, or wait longer with -c lock.timeout=60s"}, true
	case errors.Is(err, session.ErrBlocked):
		return Problem{Code: Blocked, Kind: "blocked"}, true
	case errors.Is(err, session.ErrRefused):
		return Problem{Code: Stale, Kind: "refused"}, true
	case errors.Is(err, session.ErrStale), errors.As(err, &stale):
		return Problem{Code: Stale, Kind: "stale", Hint: "look at it again (`ctx log`, `ctx op log`), then repeat"}, true
	case errors.Is(err, upkeep.ErrForgot):
		return Problem{Code: Stale, Kind: "stale", Hint: "run it again"}, true
	case errors.As(err, &key):
		return Problem{Code: Corrupt, Kind: "corrupt", Hint: "put the key back from a copy; the store can be read without it, not written"}, true
	case IsCorrupt(err):
		return Problem{Code: Corrupt, Kind: "corrupt", Hint: "`ctx fsck` lists everything that is damaged"}, true
	case errors.Is(err, refs.ErrMaybe):
		return Problem{Code: Failed, Kind: "failed", Hint: "`ctx op log -n 1` says whether it was"}, true
	}
	return Problem{}, false
}

// IsCorrupt says whether an error is about bytes on disk that cannot be what was written.
func IsCorrupt(err error) bool {
	var object *objects.CorruptError
	var ref *refs.CorruptError
	var file *repo.CorruptError
	var forest *upkeep.DiffersError
	var bundle *upkeep.DamagedError
	return errors.As(err, &object) || errors.As(err, &ref) || errors.As(err, &file) || errors.As(err, &forest) || errors.As(err, &bundle) || errors.Is(err, refs.ErrBeyondRepair)
}

// named knows errors about what somebody gave, or gave a name.
func named(err error) (Problem, bool) {
	var gone *objects.GoneError
	var ambiguous *session.AmbiguousError
	var ambiguousName *session.AmbiguousNameError
	switch {
	case errors.Is(err, session.ErrInput), errors.Is(err, epoch.ErrInput):
		return Problem{Code: Usage, Kind: "usage"}, true
	case errors.As(err, &gone), errors.Is(err, session.ErrGone):
		return Problem{Code: Gone, Kind: "gone", Hint: "`ctx cat-file -p ID` shows what is left of it"}, true
	case errors.As(err, &ambiguousName):
		return Problem{Code: NotFound, Kind: "ambiguous", Hint: "give more of the name"}, true
	case errors.As(err, &ambiguous):
		return Problem{Code: NotFound, Kind: "ambiguous", Hint: "give more digits"}, true
	case errors.Is(err, session.ErrNotFound):
		return Problem{Code: NotFound, Kind: "not-found", Hint: "`ctx session list` and `ctx show-ref` list the names there are"}, true
	case errors.Is(err, objects.ErrNotFound):
		// Nobody named it (see resolve): something in the store did.
		return Problem{Code: Corrupt, Kind: "corrupt", Hint: "`ctx fsck` lists everything that is damaged"}, true
	}
	return Problem{}, false
}

// onDisk knows what the file system says.
func onDisk(err error) (Problem, bool) {
	p := Problem{Code: Failed, Kind: "failed"}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		p.Hint = "the disk is full; nothing that was recorded before is lost"
	case errors.Is(err, fs.ErrExist):
		p.Hint = "what is there is left alone: choose another place, or take it away"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		p.Hint = "the place must be writable by you"
	default:
		return p, false
	}
	return p, true
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/rebuild"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/sanitize"
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

// UsageError is an error of the command line or of a request.
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

// WithHint gives an error a hint, which replaces the hint of its kind.
func WithHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// Problem is an error as it is printed.
type Problem struct {
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Text returns the line of the error, and the line of its hint if there is one.
func (p Problem) Text() string {
	if p.Hint == "" {
		return "ctx: " + p.Message
	}
	return "ctx: " + p.Message + "\nhint: " + p.Hint
}

// Explain returns the exit code, the kind and the hint of an error.
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

// outside classifies errors of the command line and of the keyboard.
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

// settings classifies errors about finding and opening the store.
func settings(err error) (Problem, bool) {
	var config *repo.ConfigError
	var owner *repo.OwnerError
	var half *repo.HalfError
	var version *format.VersionError
	switch {
	case errors.As(err, &config):
		return Problem{Code: Usage, Kind: "usage", Hint: config.Hint}, true
	case errors.Is(err, repo.ErrNoStore):
		return Problem{Code: NoStore, Kind: "no-store",
			Hint: "`ctx init` makes one here; -C DIR or CTX_DIR names another"}, true
	case errors.Is(err, repo.ErrNotAllowed):
		return Problem{Code: Failed, Kind: "not-allowed",
			Hint: "the person at the machine decides that: `ctx status` says how"}, true
	case errors.As(err, &half) && half.Lost:
		return Problem{Code: Corrupt, Kind: "corrupt",
			Hint: "`ctx fsck --repair` makes it again from what the log says"}, true
	case errors.Is(err, repo.ErrHalf):
		return Problem{Code: NoStore, Kind: "no-store",
			Hint: "`ctx init` in the same directory finishes it"}, true
	case errors.Is(err, repo.ErrHome), errors.Is(err, repo.ErrInside):
		return Problem{Code: Failed, Kind: "failed",
			Hint: "run the command in the directory of a project"}, true
	case errors.As(err, &owner):
		return Problem{Code: NoStore, Kind: "no-store",
			Hint: "if you trust the store, set CTX_DIR to its path"}, true
	case errors.As(err, &version) && version.Early && version.What == "remote":
		return Problem{Code: NoStore, Kind: "older-format",
			Hint: "add an empty place as a remote and push to it: it gets all that is shared"}, true
	case errors.As(err, &version) && version.Early:
		return Problem{Code: NoStore, Kind: "older-format",
			Hint: "with that build `ctx export --format jsonl -o FILE` each session, with this one " +
				"`ctx init` elsewhere and `ctx import jsonl FILE`"}, true
	case errors.As(err, &version):
		return Problem{Code: NoStore, Kind: "newer-format",
			Hint: "a newer version of ctx wrote the store: update ctx"}, true
	}
	return Problem{}, false
}

// inStore classifies errors about the state of a store.
func inStore(err error) (Problem, bool) {
	var busy *lock.BusyError
	var stale *refs.StaleError
	var key *repo.KeyError
	switch {
	case errors.As(err, &busy):
		return Problem{Code: Locked, Kind: "locked",
			Hint: "try again, or wait longer with -c lock.timeout=60s"}, true
	case errors.Is(err, history.ErrBlocked):
		return Problem{Code: Blocked, Kind: "blocked"}, true
	case errors.Is(err, history.ErrAfterForget):
		return Problem{Code: Stale, Kind: "refused",
			Hint: "`ctx rewind` moves a branch, and `ctx reflog` lists where it was; " +
				"a pull that was stopped while it forgot for others goes on with `ctx pull`"}, true
	case errors.Is(err, history.ErrRefused):
		return Problem{Code: Stale, Kind: "refused"}, true
	case errors.Is(err, remote.ErrTampered):
		return Problem{Code: Corrupt, Kind: "tampered",
			Hint: "ask who runs the remote what happened; this store is as it was. If the remote " +
				"was restored from a backup, `ctx remote rm` and `ctx remote add` begin anew"}, true
	case errors.Is(err, sharing.ErrCopied):
		return Problem{Code: Stale, Kind: "copied",
			Hint: "`ctx init --new-id` in the one that was copied or restored makes it a store of " +
				"its own, and the next pull brings what the other one has more"}, true
	case errors.Is(err, remote.ErrIncomplete):
		return Problem{Code: Failed, Kind: "incomplete",
			Hint: "run it again later: a program that syncs the folder may be at work; if the " +
				"place was emptied for good, `ctx remote rm` and `ctx remote add` begin anew"}, true
	case errors.Is(err, remote.ErrStale):
		return Problem{Code: Stale, Kind: "stale", Hint: "run it again"}, true
	case errors.Is(err, history.ErrStale), errors.As(err, &stale):
		return Problem{Code: Stale, Kind: "stale",
			Hint: "check the current state with `ctx log` or `ctx op log`, then try again"}, true
	case errors.Is(err, graph.ErrForgot):
		return Problem{Code: Stale, Kind: "stale", Hint: "run it again"}, true
	case errors.As(err, &key):
		return Problem{Code: Corrupt, Kind: "corrupt",
				Hint: "restore the key from a copy; without it the store can be read, " +
					"but not written"},
			true
	case IsCorrupt(err):
		return Problem{Code: Corrupt, Kind: "corrupt",
			Hint: "`ctx fsck` lists what is damaged, `ctx fsck --repair` makes the rest whole"}, true
	case errors.Is(err, refs.ErrMaybe):
		return Problem{Code: Failed, Kind: "failed",
			Hint: "`ctx op log -n 1` shows whether the change was recorded"}, true
	}
	return Problem{}, false
}

// IsCorrupt reports whether an error means that bytes on disk are not what was written.
func IsCorrupt(err error) bool {
	var object *objects.CorruptError
	var ref *refs.CorruptError
	var file *repo.CorruptError
	var forest *rebuild.DiffersError
	var bundle *bundle.DamagedError
	return errors.As(err, &object) || errors.As(err, &ref) || errors.As(err, &file) ||
		errors.As(err, &forest) || errors.As(err, &bundle) || errors.Is(err, refs.ErrBeyondRepair)
}

// named classifies errors about names and ids.
func named(err error) (Problem, bool) {
	var gone *objects.GoneError
	var ambiguous *clusters.AmbiguousError
	var ambiguousName *history.AmbiguousNameError
	switch {
	case errors.Is(err, history.ErrInput), errors.Is(err, epoch.ErrInput):
		return Problem{Code: Usage, Kind: "usage"}, true
	case errors.As(err, &gone), errors.Is(err, history.ErrGone):
		return Problem{Code: Gone, Kind: "gone",
			Hint: "`ctx cat-file -p ID` prints the header that is left"}, true
	case errors.As(err, &ambiguousName):
		return Problem{Code: NotFound, Kind: "ambiguous",
				Hint: "give more characters of the name, or one of the ids in the message"},
			true
	case errors.As(err, &ambiguous):
		return Problem{Code: NotFound, Kind: "ambiguous", Hint: "give more digits of the id"}, true
	case errors.Is(err, history.NoID):
		return Problem{Code: NotFound, Kind: "not-found",
			Hint: "`ctx log`, `ctx forest` and `ctx search WORDS` print ids"}, true
	case errors.Is(err, history.NoStep):
		return Problem{Code: NotFound, Kind: "not-found",
				Hint: "`ctx log` lists messages, `ctx reflog` where a branch was, and `ctx op log` " +
					"what was done"},
			true
	case errors.Is(err, history.ErrNotFound):
		return Problem{Code: NotFound, Kind: "not-found",
			Hint: "`ctx list` lists sessions, `ctx log` and `ctx search WORDS` print ids"}, true
	case errors.Is(err, objects.ErrNotFound):
		// The user did not name the object: something in the store did.
		return Problem{Code: Corrupt, Kind: "corrupt",
			Hint: "`ctx fsck` lists what is damaged, `ctx fsck --repair` makes the rest whole"}, true
	}
	return Problem{}, false
}

// onDisk classifies errors of the file system.
func onDisk(err error) (Problem, bool) {
	p := Problem{Code: Failed, Kind: "failed"}
	switch {
	case errors.Is(err, syscall.ENOSPC):
		p.Hint = "the disk is full; all earlier records are safe"
	case errors.Is(err, fs.ErrExist):
		p.Hint = "the existing file is not changed: choose another path, or remove the file"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		p.Hint = "make the path writable, or choose another one"
	default:
		return p, false
	}
	return p, true
}

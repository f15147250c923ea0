package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
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
	p := Problem{Code: Failed, Kind: "failed", Message: sanitize.Line(err.Error())}
	for _, k := range kinds() {
		if k.fits(err) {
			p.Code, p.Kind, p.Hint = k.code, k.name, k.hint
			break
		}
	}
	if p.Code == Interrupted {
		p.Message = "interrupted"
	}
	var config *repo.ConfigError
	if p.Kind == "usage" && errors.As(err, &config) {
		p.Hint = config.Hint
	}
	var own *hinted
	if errors.As(err, &own) {
		p.Hint = own.hint
	}
	return p
}

// kind is a kind of error: its exit code and name, and what to do about it.
type kind struct {
	code       int
	name, hint string
	fits       func(error) bool
}

const mends = "`ctx fsck` lists what is damaged, `ctx fsck --repair` makes the rest whole"

// kinds returns the kinds of errors. Of those that fit an error, the first is its kind.
func kinds() []kind {
	return []kind{
		{Interrupted, "interrupted", "", is(context.Canceled)},
		{Usage, "usage", "", as[*UsageError]},

		// Finding and opening the store
		{Usage, "usage", "", as[*repo.ConfigError]},
		{NoStore, "no-store", "`ctx init` makes one here; -C DIR or CTX_DIR names another",
			is(repo.ErrNoStore)},
		{Failed, "not-allowed", "the person at the machine decides that: `ctx status` says how",
			is(repo.ErrNotAllowed)},
		{Corrupt, "corrupt", "`ctx fsck --repair` makes it again from what the log says",
			that(func(e *repo.HalfError) bool { return e.Lost })},
		{NoStore, "no-store", "`ctx init` in the same directory finishes it", is(repo.ErrHalf)},
		{Failed, "failed", "the file system has no locks, as some that a network shares: CTX_DIR " +
			"names a place for the store on another one", is(syscall.ENOLCK)},
		{Failed, "failed", "run the command in the directory of a project",
			is(repo.ErrHome, repo.ErrInside)},
		{NoStore, "no-store", "if you trust the store, set CTX_DIR to its path",
			as[*repo.OwnerError]},
		{NoStore, "older-format",
			"add an empty place as a remote and push to it: it gets all that is shared",
			that(func(v *format.VersionError) bool { return v.Early && v.What == "remote" })},
		{NoStore, "older-format", "with that build `ctx export --format jsonl -o FILE` each " +
			"session, with this one `ctx init` elsewhere and `ctx import jsonl FILE`",
			that(func(v *format.VersionError) bool { return v.Early })},
		{NoStore, "newer-format", "a newer version of ctx wrote the store: update ctx",
			as[*format.VersionError]},

		// The state of a store
		{Locked, "locked", "try again, or wait longer with -c lock.timeout=60s",
			as[*lock.BusyError]},
		{Blocked, "blocked", "", is(history.ErrBlocked)},
		{Stale, "refused", "`ctx rewind` moves a branch, and `ctx reflog` lists where it was; a " +
			"pull that was stopped while it forgot for others goes on with `ctx pull`",
			is(history.ErrAfterForget)},
		{Stale, "refused", "", is(history.ErrRefused)},
		{Corrupt, "tampered", "ask who runs the remote what happened; this store is as it was. " +
			"If the remote was restored from a backup, `ctx remote rm` and `ctx remote add` " +
			"begin anew", is(remote.ErrTampered)},
		{Stale, "copied", "`ctx init --new-id` in the one that was copied or restored makes it a " +
			"store of its own, and the next pull brings what the other one has more",
			is(sharing.ErrCopied)},
		{Failed, "incomplete", "run it again later: a program that syncs the folder may be at " +
			"work; if the place was emptied for good, `ctx remote rm` and `ctx remote add` " +
			"begin anew", is(remote.ErrIncomplete)},
		{Stale, "stale", "run it again", is(remote.ErrStale, graph.ErrForgot)},
		{Stale, "stale", "check the current state with `ctx log` or `ctx op log`, then try again",
			either(is(history.ErrStale), as[*refs.StaleError])},
		{Corrupt, "corrupt", "restore the key from a copy; without it the store can be read, " +
			"but not written", as[*repo.KeyError]},
		{Corrupt, "corrupt", mends, IsCorrupt},
		{Failed, "failed", "`ctx op log -n 1` shows whether the change was recorded",
			is(refs.ErrMaybe)},

		// Names and ids
		{Usage, "usage", "", is(history.ErrInput, epoch.ErrInput)},
		{Gone, "gone", "`ctx cat-file -p ID` prints the header that is left",
			either(is(history.ErrGone), as[*objects.GoneError])},
		{NotFound, "ambiguous",
			"give more characters of the name, or one of the ids in the message",
			as[*history.AmbiguousNameError]},
		{NotFound, "ambiguous", "give more digits of the id", as[*clusters.AmbiguousError]},
		{NotFound, "not-found", "`ctx log`, `ctx forest` and `ctx search WORDS` print ids",
			is(history.NoID)},
		{NotFound, "not-found", "`ctx log` lists messages, `ctx reflog` where a branch was, and " +
			"`ctx op log` what was done", is(history.NoStep)},
		{NotFound, "not-found",
			"`ctx list` lists sessions, `ctx log` and `ctx search WORDS` print ids",
			is(history.ErrNotFound)},
		// The user did not name the object: something in the store did
		{Corrupt, "corrupt", mends, is(objects.ErrNotFound)},

		// The file system
		{Failed, "failed", "the disk is full; all earlier records are safe", is(syscall.ENOSPC)},
		{Failed, "failed",
			"the existing file is not changed: choose another path, or remove the file",
			is(fs.ErrExist)},
		{Failed, "failed", "make the path writable, or choose another one",
			is(syscall.EROFS, fs.ErrPermission)},
	}
}

func is(list ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(list, func(e error) bool { return errors.Is(err, e) })
	}
}

func as[T error](err error) bool { return that(func(T) bool { return true })(err) }

func that[T error](fits func(T) bool) func(error) bool {
	return func(err error) bool {
		var e T
		return errors.As(err, &e) && fits(e)
	}
}

func either(list ...func(error) bool) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(list, func(fits func(error) bool) bool { return fits(err) })
	}
}

// IsCorrupt reports whether an error means that bytes on disk are not what was written.
func IsCorrupt(err error) bool {
	return either(is(refs.ErrBeyondRepair), as[*objects.CorruptError], as[*refs.CorruptError],
		as[*repo.CorruptError], as[*repair.DiffersError], as[*bundle.DamagedError])(err)
}

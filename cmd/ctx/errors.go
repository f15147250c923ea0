package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/epoch"
	"github.com/gemini-ctx/ctx/upkeep"
)

// The exit codes. Scripts rely on them; exitCodes says what each means.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNoStore     = 10
	exitLocked      = 11
	exitStale       = 12
	exitCorrupt     = 13
	exitGone        = 14
	exitNotFound    = 15
	exitBlocked     = 16
	exitInterrupted = 130
)

// usageError says that a command line cannot be understood, or asks for what cannot be.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// notFound is an error of session.ErrNotFound's kind.
func notFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", session.ErrNotFound, fmt.Sprintf(format, args...))
}

// hinted is an error with its own hint.
type hinted struct {
	error
	hint string
}

func (e *hinted) Unwrap() error { return e.error }

// withHint gives an error a hint instead of the one that its kind has.
func withHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// exitError ends a command with a code and without a word: the answer is no, or all was said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// problem is an error as its reader gets it.
type problem struct {
	Code    int    `json:"code"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// report tells what went wrong and returns the exit code. cmd is the command that was run, or came closest.
func (a *app) report(c context.Context, cmd *cobra.Command, args []string, err error) int {
	var silent *exitError
	switch {
	case errors.As(err, &silent):
		return silent.code
	case errors.Is(err, syscall.EPIPE):
		return exitFailed // whoever was to read it has gone
	case c.Err() != nil && errors.Is(err, c.Err()):
		err = context.Canceled
	}
	p := explain(err)
	if !a.running && p.Code == exitFailed {
		p.Code, p.Kind = exitUsage, "usage"
	}
	if p.Code == exitUsage && p.Hint == "" && cmd != nil {
		p.Hint = usageHint(cmd)
	}
	if a.json || !a.running && wantsJSON(args) {
		b, _ := json.Marshal(struct { // strings and a number
			V     int     `json:"v"`
			Error problem `json:"error"`
		}{1, p})
		fmt.Fprintf(a.stderr, "%s\n", b)
		return p.Code
	}
	fmt.Fprintf(a.stderr, "ctx: %s\n", p.Message)
	if p.Hint != "" {
		fmt.Fprintf(a.stderr, "hint: %s\n", p.Hint)
	}
	return p.Code
}

// wantsJSON looks for --json in a command line that could not be read.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" {
			return true
		}
	}
	return false
}

func usageHint(cmd *cobra.Command) string {
	return fmt.Sprintf("`%s` says how it is used", strings.Replace(cmd.CommandPath(), "ctx", "ctx help", 1))
}

// explain is where errors get their codes, kinds and hints.
func explain(err error) problem {
	p := classify(err)
	p.Message = oneLine(err.Error())
	if p.Code == exitInterrupted {
		p.Message = "interrupted"
	}
	var own *hinted
	if errors.As(err, &own) {
		p.Hint = own.hint
	}
	return p
}

func classify(err error) problem {
	for _, f := range []func(error) (problem, bool){outside, settings, inStore, named, onDisk} {
		if p, ok := f(err); ok {
			return p
		}
	}
	return problem{Code: exitFailed, Kind: "failed"}
}

// outside knows errors that came with the command line, or from the keyboard.
func outside(err error) (problem, bool) {
	var usage *usageError
	switch {
	case errors.Is(err, context.Canceled):
		return problem{Code: exitInterrupted, Kind: "interrupted"}, true
	case errors.As(err, &usage):
		return problem{Code: exitUsage, Kind: "usage"}, true
	}
	return problem{}, false
}

// settings knows errors about which store is meant and how it is set up.
func settings(err error) (problem, bool) {
	var config *repo.ConfigError
	var owner *repo.OwnerError
	var version *format.VersionError
	switch {
	case errors.As(err, &config):
		return problem{Code: exitUsage, Kind: "usage", Hint: config.Hint}, true
	case errors.Is(err, repo.ErrNoStore):
		return problem{Code: exitNoStore, Kind: "no-store", Hint: "`ctx init` makes one here; -C DIR or CTX_DIR names another"}, true
	case errors.Is(err, repo.ErrHalf):
		return problem{Code: exitNoStore, Kind: "no-store", Hint: "`ctx init` in the same directory finishes it"}, true
	case errors.Is(err, repo.ErrHome):
		return problem{Code: exitFailed, Kind: "failed", Hint: "run it in a project's directory"}, true
	case errors.As(err, &owner):
		return problem{Code: exitNoStore, Kind: "no-store", Hint: "if you trust what is in it, set CTX_DIR to it"}, true
	case errors.As(err, &version):
		return problem{Code: exitNoStore, Kind: "newer-format", Hint: "a newer ctx wrote it: update this one"}, true
	}
	return problem{}, false
}

// inStore knows errors about the state a store is in.
func inStore(err error) (problem, bool) {
	var busy *lock.BusyError
	var stale *refs.StaleError
	var key *repo.KeyError
	switch {
	case errors.As(err, &busy):
		return problem{Code: exitLocked, Kind: "locked", Hint: "try again, or wait longer with -c lock.timeout=60s"}, true
	case errors.Is(err, session.ErrBlocked):
		return problem{Code: exitBlocked, Kind: "blocked"}, true
	case errors.Is(err, session.ErrRefused):
		return problem{Code: exitStale, Kind: "refused"}, true
	case errors.Is(err, session.ErrStale), errors.As(err, &stale):
		return problem{Code: exitStale, Kind: "stale", Hint: "look at it again (`ctx log`, `ctx op log`), then repeat"}, true
	case errors.Is(err, upkeep.ErrForgot):
		return problem{Code: exitStale, Kind: "stale", Hint: "run it again"}, true
	case errors.As(err, &key):
		return problem{Code: exitCorrupt, Kind: "corrupt", Hint: "put the key back from a copy; the store can be read without it, not written"}, true
	case isCorrupt(err):
		return problem{Code: exitCorrupt, Kind: "corrupt", Hint: "`ctx fsck` lists everything that is damaged"}, true
	case errors.Is(err, refs.ErrMaybe):
		return problem{Code: exitFailed, Kind: "failed", Hint: "`ctx op log -n 1` says whether it was"}, true
	}
	return problem{}, false
}

func isCorrupt(err error) bool {
	var object *objects.CorruptError
	var ref *refs.CorruptError
	var file *repo.CorruptError
	var forest *upkeep.DiffersError
	var bundle *upkeep.DamagedError
	return errors.As(err, &object) || errors.As(err, &ref) || errors.As(err, &file) || errors.As(err, &forest) || errors.As(err, &bundle)
}

// named knows errors about what somebody gave, or gave a name.
func named(err error) (problem, bool) {
	var gone *objects.GoneError
	var ambiguous *session.AmbiguousError
	switch {
	case errors.Is(err, session.ErrInput), errors.Is(err, epoch.ErrInput):
		return problem{Code: exitUsage, Kind: "usage"}, true
	case errors.As(err, &gone), errors.Is(err, session.ErrGone):
		return problem{Code: exitGone, Kind: "gone", Hint: "`ctx cat-file -p ID` shows what is left of it"}, true
	case errors.As(err, &ambiguous):
		return problem{Code: exitNotFound, Kind: "ambiguous", Hint: "give more digits"}, true
	case errors.Is(err, session.ErrNotFound):
		return problem{Code: exitNotFound, Kind: "not-found", Hint: "`ctx session list` and `ctx show-ref` list the names there are"}, true
	case errors.Is(err, objects.ErrNotFound):
		// Nobody named it (see resolve): something in the store did.
		return problem{Code: exitCorrupt, Kind: "corrupt", Hint: "`ctx fsck` lists everything that is damaged"}, true
	}
	return problem{}, false
}

// onDisk knows what the file system says.
func onDisk(err error) (problem, bool) {
	p := problem{Code: exitFailed, Kind: "failed"}
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

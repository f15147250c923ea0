package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/session"
)

// The exit codes. Scripts rely on them; exitCodes says what each means.
const (
	exitDone        = failure.Done
	exitFailed      = failure.Failed
	exitUsage       = failure.Usage
	exitNoStore     = failure.NoStore
	exitLocked      = failure.Locked
	exitStale       = failure.Stale
	exitCorrupt     = failure.Corrupt
	exitGone        = failure.Gone
	exitNotFound    = failure.NotFound
	exitBlocked     = failure.Blocked
	exitInterrupted = failure.Interrupted
)

func usagef(format string, args ...any) error { return failure.Usagef(format, args...) }

// notFound is an error of session.ErrNotFound's kind.
func notFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", session.ErrNotFound, fmt.Sprintf(format, args...))
}

// withHint gives an error a hint instead of the one that its kind has.
func withHint(err error, format string, args ...any) error {
	return failure.WithHint(err, format, args...)
}

// exitError ends a command with a code and without a word: the answer is no, or all was said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// problem is an error as its reader gets it.
type problem = failure.Problem

func explain(err error) problem { return failure.Explain(err) }

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
	fmt.Fprintln(a.stderr, p.Text())
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

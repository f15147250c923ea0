package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Every kind of error has its code, however deep it is wrapped.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		kind string
		hint bool
	}{
		{errors.New("whatever"), exitFailed, "failed", false},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, exitFailed, "failed", true},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}, exitFailed, "failed", true},
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrExist}, exitFailed, "failed", true},
		{refs.ErrMaybe, exitFailed, "failed", true},
		{repo.ErrHome, exitFailed, "failed", true},
		{errNotConfirmed, exitFailed, "failed", false},
		{usagef("bad"), exitUsage, "usage", false},
		{history.ErrInput, exitUsage, "usage", false},
		{&repo.ConfigError{Key: "a", Why: "b", Hint: "c"}, exitUsage, "usage", true},
		{repo.ErrNoStore, exitNoStore, "no-store", true},
		{repo.ErrNotAllowed, exitFailed, "not-allowed", true},
		{repo.ErrHalf, exitNoStore, "no-store", true},
		{&repo.HalfError{Path: "x"}, exitNoStore, "no-store", true},
		{&repo.HalfError{Path: "x", Lost: true}, exitCorrupt, "corrupt", true},
		{&repo.OwnerError{Path: "x", UID: 1}, exitNoStore, "no-store", true},
		{&format.VersionError{What: "store", Got: 2, Known: 1}, exitNoStore, "newer-format", true},
		{&format.VersionError{What: "store", Early: true}, exitNoStore, "older-format", true},
		{&lock.BusyError{}, exitLocked, "locked", true},
		{history.ErrStale, exitStale, "stale", true},
		{&refs.StaleError{Ref: "x"}, exitStale, "stale", true},
		{history.ErrRefused, exitStale, "refused", false},
		{graph.ErrForgot, exitStale, "stale", true},
		{&objects.CorruptError{}, exitCorrupt, "corrupt", true},
		{&refs.CorruptError{}, exitCorrupt, "corrupt", true},
		{&repo.CorruptError{}, exitCorrupt, "corrupt", true},
		{&repo.KeyError{}, exitCorrupt, "corrupt", true},
		{fmt.Errorf("%w: %w", history.ErrInput, &repo.KeyError{}), exitCorrupt, "corrupt", true},
		{&repair.DiffersError{}, exitCorrupt, "corrupt", true},
		{objects.ErrNotFound, exitCorrupt, "corrupt", true},
		{&objects.GoneError{}, exitGone, "gone", true},
		{history.ErrGone, exitGone, "gone", true},
		{history.ErrNotFound, exitNotFound, "not-found", true},
		{notFound("no object"), exitNotFound, "not-found", true},
		{&clusters.AmbiguousError{Prefix: "abcd"}, exitNotFound, "ambiguous", true},
		{context.Canceled, exitInterrupted, "interrupted", false},
	} {
		for _, err := range []error{c.err, fmt.Errorf("cannot do it: %w", c.err),
			errors.Join(c.err, errors.New("and the lock"))} {
			p := command.Explain(err)
			if p.Code != c.code || p.Kind != c.kind || (p.Hint != "") != c.hint {
				t.Errorf("%v: %+v, want code %d, kind %s, hint %v", err, p, c.code, c.kind, c.hint)
			}
			if strings.ContainsAny(p.Message, "\n\r") {
				t.Errorf("%q has more than one line", p.Message)
			}
		}
	}
	if p := command.Explain(withHint(history.ErrNotFound, "look %s",
		"there")); p.Hint != "look there" {
		t.Errorf("own hint: %+v", p)
	}
}

// With --json an error is one object on standard error, in a line, and nothing is on standard
// output.
func TestErrorJSON(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"show-ref", "--json"}, {"--json", "nonsense"},
		{"op", "log", "--json", "--nonsense"}, {"--nonsense", "--json"}} {
		code, stdout, stderr := runIn(t, dir, "", args...)
		var doc struct {
			V     int
			Error struct {
				Code                int
				Kind, Message, Hint string
			}
		}
		if err := json.Unmarshal([]byte(stderr), &doc); err != nil {
			t.Fatalf("%v: %v: %s", args, err, stderr)
		}
		if doc.V != 1 || doc.Error.Code != code || code == 0 || doc.Error.Kind == "" ||
			doc.Error.Message == "" || stdout != "" {
			t.Errorf("%v: exit code %d: %+v, %q", args, code, doc, stdout)
		}
	}
	if _, _, stderr := runIn(t, dir, "", "--", "nonsense",
		"--json"); strings.HasPrefix(stderr, "{") {
		t.Errorf("--json after -- is an argument: %s", stderr)
	}
}

// What goes to a terminal cannot move its cursor.
func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":          "plain",
		"two\nlines\t.":  "two lines .",
		"\x1b[31mred":    "\uFFFD[31mred",
		"\u0085\u009b1m": "\uFFFD\uFFFD1m",
		"日本 é":           "日本 é",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// The hint of a command that was used wrongly is an example of its use: its first, and where a flag
// is wrong one that has it.
func TestUsageHint(t *testing.T) {
	for says, hint := range map[string]string{
		"diff":               "as in `ctx diff @{5}`",
		"search":             "as in `ctx search '",
		"note":               "as in `ctx note --kind rule '",
		"append -m hi":       "as in `ctx append -s work --role user ",
		"render --budget 4k": "as in `ctx render -s work --budget 4000`",
		"log -n x":           "as in `ctx log -s work -n 20`",
		"log --since 1.2.26": "as in `ctx log --since yesterday",
		"view --port x":      "--port N: for --serve",
		"branch":             "as in `ctx branch fork ",
		"install nobody":     "one of antigravity, claude-code, ",
		"help nothing":       "`ctx help` lists commands",
	} {
		code, _, stderr := runIn(t, t.TempDir(), "", strings.Fields(says)...)
		if code != exitUsage || !strings.Contains(stderr, "\nhint: "+hint) {
			t.Errorf("%s: %d: %s", says, code, stderr)
		}
	}
}

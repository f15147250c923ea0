package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The exit codes under short names. Scripts rely on them. clierr decides which error ends with
// which code.
const (
	exitDone        = command.Done
	exitFailed      = command.Failed
	exitUsage       = command.Usage
	exitNoStore     = command.NoStore
	exitLocked      = command.Locked
	exitStale       = command.Stale
	exitCorrupt     = command.Corrupt
	exitGone        = command.Gone
	exitNotFound    = command.NotFound
	exitInterrupted = command.Interrupted
)

func usagef(format string, args ...any) error { return command.Usagef(format, args...) }

// notFound returns an error that wraps history.ErrNotFound.
func notFound(format string, args ...any) error {
	return fmt.Errorf("%w: %s", history.ErrNotFound, fmt.Sprintf(format, args...))
}

// withHint gives an error a hint, which replaces the hint of its kind.
func withHint(err error, format string, args ...any) error {
	return command.WithHint(err, format, args...)
}

// exitError ends a command with an exit code and without an error message.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

// exitIf ends a command with an exit code if something is so.
func exitIf(so bool, code int) error {
	if so {
		return &exitError{code}
	}
	return nil
}

// foundOr returns nil if something was found. Else it says so to a person, and returns the error
// that ends with the code for an answer that is no.
func (a *app) foundOr(found bool, none string) error {
	if !found && !a.json {
		a.say("%s", none)
	}
	return exitIf(!found, exitFailed)
}

// report tells what went wrong and returns the exit code. cmd is the command that was run, or came
// closest.
func (a *app) report(c context.Context, cmd *cobra.Command, args []string, err error) int {
	var silent *exitError
	if errors.As(err, &silent) {
		return silent.code
	}
	if errors.Is(err, sessions.NoSession{}) {
		err = withHint(err,
			"`ctx import --all` brings what agents have of this project, and `ctx session list` "+
				"has what others share")
	}
	if errors.Is(err, history.ErrNotFound) && !errors.Is(err, history.NoStep) ||
		errors.Is(err, history.ErrInput) {
		err = a.meant(cmd, args, err)
	}
	f := command.FailedWith{Err: err, Running: a.running,
		JSON: a.json || !a.running && command.HasFlag(args, "--json")}
	if cmd != nil {
		f.Hint = usageHint(cmd, err)
	}
	if a.running {
		f.Short = a.shortened
	}
	return f.Report(c, a.stderr)
}

// shortened names sessions in a text as lists do: nobody knows one by its UUID.
func (a *app) shortened(text string) string {
	if strings.Count(text, "-") < 4 {
		return text
	}
	s, view, err := a.openView()
	if err != nil {
		return text
	}
	defer s.Close() //nolint:errcheck // it was opened for reading
	var pairs []string
	for name, short := range sessions.ShortNames(history.SessionsOf(view)) {
		if name != short {
			pairs = append(pairs, name, short)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// meant gives an error about a name that is not found the hint for what somebody who knows git may
// have meant: a file, another way to name a revision, a flag with one dash, or a near name.
func (a *app) meant(cmd *cobra.Command, args []string, err error) error {
	for _, arg := range args[min(1, len(args)):] {
		if f := strings.TrimPrefix(arg, "-"); cmd != nil && len(f) > 1 && cmd.Flag(f) != nil {
			return withHint(err, "did you mean --%s?", f)
		}
		arg = arg[strings.IndexByte(arg, '=')+1:]
		at := strconv.Quote(arg)
		if !errors.Is(err, history.ErrNotFound) {
			at = "session " + at // another input may be a file of that name
		}
		if !strings.Contains(err.Error(), at) {
			continue
		}
		if info, failed := os.Stat(a.path(arg)); failed == nil && !info.IsDir() {
			return withHint(err, "`ctx log --file %s` has what changed a file, `ctx blame %s` who wrote "+
				"its lines", arg, arg)
		}
		if !errors.Is(err, history.ErrNotFound) {
			continue
		}
		if strings.ContainsAny(arg, "^:{") || strings.Contains(arg, "..") {
			return withHint(err, "`ctx help revisions` says how sessions and messages are named")
		}
		if a.isTime(arg) {
			return withHint(err, "`ctx list --since %q` lists the sessions of a time", arg)
		}
		if near := a.nearName(arg); near != "" && near != arg && !strings.Contains(arg, "~") {
			return withHint(err, "did you mean `%s`?", near)
		}
	}
	return err
}

// nearName returns the session, the branch or the word of a title that is nearest to a name of four
// letters or more; "" for none.
func (a *app) nearName(name string) string {
	s, view, err := a.openView()
	if err != nil || len(name) < history.MinPrefix {
		return ""
	}
	defer s.Close() //nolint:errcheck // it was opened for reading
	var known []string
	list, _ := s.Recall.Overviews(view) // an error was told when the name was looked for
	for i := range list {
		known = append(known, strings.Fields(strings.ToLower(sessions.ShortName(view, list[i].Name)+
			" "+list[i].Title+" "+strings.Join(history.BranchesIn(view, list[i].Name), " ")))...)
	}
	return oneLine(repo.Nearest(strings.ToLower(name), known))
}

// usageHint says how a command is used: by the first example of its help, and where an error names
// a flag by the first that has it. A flag that no example has says what it is for.
func usageHint(cmd *cobra.Command, err error) string {
	if !cmd.HasParent() || cmd.Name() == "help" {
		return "`ctx help` lists commands, and `ctx help --all` every one"
	}
	var named *pflag.Flag
	says := strings.ReplaceAll(err.Error(), ":", " ") + " "
	cmd.Flags().VisitAll(func(f *pflag.Flag) { // "ctx NAME needs" prints how all are given
		if strings.Contains(says, "--"+f.Name+" ") && !strings.HasPrefix(says, "ctx ") {
			named = f
		}
	})
	describe(cmd)
	for line := range strings.Lines(cmd.Example) {
		line = strings.TrimSpace(line)
		if named == nil && line != "" || named != nil && (strings.Contains(line, "--"+named.Name) ||
			named.Shorthand != "" && strings.Contains(line, " -"+named.Shorthand+" ")) {
			return fmt.Sprintf("as in `%s`", line)
		}
	}
	if named != nil {
		value, does := pflag.UnquoteUsage(named)
		return strings.TrimRight("--"+named.Name+" "+value, " ") + ": " + does
	}
	return fmt.Sprintf("`%s` says how it is used",
		strings.Replace(cmd.CommandPath(), "ctx", "ctx help", 1))
}

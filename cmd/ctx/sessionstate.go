package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// stateFlags say whose state a command is about.
type stateFlags struct {
	cmd                *cobra.Command
	session, app, user string
}

func (o *stateFlags) add(a *app, cmd *cobra.Command) {
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "the session (default: the one that HEAD names)")
	f.StringVar(&o.app, "app", "", "the app: its keys begin with app:")
	f.StringVar(&o.user, "user", "", "the app's user: their keys begin with user:")
	completeFlag(cmd, "session", a.completeSessions())
}

// names returns whose state is meant. With an app there need be no session, as long as none is named.
func (o *stateFlags) names(view *refs.View) (session.StateNames, error) {
	n := session.StateNames{Session: o.session, App: o.app, User: o.user}
	for _, name := range []struct{ flag, name string }{{"session", o.session}, {"app", o.app}, {"user", o.user}} {
		if o.cmd.Flags().Changed(name.flag) {
			if err := checkName(name.flag, name.name); err != nil {
				return n, err
			}
		}
	}
	if o.user != "" && o.app == "" {
		return n, usagef("--user goes with --app")
	}
	var err error
	if n.Session, err = sessionOr(view, n.Session); session.IsMissing(err) && o.app != "" {
		err = nil
	}
	return n, err
}

func newSessionStateCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	cmd := &cobra.Command{
		Use:   "state [get | set | rm]",
		Short: "Show and set the state of a session",
		Long: long(`Shows what an agent keeps with a session besides what is said in it: keys, with JSON values. A key that begins with app: is one for
all sessions of the --app, one that begins with user: for all of its --user; they are shown where these are named. A key that begins
with temp: is never kept.

A rewind leaves the state alone. Removing a session removes its own keys, not the shared ones.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx session state -s work\n  ctx session state -s work --app shop --user ada --json",
		Args:    noSuchCommand,
		RunE: func(*cobra.Command, []string) error {
			n, list, err := o.read(a)
			if err != nil {
				return err
			}
			return printState(a, n, list)
		},
	}
	o.add(a, cmd)
	cmd.AddCommand(newSessionStateGetCmd(a), newSessionStateSetCmd(a), newSessionStateRmCmd(a))
	return cmd
}

func (o *stateFlags) read(a *app) (n session.StateNames, list []session.StateValue, err error) {
	s, view, err := a.openView()
	if err != nil {
		return n, nil, err
	}
	if n, err = o.names(view); err != nil {
		return n, nil, err
	}
	list, err = s.State(view, n)
	return n, list, err
}

func printState(a *app, n session.StateNames, list []session.StateValue) error {
	if !a.json {
		var rows [][]string
		for _, v := range list {
			rows = append(rows, []string{oneLine(v.Key), oneLine(string(v.Value))})
		}
		a.table(rows)
		return nil
	}
	state, err := session.EncodeState(list)
	if err != nil {
		return err
	}
	return a.printJSON(struct {
		V       int             `json:"v"`
		Session *string         `json:"session"`
		App     *string         `json:"app"`
		User    *string         `json:"user"`
		State   json.RawMessage `json:"state"`
	}{1, orNull(n.Session), orNull(n.App), orNull(n.User), state})
}

func newSessionStateGetCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	cmd := &cobra.Command{
		Use:     "get KEY",
		Short:   "Print the value of a key",
		Long:    long("Prints a value, as JSON. Where there is no such key the exit code is 1.", exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx session state get -s work branch\n  ctx session state get --app shop app:currency",
		Args:    between(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			_, list, err := o.read(a)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(list, func(v session.StateValue) bool { return v.Key == args[0] })
			if i < 0 {
				return &exitError{exitFailed}
			}
			a.line("%s", list[i].Value)
			return nil
		},
	}
	o.add(a, cmd)
	return cmd
}

func newSessionStateSetCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	lines := false
	cmd := &cobra.Command{
		Use:   "set KEY=JSON... | --jsonl [FILE]",
		Short: "Set keys, all or none of them",
		Long: long(`Sets keys to JSON values, in one operation; or, with --jsonl, to those of JSON objects, one a line, from a file or standard input. null
is a value, too. What looks like a secret is replaced by [REDACTED:<class>] before it is stored. `+"`ctx undo`"+` takes the operation back, if
nobody has changed the same keys' session, app or user since.`, exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: `  ctx session state set -s work branch='"main"' tries=3
  ctx session state set --app shop --user ada app:currency='"EUR"' user:lang='"en"'
  echo '{"tries":4,"temp:token":"x"}' | ctx session state set -s work --jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if lines {
				return between(0, 1)(cmd, args)
			}
			return between(1, -1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var changes []session.StateChange
			var err error
			if lines {
				changes, err = stateLines(cmd.Context(), a, append(args, "-")[0])
			} else {
				changes, err = statePairs(args)
			}
			if err != nil {
				return err
			}
			return o.change(cmd.Context(), a, changes)
		},
	}
	o.add(a, cmd)
	cmd.Flags().BoolVar(&lines, "jsonl", false, "a JSON object of keys and values a line, from a file or standard input")
	return cmd
}

func newSessionStateRmCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	cmd := &cobra.Command{
		Use:     "rm KEY...",
		Short:   "Take keys away, all or none of them",
		Long:    long("Takes keys away, in one operation. One that is not there is counted, and no error.", exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  ctx session state rm -s work branch tries",
		Args:    between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var changes []session.StateChange
			for _, key := range args {
				changes = append(changes, session.StateChange{StateValue: session.StateValue{Key: key}, Remove: true})
			}
			return o.change(cmd.Context(), a, changes)
		},
	}
	o.add(a, cmd)
	return cmd
}

func (o *stateFlags) change(c context.Context, a *app, changes []session.StateChange) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	n, err := o.names(view)
	if err != nil {
		return err
	}
	done, err := s.SetState(c, n, changes)
	if err != nil {
		return err
	}
	if len(done.Found) > 0 {
		a.say("ctx: session state: cleaned: %s", counts(byClass(done.Found)))
	}
	if a.json {
		return a.printJSON(struct {
			V       int     `json:"v"`
			Session *string `json:"session"`
			Set     int     `json:"set"`
			Removed int     `json:"removed"`
			Same    int     `json:"same"`
			Temp    int     `json:"temp"` // not kept
		}{1, orNull(n.Session), done.Set, done.Removed, done.Same, done.Temp})
	}
	if done.Temp > 0 {
		a.say("ctx: session state: not kept: %s with the prefix temp:", plural(done.Temp, "key", "keys"))
	}
	return nil
}

// maxStateChanges is how many keys a command sets at most: as many as a scope may have.
const maxStateChanges = 10_000

// statePairs reads KEY=JSON arguments.
func statePairs(args []string) ([]session.StateChange, error) {
	var list []session.StateChange
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usagef("not KEY=JSON: %.80q", arg)
		}
		if !utf8.ValidString(value) || !json.Valid([]byte(value)) {
			return nil, withHint(usagef("the value of %.80q is not JSON: %.80q", key, value), `a text is in quotes: %s='"…"'`, oneLine(key))
		}
		list = append(list, stateChange(key, []byte(value)))
	}
	return list, nil
}

func stateChange(key string, value []byte) session.StateChange {
	return session.StateChange{StateValue: session.StateValue{Key: key, Value: bytes.Clone(bytes.TrimSpace(value))}}
}

// stateLines reads objects, a line each. A blank line is none.
func stateLines(c context.Context, a *app, file string) ([]session.StateChange, error) {
	in, closeInput, err := a.input(file)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	var list []session.StateChange
	lines := newLineReader(in)
	for number := 1; ; number++ {
		line, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case errors.Is(err, errLongLine):
			return nil, usagef("line %d: %v", number, err)
		case err != nil:
			return nil, fmt.Errorf("cannot read the state: %w", err)
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		err = eachMember(line, func(key, value []byte) error {
			if len(list) == maxStateChanges {
				return fmt.Errorf("more than %d keys", maxStateChanges)
			}
			if len(value) > session.MaxStateValue {
				return fmt.Errorf("value of %d bytes: %d is the most", len(value), session.MaxStateValue)
			}
			list = append(list, stateChange(string(key), value))
			return nil
		})
		if err != nil {
			return nil, usagef("line %d: %v", number, err)
		}
		if err := c.Err(); err != nil {
			return nil, err
		}
	}
}

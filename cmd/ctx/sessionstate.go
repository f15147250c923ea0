package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/refs"
)

// stateFlags say whose state a command uses.
type stateFlags struct {
	cmd                *cobra.Command
	session, app, user string
}

// newCmd returns a command with the flags, see app.newCmd.
func (o *stateFlags) newCmd(a *app, use string, run runE) *cobra.Command {
	cmd := a.newCmd(use, run)
	o.cmd = cmd
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "the session (default: that of HEAD)")
	f.StringVar(&o.app, "app", "", "the app, for keys with app:")
	f.StringVar(&o.user, "user", "", "the app's user, for keys with user:")
	a.completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// names returns the owners of the state. With an app, there may be no session if none is named.
func (o *stateFlags) names(
	s *session.Store, view *refs.View,
) (state.Names, error) {
	n := state.Names{Session: o.session, App: o.app, User: o.user}
	for _, name := range []struct{ flag, name string }{{"session", o.session}, {"app", o.app},
		{"user", o.user}} {
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
	if n.Session, err = sessionOr(s, view, n.Session); clusters.IsMissing(err) && o.app != "" {
		err = nil
	}
	return n, err
}

func newSessionStateCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	cmd := o.newCmd(a, "state [get | set | rm]", func([]string) error {
		n, list, err := o.read(a)
		if err != nil {
			return err
		}
		return printState(a, n, list)
	})
	return group(cmd, newSessionStateGetCmd(a), newSessionStateSetCmd(a), newSessionStateRmCmd(a))
}

func (o *stateFlags) read(
	a *app,
) (n state.Names, list []state.Pair, err error) {
	s, view, err := a.openView()
	if err != nil {
		return n, nil, err
	}
	if n, err = o.names(s, view); err != nil {
		return n, nil, err
	}
	list, err = s.State.Get(view, n)
	return n, list, err
}

func printState(a *app, n state.Names, list []state.Pair) error {
	if !a.json {
		rows := lists.Map(list, func(v state.Pair) []string {
			return []string{oneLine(v.Key), oneLine(string(v.Value))}
		})
		a.table(rows)
		return nil
	}
	state, err := state.Encode(list)
	if err != nil {
		return err
	}
	return a.answer("session", document.OrNull(n.Session), "app", document.OrNull(n.App), "user",
		document.OrNull(n.User), "state", json.RawMessage(state))
}

func newSessionStateGetCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	return o.newCmd(a, "get KEY", func(args []string) error {
		_, list, err := o.read(a)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list,
			func(v state.Pair) bool { return v.Key == args[0] })
		if i < 0 {
			return &exitError{exitFailed}
		}
		a.line("%s", list[i].Value)
		return nil
	})
}

func newSessionStateSetCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	lines := false
	cmd := o.newCmd(a, "set KEY=JSON... | --jsonl [FILE]", func(args []string) error {
		var changes []state.Change
		var err error
		if lines {
			changes, err = stateLines(a, append(args, "-")[0])
		} else {
			changes, err = statePairs(args)
		}
		if err != nil {
			return err
		}
		return o.change(a, changes)
	})
	cmd.Args = either(&lines, between(0, 1), between(1, -1))
	cmd.Flags().BoolVar(&lines, "jsonl", false,
		"read JSON objects from lines of a file or standard input")
	return cmd
}

func newSessionStateRmCmd(a *app) *cobra.Command {
	o := &stateFlags{}
	return o.newCmd(a, "rm KEY...", func(args []string) error {
		return o.change(a, lists.Map(args, func(key string) state.Change {
			return state.Change{Pair: state.Pair{Key: key},
				Remove: true}
		}))
	})
}

func (o *stateFlags) change(a *app, changes []state.Change) error {
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	n, err := o.names(s, view)
	if err != nil {
		return err
	}
	done, err := s.State.Set(a.c, n, changes)
	if err != nil {
		return err
	}
	a.sayCleaned("session state", done.Found)
	if a.json {
		return a.answer("session", document.OrNull(n.Session), "set", done.Set, "removed",
			done.Removed, "same", done.Same, "temp", done.Temp)
	}
	if done.Temp > 0 {
		a.say("ctx: session state: not kept: %s with the prefix temp:",
			plural(done.Temp, "key", "keys"))
	}
	return nil
}

// maxStateChanges is the maximum number of keys in one command, and in one scope.
const maxStateChanges = 10_000

// statePairs parses KEY=JSON arguments.
func statePairs(args []string) ([]state.Change, error) {
	var list []state.Change
	for _, arg := range args {
		key, value, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, usagef("not KEY=JSON: %.80q", arg)
		}
		if !utf8.ValidString(value) || !json.Valid([]byte(value)) {
			return nil,
				withHint(usagef("the value of %.80q is not JSON: %.80q", key, value),
					`a text is in quotes: %s='"…"'`, oneLine(key))
		}
		list = append(list, stateChange(key, []byte(value)))
	}
	return list, nil
}

func stateChange(key string, value []byte) state.Change {
	return state.Change{Pair: state.Pair{Key: key,
		Value: bytes.Clone(bytes.TrimSpace(value))}}
}

// stateLines reads one object from each line. It skips empty lines.
func stateLines(a *app, file string) ([]state.Change, error) {
	in, closeInput, err := a.inputText(file)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	var list []state.Change
	err = jsonl.Each(a.c, in, func(line []byte) error {
		members, err := jsonvalue.Members(line)
		for _, m := range members {
			if len(list) == maxStateChanges {
				return fmt.Errorf("more than %d keys", maxStateChanges)
			}
			if len(m.Value) > state.MaxValue {
				return fmt.Errorf("value of %d bytes: %d is the most", len(m.Value),
					state.MaxValue)
			}
			list = append(list, stateChange(m.Name, m.Value))
		}
		return err
	})
	var bad *jsonl.LineError
	switch {
	case errors.As(err, &bad):
		return nil, usagef("%v", bad)
	case err != nil && a.c.Err() == nil:
		return nil, fmt.Errorf("cannot read the state: %w", err)
	}
	return list, err
}

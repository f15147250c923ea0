package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/epoch"
)

func newEpochShowCmd(a *app) *cobra.Command {
	var o struct {
		branchFlags
		at string
	}
	cmd := &cobra.Command{
		Use:   "show [-s SESSION] [--at REV]",
		Short: "Print what the model of a branch was told",
		Long: long(`Prints the initial block that is in force and the updates since, as they were sent. With --at it is what was in force at an entry: so
what was told before a leave, which is in no block and no update any more, is still there. A branch in which nothing was observed prints nothing.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example:           "  ctx epoch show -s work\n  ctx epoch show --at 3f9a6c01 --json",
		Args:              between(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			s, view, err := a.openView()
			if err != nil {
				return err
			}
			var tip format.ID
			if o.at == "" {
				_, _, value, err := o.tip(view)
				if err != nil {
					return err
				}
				tip = value.ID
			} else {
				name, err := sessionOr(view, o.session)
				if err != nil && !session.IsMissing(err) {
					return err
				}
				if tip, err = resolveEntry(s, view, inBranch(o.at, name, o.branch)); err != nil {
					return err
				}
			}
			shown, err := s.EpochAt(tip)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(epochDocOf(tip, shown))
			} else {
				printEpoch(a, shown)
			}
			if err == nil {
				err = unreadable(shown)
			}
			return err
		},
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.Flags().StringVar(&o.at, "at", "", "what was in force at the entry `REV`")
	return cmd
}

type epochDoc struct {
	V       int       `json:"v"`
	At      string    `json:"at"`    // the entry
	Epoch   *string   `json:"epoch"` // null where nothing was observed
	Entry   *string   `json:"entry"` // that names it
	Step    *string   `json:"step"`
	Initial []keyDoc  `json:"initial"`
	Current []keyDoc  `json:"current"`
	Updates []toldDoc `json:"updates"`
}

type keyDoc struct {
	Key     string          `json:"key"`
	Blob    *string         `json:"blob"` // null where it was removed
	Value   json.RawMessage `json:"value"`
	Text    string          `json:"text"`
	Removed bool            `json:"removed,omitempty"`
	Missing bool            `json:"missing,omitempty"` // it cannot be read any more
}

type toldDoc struct {
	Entry string            `json:"entry"`
	Epoch string            `json:"epoch"`
	Seq   uint64            `json:"seq"`
	Time  string            `json:"time"`
	Delta map[string]string `json:"delta"`
	Text  string            `json:"text"`
}

func epochDocOf(at format.ID, e session.EpochShown) epochDoc {
	d := epochDoc{
		V: 1, At: at.String(), Epoch: idText(e.ID), Entry: idText(e.Entry), Step: orNull(e.Step),
		Initial: keyDocs(e.Initial), Current: keyDocs(e.Current), Updates: make([]toldDoc, 0, len(e.Updates)),
	}
	for _, u := range e.Updates {
		d.Updates = append(d.Updates, toldDoc{u.Entry.String(), u.Epoch.String(), u.Seq, timeText(u.Time), deltaDoc(u.Delta), u.Text})
	}
	return d
}

func keyDocs(keys []session.EpochKey) []keyDoc {
	list := make([]keyDoc, 0, len(keys))
	for _, k := range keys {
		list = append(list, keyDoc{k.Key, idText(k.Blob), k.Value, k.Text, k.Blob.IsZero(), k.Missing})
	}
	return list
}

// printEpoch prints the block and the updates, a blank line between any two of them.
func printEpoch(a *app, e session.EpochShown) {
	between := ""
	say := func(text string) {
		a.printf("%s%s\n", between, text)
		between = "\n"
	}
	for _, k := range e.Initial {
		if !k.Missing {
			say(k.Text)
		}
	}
	for _, u := range e.Updates {
		say(epoch.Wrap(u.Text))
	}
}

// unreadable says which part of the block could not be shown.
func unreadable(e session.EpochShown) error {
	for _, k := range e.Initial {
		if k.Missing {
			return withHint(fmt.Errorf("what was told of %s cannot be read: %w", k.Key, objects.ErrNotFound), "the next `ctx epoch observe` tells it anew")
		}
	}
	return nil
}

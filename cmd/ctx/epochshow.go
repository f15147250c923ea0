package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

func newEpochShowCmd(a *app) *cobra.Command {
	var o struct {
		branchFlags
		at string
	}
	cmd := o.newCmd(a, "show [-s SESSION] [--at REV]",
		a.onView(func(s *session.Store, view *refs.View, _ []string) error {
			var tip format.ID
			if o.at == "" {
				_, _, value, err := o.tip(s, view)
				if err != nil {
					return err
				}
				tip = value.ID
			} else {
				name, err := sessionOr(s, view, o.session)
				if err != nil && !clusters.IsMissing(err) {
					return err
				}
				if tip, err = resolveEntry(s, view,
					clusters.InBranch(o.at, name, o.branch)); err != nil {
					return err
				}
			}
			shown, err := s.Recall.EpochAt(tip)
			if err != nil {
				return err
			}
			if a.json {
				err = a.answer("at", tip, "epoch", shown.ID, "entry", shown.Entry, "step",
					document.OrNull(shown.Step),
					"initial", shown.Initial, "current", shown.Current, "updates",
					toldDocs(shown.Updates))
			} else {
				printEpoch(a, shown)
			}
			if err == nil {
				err = unreadable(shown)
			}
			return err
		}))
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.Flags().StringVar(&o.at, "at", "", "print what was current at the entry `REV`")
	return cmd
}

type toldDoc struct {
	Entry format.ID         `json:"entry"`
	Epoch format.ID         `json:"epoch"`
	Seq   uint64            `json:"seq"`
	Time  string            `json:"time"`
	Delta map[string]string `json:"delta"`
	Text  string            `json:"text"`
}

func toldDocs(updates []epochs.EpochUpdate) []toldDoc {
	return lists.Map(updates, func(u epochs.EpochUpdate) toldDoc {
		return toldDoc{u.Entry, u.Epoch, u.Seq, document.TimeText(u.Time), deltaDoc(u.Delta),
			u.Text}
	})
}

// printEpoch prints the block and the updates, with an empty line between them.
func printEpoch(a *app, e recall.EpochShown) {
	var texts []string
	for _, k := range e.Initial {
		if !k.Missing {
			texts = append(texts, k.Text+"\n")
		}
	}
	for _, u := range e.Updates {
		texts = append(texts, epoch.Wrap(u.Text)+"\n")
	}
	_ = a.forModel(strings.Join(texts, "\n")) // a.out keeps the error
}

// unreadable returns an error if a part of the block cannot be read.
func unreadable(e recall.EpochShown) error {
	for _, k := range e.Initial {
		if k.Missing {
			return withHint(fmt.Errorf("the text of %s cannot be read: %w", k.Key,
				objects.ErrNotFound), "the next `ctx epoch observe` tells it again")
		}
	}
	return nil
}

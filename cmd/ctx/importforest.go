package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/gemini-ctx/ctx/internal/exchange"
	"github.com/gemini-ctx/ctx/internal/history"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/unionfind"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newImportUnionFindCmd(a *app) *cobra.Command {
	var named string
	cmd := &cobra.Command{
		Use:   "union-find-json FILE...",
		Short: "Import forests that were written as one file",
		Long: long(`Imports what `+"`ctx forest --format union-find-json`"+` wrote, - for standard input. The messages become the session that -s names, or
one named after the store that the file is of. Each joins the cluster that the file has it in; summaries stand for what they stood for, under
the names of their summarizers; tombstones are evicted. A file can be imported again, and so can one that has grown: what is known is not
added again, and no summary that is here is replaced. A session with other messages that have not graduated is refused.`,
			exitNoStore, exitLocked, exitStale, exitCorrupt),
		Example: "  ctx import union-find-json union-find.json\n  ctx import union-find-json --json -s old - <union-find.json",
		Args:    between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("session") {
				if err := checkName("session", named); err != nil {
					return err
				}
			}
			return importForests(cmd.Context(), a, named, args)
		},
	}
	cmd.Flags().StringVarP(&named, "session", "s", "", "the session (default: union-find- and the first digits of the store's id)")
	completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// importForests imports one file after the other. One that cannot be read does not keep the others
// from it.
func importForests(c context.Context, a *app, named string, files []string) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	var first error
	failed, changed := 0, false
	for _, file := range files {
		done, err := importForest(c, a, s, named, file)
		changed = changed || done.Messages+done.Amended+done.Joined+done.Summaries > 0
		if err == nil {
			continue
		}
		if !isAboutFile(err) {
			return err
		}
		failed++
		if first == nil {
			first = err
		}
		if len(files) > 1 {
			fmt.Fprintf(a.stderr, "ctx: %s\n", oneLine(err.Error()))
		}
	}
	if changed {
		a.tidy(c, s)
	}
	if failed > 0 && len(files) > 1 {
		return fmt.Errorf("%d of %d files were not imported", failed, len(files))
	}
	return first
}

func importForest(c context.Context, a *app, s *session.Store, named, file string) (exchange.ImportedForest, error) {
	in, closeInput, err := a.input(file)
	if err != nil {
		return exchange.ImportedForest{}, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	defer closeInput()
	source := &watched{c: c, from: in}
	done, err := s.Exchange.ImportUnionFind(c, source, named)
	if err != nil {
		err = fmt.Errorf("cannot import %q: %w", file, err)
	}
	switch {
	case err == nil:
		return done, printImportedForest(a, file, done)
	case errors.Is(err, unionfind.ErrForm):
		err = &fileError{withHint(err, "`ctx forest --format union-find-json` writes such a file")}
	case errors.Is(err, history.ErrRefused):
		err = &fileError{withHint(err, "-s NAME imports it into a session of its own")}
	case source.err != nil && errors.Is(err, source.err) && c.Err() == nil:
		err = &fileError{err}
	}
	return done, err
}

// importedForestDoc is what came of a file.
type importedForestDoc struct {
	V         int            `json:"v"`
	File      string         `json:"file"`
	Session   string         `json:"session"`
	Messages  int            `json:"messages"` // new in this run, as all but known and lost are
	Known     int            `json:"known"`
	Amended   int            `json:"amended"`
	Joined    int            `json:"joined"`
	Opened    int            `json:"opened"`
	Summaries int            `json:"summaries"`
	Evicted   int            `json:"evicted"`
	Lost      int            `json:"lost"` // summaries and tombstones that do not fit the clusters as they are now
	Cleaned   map[string]int `json:"cleaned"`
}

func printImportedForest(a *app, file string, done exchange.ImportedForest) error {
	d := importedForestDoc{
		V: 1, File: file, Session: done.Session, Messages: done.Messages, Known: done.Known, Amended: done.Amended, Joined: done.Joined,
		Opened: done.Opened, Summaries: done.Summaries, Evicted: done.Evicted, Lost: done.Lost, Cleaned: byClass(done.Redacted),
	}
	if len(d.Cleaned) > 0 {
		a.say("ctx: import: %s: cleaned: %s", file, counts(d.Cleaned))
	}
	if a.json {
		return a.printJSON(d)
	}
	a.line("%s: %s", oneLine(file), tally(
		counted{d.Messages, "message", "messages"}, counted{d.Known, "known", "known"}, counted{d.Amended, "amended", "amended"},
		counted{d.Opened, "cluster", "clusters"}, counted{d.Summaries, "summary", "summaries"}, counted{d.Evicted, "evicted", "evicted"},
		counted{d.Lost, "lost", "lost"},
	))
	return nil
}

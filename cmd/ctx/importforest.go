package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newImportUnionFindCmd(a *app) *cobra.Command {
	o := &ofSession{whole: true}
	cmd := a.newCmd("union-find-json FILE...", func(args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return importEach(a, args, func(s *session.Store, file string) (importedFile, error) {
			return importForest(a, s, o.session, file)
		})
	})
	o.addWith(a, cmd, "the session (default: union-find- and digits of the store's id)")
	return cmd
}

func importForest(a *app, s *session.Store, named, file string) (importedFile, error) {
	out := importedFile{file: file}
	source, closeInput, err := a.openImport(file)
	if err != nil {
		return out, err
	}
	defer closeInput()
	done, err := s.ForestFile.Import(a.c, source, named)
	out.new, out.known = done.Messages, done.Known
	if err != nil {
		err = fmt.Errorf("cannot import %q: %w", file, err)
	}
	switch {
	case err == nil:
		return out, printImportedForest(a, file, done)
	case errors.Is(err, forestfile.ErrForm):
		err = &fileError{withHint(err, "`ctx forest --format union-find-json` writes such a file")}
	case errors.Is(err, history.ErrRefused):
		err = &fileError{withHint(err, "-s NAME imports it into a session of its own")}
	case source.err != nil && errors.Is(err, source.err) && a.c.Err() == nil:
		err = &fileError{err}
	}
	return out, err
}

func printImportedForest(a *app, file string, d forestfile.Imported) error {
	took := byClass(d.Redacted)
	if len(took) > 0 {
		a.say("ctx: import: %s: cleaned: %s", file, cleaned(took))
	}
	if a.json {
		return a.answer("file", file, d, "cleaned", took)
	}
	a.line("%s: %s", oneLine(file), tally(
		counted{d.Messages, "message", "messages"}, counted{d.Known, "known", "known"},
		counted{d.Amended, "amended", "amended"},
		counted{d.Opened, "cluster", "clusters"}, counted{d.Summaries, "summary", "summaries"},
		counted{d.Evicted, "evicted", "evicted"},
		counted{d.Lost, "lost", "lost"},
	))
	return nil
}

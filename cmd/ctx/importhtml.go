package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/history"
	viewer "github.com/gemini-ctx/ctx/internal/page"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newImportHTMLCmd(a *app) *cobra.Command {
	return a.newCmd("html FILE...", func(args []string) error {
		return importEach(a, args, func(s *session.Store, file string) (importedFile, error) {
			return importPage(a, s, file)
		})
	})
}

// maxPage is the most bytes of a page that is read.
const maxPage = 1 << 30

func importPage(a *app, s *session.Store, file string) (importedFile, error) {
	out := importedFile{file: file}
	source, closeInput, err := a.openImport(file)
	if err != nil {
		return out, err
	}
	defer closeInput()
	b, err := io.ReadAll(io.LimitReader(source, maxPage))
	if err != nil {
		return out, importError(a.c, source, file, err)
	}
	done, err := viewer.Take(a.c, s, b)
	if err == nil {
		out.session, out.new, out.known = done.Session, done.Messages, done.Known
		out.changed = done.Moved && done.Branch == history.MainBranch
		return out, printTaken(a, file, done)
	}
	err = fmt.Errorf("cannot import %q: %w", file, err)
	switch {
	case errors.Is(err, viewer.ErrForm):
		err = &fileError{withHint(err, "`ctx export --format html` writes such a page")}
	case errors.Is(err, history.ErrStale):
		err = &fileError{withHint(err,
			"import it into another store, such as one that `ctx init` makes in an "+
				"empty directory")}
	}
	return out, err
}

func printTaken(a *app, file string, d viewer.Taken) error {
	if a.json {
		return a.answer("file", file, "session", d.Session, "branch", d.Branch, "messages",
			d.Messages, "objects", d.Others, "known", d.Known, "wordless", d.Wordless)
	}
	a.line("%s: %s", oneLine(file), tally(
		counted{d.Messages, "message", "messages"},
		counted{d.Others, "other object", "other objects"},
		counted{d.Known, "known", "known"}, counted{d.Wordless, "without words", "without words"},
	))
	return nil
}

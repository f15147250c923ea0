package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/session"
)

// newImportFormCmd returns the command that imports the transcripts of one agent.
func newImportFormCmd(a *app, f *catalog.Agent) *cobra.Command {
	o := &ofSession{whole: true}
	cmd := a.newCmd(f.Name+" FILE...", func(args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		q := a.asker()
		args, listed, _, err := a.withoutDatabases(q, f.Order(args, a.path), f)
		if err != nil {
			return err
		}
		others := map[string]error{}
		own := slices.DeleteFunc(slices.Clone(args), func(file string) bool {
			if listed[file] == nil && file != "-" {
				others[file] = a.ofAnother(f, file)
			}
			return others[file] != nil
		})
		l := &linker{ahead: readAhead{files: own, named: o.session, listed: listed, asker: q,
			agent: func(string) *catalog.Agent { return f }}}
		next := l.importNext(a)
		return importFiles(a, args,
			func(s *session.Store, file string, then func(importedFile, error) error) error {
				if err := others[file]; err != nil {
					return then(importedFile{file: file}, err)
				}
				return next(s, file, then)
			}, l)
	})
	o.addWith(a, cmd, "the session (default: the transcript's own id)")
	return cmd
}

// linker collects the sessions of subagents, to link them to their tool calls after the last file.
type linker struct {
	children []importer.Child
	newest   bool // all transcripts of the project: HEAD follows to the newest session
	run      *importer.Imports
	ahead    readAhead
	drift    []importer.Drifted
}

func (l *linker) link(a *app, s *session.Store) error {
	if l == nil || len(l.children) == 0 {
		return nil
	}
	n, err := s.Importer.LinkChildren(a.c, l.children)
	if n > 0 {
		a.say("ctx: import: %s", plural(n, "session linked to the one that began it",
			"sessions linked to those that began them"))
	}
	return err
}

// importNext returns what imports the next transcript.
func (l *linker) importNext(
	a *app,
) func(*session.Store, string, func(importedFile, error) error) error {
	return func(_ *session.Store, file string, then func(importedFile, error) error) error {
		return l.read(a,
			l.ahead.next(a, l.run), func(done importer.ImportedTranscript, err error) error {
				return then(l.imported(a, file, done, err))
			})
	}
}

// imported takes what came of a transcript, and prints it.
func (l *linker) imported(
	a *app, file string, done importer.ImportedTranscript, err error,
) (importedFile, error) {
	f := l.ahead.agent(file)
	out := importedFile{file: file, session: done.Session, more: done.Changed,
		skipped: total(done.Stats.Skipped), new: done.Messages, known: done.Known}
	l.children = append(l.children, done.Children...)
	if err != nil {
		return out, err
	}
	for _, name := range done.Back {
		a.say("ctx: import: session %s was removed before, and is there again", oneLine(name))
	}
	path := ""
	if file != "-" {
		path = a.path(file)
	}
	l.drift = append(l.drift, importer.DriftOf(f.Name, path, &done))
	if done.Messages+done.Notes+done.Known+done.Amended == 0 && !l.newest {
		if a.isEmpty(file) { // a document without a byte is not damaged
			clear(done.Stats.Skipped)
			out.skipped = 0
		}
		if err := a.notOf(f, file, &done.Stats); err != nil {
			return out, err
		}
		if out.skipped == 0 {
			a.say("ctx: import: %q: nothing was said in it", file)
		}
	}
	d := importedDocOf(file, done.Session, done.Tally, done.Stats.Skipped, done.Stats.Passed)
	if d.quiet = l.newest; d.quiet {
		out.agent, out.unknown, out.cleaned = f.Name, done.Stats.Kept, d.Cleaned
	}
	if f.Short {
		d.UnknownRewinds = &done.Stats.Unknown
		if len(done.Stats.Kept) > 0 {
			d.Kept = done.Stats.Kept
		}
	} else {
		changed := append([]string{}, done.Changed...)
		d.Agent, d.Changed, d.Returned, d.Kept = f.Name, &changed, &done.Returned, done.Stats.Kept
	}
	return out,
		d.print(a, done.Stats.Unknown, "a message that is not there: everything before left",
			"records")
}

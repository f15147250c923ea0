package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/importer"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/sanitize"
)

func newImportCmd(a *app) *cobra.Command {
	var all, everywhere, dryRun, force bool
	var paths []string
	o := &ofSession{whole: true}
	cmd := a.newCmd("import --all | --everywhere | FILE... | AGENT FILE...",
		func(args []string) error {
			switch {
			case (all || everywhere) && len(args) > 0:
				return usagef("--all and --everywhere find the transcripts: give no FILE")
			case o.session != "" && len(args) == 0:
				return usagef("--session goes with a FILE")
			case everywhere && (all || len(paths) > 0):
				return usagef("--everywhere goes without --all and --path")
			case everywhere:
				return importEverywhere(a, dryRun, force)
			case force:
				return usagef("--force goes with --everywhere")
			case all:
				return importAll(a, paths, dryRun)
			case len(paths) > 0:
				return usagef("--path goes with --all")
			case dryRun:
				return usagef("--dry-run goes with --all or --everywhere")
			case len(args) > 0:
				if err := o.check(); err != nil {
					return err
				}
				return importWhosever(a, args, o.session)
			}
			return withHint(usagef("ctx import needs a FILE, the name of an agent, or --all"),
				"`ctx import --all` brings what agents have of this project")
		})
	cmd.Flags().BoolVar(&all, "all", false, "import every transcript of this project")
	cmd.Flags().StringArrayVar(&paths, "path", nil,
		"with --all: the sessions of `DIR`; may be given again")
	cmd.Flags().BoolVar(&everywhere, "everywhere", false,
		"import those of every project, making stores")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false,
		"list the files, or the projects, and import nothing")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "with --everywhere: do not ask")
	o.addWith(a, cmd, "with a FILE: the session (default: the transcript's own id)")
	for i := range catalog.All() {
		cmd.AddCommand(newImportFormCmd(a, &catalog.All()[i]))
	}
	group(cmd, newImportADKCmd(a), newImportUnionFindCmd(a), newImportHTMLCmd(a),
		newImportEntireCmd(a))
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, name := range args {
			if name == "-" {
				return withHint(usagef("standard input does not say whose it is"),
					"`ctx import AGENT -` reads it; `ctx import --help` lists the agents")
			}
			if _, err := os.Stat(a.path(name)); err != nil && !strings.ContainsAny(name, `./\`) {
				if len(cmd.SuggestionsFor(name)) > 0 {
					return noSuchCommand(cmd, args)
				}
				return withHint(usagef("there is no file %q, and no agent of that name", name),
					"`ctx import --help` lists the agents, `ctx import --all` takes what they have")
			}
		}
		return nil // another name is that of a file
	}
	return cmd
}

// importedFile is the result of importing a file.
type importedFile struct {
	file    string
	agent   string // of one of many files, which may be of several agents
	session string
	changed bool           // the session has something new
	more    []string       // other sessions with something new
	skipped int            // records that cannot be used
	new     int            // messages
	known   int            // messages that the store had before
	unknown map[string]int // records of kinds that ctx does not know, kept: of one of many files
	cleaned map[string]int // what sanitizing took out, by class: of one of many files
}

// joinAfter is the number of messages after which an import joins the packs that it left.
const joinAfter = 1 << 13

// importFiles imports the files in order, and then does what the store needs after an import. one
// imports a file, and tells then what came of it: at once, or with a later file. It returns the
// error of then.
func importFiles(
	a *app, files []string,
	one func(s *session.Store, file string, then func(importedFile, error) error) error, l *linker,
) error {
	defer graph.Frugal(graph.Import)()
	s, err := a.openStore()
	if err != nil {
		return err
	}
	before, err := s.Refs.Read()
	if err != nil {
		return err
	}
	if l != nil {
		if l.run, err = s.Importer.BeginImports(build()); err != nil {
			return err
		}
		l.run.Named = !l.newest
		defer l.ahead.end()
	}
	index := a.indexes(s)
	var due []string // sessions with something new, which nobody has let graduate
	changed := false
	all := newImportTotals(a, len(files))
	all.always = l != nil && l.newest
	defer func() { index(all.messages) }()
	failures := &fileFailures{a: a, of: len(files)}
	then := func(done importedFile, err error) error {
		if done.changed {
			done.more = append(done.more, done.session)
		}
		for _, name := range done.more {
			if !slices.Contains(due, name) {
				due = append(due, name)
			}
		}
		all.add(&done)
		return failures.note(err)
	}
	// What was recorded graduates while the files after it are read.
	joined := 0
	graduate := func() error {
		list := due
		due, changed = nil, changed || len(list) > 0
		if err := s.Conversation.GraduateAndAdoptAll(a.c, list); err != nil ||
			all.messages-joined < joinAfter {
			return err
		}
		joined = all.messages
		return s.Store.EndLoad(a.c)
	}
	for _, file := range files {
		if err := one(s, file, then); err != nil {
			return err
		}
		if err := graduate(); err != nil {
			return err
		}
	}
	if l != nil {
		if err := l.run.Flush(); err != nil {
			return err
		}
	}
	if err := graduate(); err != nil {
		return err
	}
	if l != nil {
		if err := s.Importer.NoteDrift(l.drift...); err != nil {
			a.warn("unknown kinds of records are not remembered: " + err.Error())
		}
		for _, of := range l.drift {
			if err := hooks.Finish(a.c, s, of.Agent, of.Name); err != nil {
				a.warn("the next hook reads a transcript as a whole: " + err.Error())
			}
		}
	}
	failed := failures.failed()
	all.say()
	if err := l.link(a, s); err != nil {
		return err
	}
	if l != nil { // with nothing new, too: the import before may have been killed
		if err := s.FollowPerson(a.c, before); err != nil {
			return err
		}
	}
	if l != nil {
		l.run.Remember()
	}
	if changed || all.messages > 0 {
		a.tidy(s)
	}
	if failed == nil && all.skipped > 0 {
		return fmt.Errorf("%s in the transcripts skipped", plural(all.skipped, "record", "records"))
	}
	return failed
}

// importEach is importFiles for files that one imports by itself.
func importEach(
	a *app, files []string, one func(s *session.Store, file string) (importedFile, error),
) error {
	return importFiles(a, files,
		func(s *session.Store, file string, then func(importedFile, error) error) error {
			return then(one(s, file))
		}, nil)
}

// fileFailures counts the files that were not imported.
type fileFailures struct {
	a    *app
	of   int   // how many files there are
	n    int   // that failed
	only error // of the only file
}

// note takes the error of a file, and says it. It returns any other error.
func (f *fileFailures) note(err error) error {
	var own *fileError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &own):
		return err
	case f.of == 1:
		f.only = err
		return nil
	}
	f.n++
	fmt.Fprintf(f.a.stderr, "ctx: %s\n", oneLine(err.Error()))
	return nil
}

// failed returns the error for the files that were not imported; nil if all were.
func (f *fileFailures) failed() error {
	if f.n > 0 {
		return fmt.Errorf("%d of %d files were not imported", f.n, f.of)
	}
	return f.only
}

// fileError is an error of one file, after which the next file can be imported.
type fileError struct{ error }

func (e *fileError) Unwrap() error { return e.error }

// openImport opens a file to import.
func (a *app) openImport(file string) (source *watched, closeIt func(), err error) {
	in, closeFile, err := a.input(file)
	var unread *openError
	if errors.As(err, &unread) {
		return nil, nil, &fileError{fmt.Errorf("cannot import %w", err)}
	}
	if err != nil {
		return nil, nil, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	text, packed, end, err := catalog.Text(in)
	if err != nil {
		closeFile()
		return nil, nil, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	source = &watched{c: a.c, from: text, packed: packed}
	return source, func() {
		end()
		closeFile()
	}, nil
}

// importedDoc is the JSON document for an imported file. Not every format has all members.
type importedDoc struct {
	Agent   string    `json:"agent,omitempty"`
	File    string    `json:"file"`
	Session string    `json:"session"`
	Changed *[]string `json:"changed,omitempty"` // sessions with something new
	// New in this run, like notes, rewinds and returned
	Messages       int  `json:"messages"`
	Notes          int  `json:"notes"`
	Known          int  `json:"known"`
	Amended        int  `json:"amended"`
	Rewinds        int  `json:"rewinds"`
	UnknownRewinds *int `json:"unknown_rewinds,omitempty"`
	// Messages that left before and are in the transcript again
	Returned   *int           `json:"returned,omitempty"`
	Skipped    int            `json:"skipped"`
	SkippedBy  map[string]int `json:"skipped_by"`
	PassedOver map[string]int `json:"passed_over"` // records that say nothing new
	// Records or fields that ctx does not know, kept as they are
	Kept map[string]int `json:"kept,omitzero"`
	// Events with a known field of the wrong kind, or a time that cannot be read
	Odd     *int           `json:"odd,omitempty"`
	Cleaned map[string]int `json:"cleaned"`

	quiet bool // one of many: for people, what is new, and the rest in the totals
}

// importedDocOf begins the document for a file.
func importedDocOf(
	file, session string, done importer.Tally, skipped, passed map[string]int,
) importedDoc {
	return importedDoc{
		File: file, Session: session, Messages: done.Messages, Notes: done.Notes, Known: done.Known,
		Amended: done.Amended, Rewinds: done.Rewinds,
		Skipped: total(skipped), SkippedBy: skipped, PassedOver: passed,
		Cleaned: byClass(done.Redacted),
	}
}

// print reports an imported file. unknown is the number of rewinds without a target in the store,
// and became the end of the sentence about them. kept names the kind of what d.Kept counts.
func (d *importedDoc) print(a *app, unknown int, became, kept string) error {
	name := oneLine(d.File)
	if d.Skipped > 0 {
		fmt.Fprintf(a.stderr, "ctx: import: %s: skipped: %s\n", name, counts(d.SkippedBy))
	}
	if d.SkippedBy[transcript.SkipTornTail] > 0 {
		a.say("ctx: import: %s: it was cut off, or is being written: what is there is stored", name)
	}
	if unknown > 0 {
		a.say("ctx: import: %s: %s to %s", name, plural(unknown, "rewind", "rewinds"), became)
	}
	if len(d.Kept) > 0 && !d.quiet {
		a.say("ctx: import: %s: unknown %s, kept: %s", name, kept, oneLine(counts(d.Kept)))
	}
	if d.Odd != nil && *d.Odd > 0 {
		a.say("ctx: import: %s: %s with a value of the wrong kind, kept", name,
			plural(*d.Odd, "event", "events"))
	}
	if len(d.Cleaned) > 0 && !d.quiet {
		a.say("ctx: import: %s: cleaned: %s", name, cleaned(d.Cleaned))
	}
	if a.json {
		return a.answer(d)
	}
	if d.quiet && d.Messages+d.Notes+d.Amended+d.Rewinds+d.Skipped == 0 {
		return nil
	}
	if d.quiet && asked(a.outTerm) { // one of many: its place is that of its agent
		name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	}
	a.line("%s: %s", name, tally(
		counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"},
		counted{d.Known, "known", "known"},
		counted{d.Amended, "amended", "amended"}, counted{d.Rewinds, "rewind", "rewinds"},
		counted{d.Skipped, "skipped", "skipped"},
	))
	return nil
}

// importError adds the name of the file to an error. If the input is bad or cannot be read, the
// error is a *fileError.
func importError(c context.Context, source *watched, file string, err error) error {
	if err == nil {
		return nil
	}
	named := fmt.Errorf("cannot import %q: %w", file, err)
	var unread *transcript.ReadError
	switch {
	case errors.Is(err, history.ErrInput):
		return &fileError{withHint(named, "-s NAME gives the session a name")}
	case c.Err() == nil &&
		(source.err != nil && errors.Is(err, source.err) || errors.As(err, &unread)):
		return &fileError{named}
	}
	return named
}

func byClass(found []sanitize.Finding) map[string]int {
	m := map[string]int{}
	for _, f := range found {
		m[f.Class] += f.Count
	}
	return m
}

func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

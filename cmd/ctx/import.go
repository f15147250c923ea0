package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/agent/geminicli"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session"
)

func newImportCmd(a *app) *cobra.Command {
	var all, dryRun bool
	cmd := &cobra.Command{
		Use:   "import --all | gemini-cli|claude-code|codex|opencode|jsonl|adk-events|union-find-json",
		Short: "Import the transcripts of an agent, or a forest",
		Long: long(`Brings what an agent wrote down itself, or the forest of another store, into sessions of this store.

With --all it is every transcript of this project that Gemini CLI, Claude Code, Codex CLI and opencode keep on this machine, found by the project's
directory: each becomes the session of its own id. It can be done again at any time, and adds what is new. --dry-run lists the files.`,
			exitNoStore, exitLocked, exitCorrupt, exitNotFound),
		Example: "  ctx import --all\n  ctx import gemini-cli ~/.gemini/tmp/*/chats/*.jsonl\n  ctx import union-find-json union-find.json",
		Args:    noSuchCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all:
				return importAll(cmd, a, dryRun)
			case dryRun:
				return usagef("--dry-run goes with --all")
			}
			return needsCommand(cmd, args)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "import every transcript of this project that is on this machine")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --all, list the files, and import nothing")
	cmd.AddCommand(newImportGeminiCmd(a))
	for _, f := range agentForms() {
		cmd.AddCommand(newImportFormCmd(a, f))
	}
	cmd.AddCommand(newImportADKCmd(a), newImportUnionFindCmd(a))
	return cmd
}

func newImportGeminiCmd(a *app) *cobra.Command {
	var named string
	cmd := &cobra.Command{
		Use:   "gemini-cli FILE...",
		Short: "Import transcripts of Gemini CLI",
		Long: long(`Imports transcripts of Gemini CLI, - for standard input: each becomes the session of its own id, or the one that -s names. A
transcript can be imported again, and so can one that has grown: what is known is not added again, what has changed amends what is there,
and a rewind is recorded as one. Records that cannot be used are counted and told. A file of /chat save (checkpoint-TAG.json) becomes the session
checkpoint-TAG.`,
			exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx import gemini-cli ~/.gemini/tmp/*/chats/*.jsonl\n  ctx import gemini-cli --json -s work session.jsonl",
		Args:    between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("session") {
				if err := checkName("session", named); err != nil {
					return err
				}
			}
			l := &linker{}
			return importFiles(cmd.Context(), a, args, func(c context.Context, s *session.Store, file string) (importedFile, error) {
				return importGemini(c, a, s, named, file, l)
			}, l)
		},
	}
	cmd.Flags().StringVarP(&named, "session", "s", "", "the session (default: the transcript's own id)")
	completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// importedFile is what importing a file did.
type importedFile struct {
	session string
	changed bool     // there is something new in the session
	more    []string // likewise in these
	skipped int      // records that could not be used
	new     int      // messages
	known   int      // messages that were there already
}

// importFiles imports one file after the other. One that cannot be read does not keep the others from it.
func importFiles(c context.Context, a *app, files []string, one func(context.Context, *session.Store, string) (importedFile, error), l *linker) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	var sessions, own []string
	var first error
	hadHEAD, err := hasHEAD(s)
	if err != nil {
		return err
	}
	failed, skipped, added, known := 0, 0, 0, 0
	for _, file := range files {
		done, err := one(c, s, file)
		if done.changed {
			done.more = append(done.more, done.session)
		}
		for _, name := range done.more {
			if !slices.Contains(sessions, name) {
				sessions = append(sessions, name)
			}
		}
		skipped, added, known = skipped+done.skipped, added+done.new, known+done.known
		if done.session != "" && err == nil {
			own = append(own, done.session)
		}
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
	if len(files) > 1 {
		a.say("ctx: import: %d files: %s", len(files), tally(
			counted{added, "message", "messages"}, counted{known, "known", "known"}, counted{skipped, "skipped", "skipped"},
		))
	}
	if err := l.link(c, a, s); err != nil {
		return err
	}
	if l != nil && l.newest && !hadHEAD {
		if err := useNewest(c, s, own); err != nil {
			return err
		}
	}
	for _, name := range sessions {
		if _, err := s.GraduateAndLeave(c, name, session.MainBranch); err != nil {
			return err
		}
	}
	if len(sessions) > 0 {
		a.tidy(c, s)
	}
	switch {
	case failed == 1 && len(files) == 1:
		return first
	case failed > 0:
		return fmt.Errorf("%d of %d files were not imported", failed, len(files))
	case skipped > 0:
		return fmt.Errorf("%s in the transcripts skipped", plural(skipped, "record", "records"))
	}
	return nil
}

// fileError is an error that is the file's own, not the store's.
type fileError struct{ error }

func (e *fileError) Unwrap() error { return e.error }

func isAboutFile(err error) bool {
	var file *fileError
	return errors.As(err, &file)
}

func importGemini(c context.Context, a *app, s *session.Store, named, file string, l *linker) (importedFile, error) {
	in, closeInput, err := a.input(file)
	if err != nil {
		return importedFile{}, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	defer closeInput()
	source := &watched{c: c, from: in}
	if named == "" {
		named = checkpointName(file)
	}
	done, err := s.ImportGemini(c, source, named)
	out := importedFile{session: done.Session, changed: done.Messages+done.Amended+done.Rewinds > 0, skipped: total(done.Skipped), new: done.Messages, known: done.Known}
	l.children = append(l.children, done.Children...)
	switch {
	case errors.Is(err, session.ErrInput):
		err = &fileError{withHint(fmt.Errorf("cannot import %q: %w", file, err), "-s NAME gives the session a name")}
	case err != nil && source.err != nil && errors.Is(err, source.err) && c.Err() == nil:
		err = &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	case err != nil:
		return out, fmt.Errorf("cannot import %q: %w", file, err)
	case done.Session == "" && done.Stats.Lines > 0 && total(done.Skipped) == 0:
		a.say("ctx: import: %q: nothing was said in it", file)
	}
	if err == nil {
		err = printImported(a, file, done)
	}
	return out, err
}

// checkpointName is the session for a file of /chat save, which says none itself; "" for any other file.
func checkpointName(file string) string {
	base := filepath.Base(file)
	tag, ok := strings.CutSuffix(base, ".json")
	if !ok || !strings.HasPrefix(tag, "checkpoint-") {
		return ""
	}
	if plain, err := url.PathUnescape(tag); err == nil && format.CheckName(plain) == nil {
		return plain
	}
	return tag
}

// importedDoc is what came of a file.
type importedDoc struct {
	V              int            `json:"v"`
	File           string         `json:"file"`
	Session        string         `json:"session"`
	Messages       int            `json:"messages"` // new in this run, as notes and rewinds are
	Notes          int            `json:"notes"`
	Known          int            `json:"known"`
	Amended        int            `json:"amended"`
	Rewinds        int            `json:"rewinds"`
	UnknownRewinds int            `json:"unknown_rewinds"`
	Skipped        int            `json:"skipped"`
	SkippedBy      map[string]int `json:"skipped_by"`
	PassedOver     map[string]int `json:"passed_over"` // what says nothing new, or was not said
	Cleaned        map[string]int `json:"cleaned"`
}

func importedDocOf(file string, done session.Imported) importedDoc {
	return importedDoc{
		V: 1, File: file, Session: done.Session, Messages: done.Messages, Notes: done.Notes, Known: done.Known, Amended: done.Amended,
		Rewinds: done.Rewinds, UnknownRewinds: done.Unknown, Skipped: total(done.Skipped), SkippedBy: done.Skipped,
		PassedOver: passedOver(done.Stats), Cleaned: byClass(done.Redacted),
	}
}

// passedOver counts what a transcript has besides what was said: copies, and the agent's own additions.
func passedOver(stats geminicli.Stats) map[string]int {
	m := map[string]int{}
	for name, n := range map[string]int{
		"repeated": stats.Repeated, "masked copies": stats.MaskedCopies, "empty": stats.Empty,
		"session context": stats.SessionContext, "hook context": stats.HookContext,
	} {
		if n > 0 {
			m[name] = n
		}
	}
	return m
}

func byClass(found []sanitize.Finding) map[string]int {
	m := map[string]int{}
	for _, f := range found {
		m[f.Class] += f.Count
	}
	return m
}

func printImported(a *app, file string, done session.Imported) error {
	d := importedDocOf(file, done)
	if d.Skipped > 0 {
		fmt.Fprintf(a.stderr, "ctx: import: %s: skipped: %s\n", oneLine(file), counts(d.SkippedBy))
	}
	if d.UnknownRewinds > 0 {
		a.say("ctx: import: %s: %s to a message that is not there: everything before left", file, plural(d.UnknownRewinds, "rewind", "rewinds"))
	}
	if len(d.Cleaned) > 0 {
		a.say("ctx: import: %s: cleaned: %s", file, counts(d.Cleaned))
	}
	if a.json {
		return a.printJSON(d)
	}
	a.line("%s: %s", oneLine(file), tally(
		counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"}, counted{d.Known, "known", "known"},
		counted{d.Amended, "amended", "amended"}, counted{d.Rewinds, "rewind", "rewinds"}, counted{d.Skipped, "skipped", "skipped"},
	))
	return nil
}

func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

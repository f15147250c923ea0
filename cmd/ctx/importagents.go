package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/agent/codex"
	"github.com/gemini-ctx/ctx/agent/transcript"
	"github.com/gemini-ctx/ctx/session"
)

// newImportFormCmd is the command that imports one form.
func newImportFormCmd(a *app, f agentForm) *cobra.Command {
	var named string
	cmd := &cobra.Command{
		Use:   f.name + " FILE...",
		Short: "Import transcripts of " + f.title,
		Long: long(`Imports transcripts of `+f.title+`, - for standard input: each becomes the session of its own id, or the one that -s names; what was exported
from this store goes back to the session that it is of. What subagents said goes into sessions of their own, which are linked to the call that
began them. A transcript can be imported again, and so can one that has grown: what is known is not added again, what has changed amends what is
there, and where the person went back it is a rewind. Records that cannot be used are counted and told. docs/agents/`+f.name+`.md says what is kept.`,
			exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx import " + f.name + " " + f.example + "\n  ctx import " + f.name + " --json -s work -",
		Args:    between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("session") {
				if err := checkName("session", named); err != nil {
					return err
				}
			}
			l := &linker{}
			if f.name == codex.Agent {
				args = parentsFirst(a, args)
			}
			return importFiles(cmd.Context(), a, args, func(c context.Context, s *session.Store, file string) (importedFile, error) {
				return importTranscript(c, a, s, f, named, file, l)
			}, l)
		},
	}
	cmd.Flags().StringVarP(&named, "session", "s", "", "the session (default: the transcript's own id)")
	completeFlag(cmd, "session", a.completeSessions())
	return cmd
}

// linker gathers which calls began which sessions, to link them when all files of a run are there.
type linker struct {
	children []session.Child
	newest   bool // where HEAD names no session, it is to name the newest one
}

func (l *linker) link(c context.Context, a *app, s *session.Store) error {
	if l == nil || len(l.children) == 0 {
		return nil
	}
	n, err := s.LinkChildren(c, l.children)
	if n > 0 {
		a.say("ctx: import: %s linked to the calls that began them", plural(n, "session", "sessions"))
	}
	return err
}

func importTranscript(c context.Context, a *app, s *session.Store, f agentForm, named, file string, l *linker) (importedFile, error) {
	read, source, closeInput, err := f.reader(c, a, file)
	if err != nil {
		return importedFile{}, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	defer closeInput()
	done, err := s.ImportTranscript(c, read, named)
	out := importedFile{session: done.Session, more: done.Changed, skipped: total(done.Stats.Skipped), new: done.Messages, known: done.Known}
	l.children = append(l.children, done.Children...)
	var unread *transcript.ReadError
	switch {
	case errors.Is(err, session.ErrInput):
		err = &fileError{withHint(fmt.Errorf("cannot import %q: %w", file, err), "-s NAME gives the session a name")}
	case err != nil && (source.err != nil && errors.Is(err, source.err) || errors.As(err, &unread)) && c.Err() == nil:
		err = &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	case err != nil:
		return out, fmt.Errorf("cannot import %q: %w", file, err)
	case done.Messages+done.Notes+done.Known+done.Amended == 0 && out.skipped == 0:
		a.say("ctx: import: %q: nothing was said in it", file)
	}
	if err == nil {
		err = printTranscript(a, f.name, file, done)
	}
	return out, err
}

// transcriptDoc is what came of a transcript.
type transcriptDoc struct {
	V          int            `json:"v"`
	Agent      string         `json:"agent"`
	File       string         `json:"file"`
	Session    string         `json:"session"`
	Changed    []string       `json:"changed"`  // sessions with something new
	Messages   int            `json:"messages"` // new in this run, as notes, rewinds and returns are
	Notes      int            `json:"notes"`
	Known      int            `json:"known"`
	Amended    int            `json:"amended"`
	Rewinds    int            `json:"rewinds"`
	Returned   int            `json:"returned"` // messages that had left and are said again
	Skipped    int            `json:"skipped"`
	SkippedBy  map[string]int `json:"skipped_by"`
	PassedOver map[string]int `json:"passed_over"` // what says nothing new
	Kept       map[string]int `json:"kept"`        // records of kinds that ctx does not know, kept as they are
	Cleaned    map[string]int `json:"cleaned"`
}

func printTranscript(a *app, agent, file string, done session.ImportedTranscript) error {
	st := done.Stats
	d := transcriptDoc{
		V: 1, Agent: agent, File: file, Session: done.Session, Changed: done.Changed, Messages: done.Messages, Notes: done.Notes, Known: done.Known,
		Amended: done.Amended, Rewinds: done.Rewinds, Returned: done.Returned, Skipped: total(st.Skipped), SkippedBy: st.Skipped, PassedOver: st.Passed,
		Kept: st.Kept, Cleaned: byClass(done.Redacted),
	}
	if d.Changed == nil {
		d.Changed = []string{}
	}
	name := oneLine(file)
	if d.Skipped > 0 {
		fmt.Fprintf(a.stderr, "ctx: import: %s: skipped: %s\n", name, counts(d.SkippedBy))
	}
	if len(d.Kept) > 0 {
		a.say("ctx: import: %s: unknown records, kept: %s", name, oneLine(counts(d.Kept)))
	}
	if len(d.Cleaned) > 0 {
		a.say("ctx: import: %s: cleaned: %s", name, counts(d.Cleaned))
	}
	if a.json {
		return a.printJSON(d)
	}
	a.line("%s: %s", name, tally(
		counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"}, counted{d.Known, "known", "known"},
		counted{d.Amended, "amended", "amended"}, counted{d.Rewinds, "rewind", "rewinds"}, counted{d.Skipped, "skipped", "skipped"},
	))
	return nil
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/agent/adk"
	"github.com/gemini-ctx/ctx/session"
)

func newImportADKCmd(a *app) *cobra.Command {
	var named, unit string
	cmd := &cobra.Command{
		Use:   adkEvents + " FILE...",
		Short: "Import sessions of the Agent Development Kit",
		Long: long(`Imports sessions of the Agent Development Kit, - for standard input: a session as one JSON document, the same under "session", a list of
events, or an event a line. Each becomes the session of its own id, or the one that -s names. Events can be imported again, and so can more of them:
what is known is not added again, what has changed amends what is there, and a rewind is recorded as one. Fields that a message has no place for are
kept with it. Pieces of an event that came whole later are passed over; what cannot be used is counted and told.

What `+"`ctx export --format adk-events`"+` wrote comes back as what it was, in this store or another one.`,
			exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx import adk-events session.json\n  ctx import adk-events --json -s work --time-unit py events.jsonl",
		Args:    between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("session") {
				if err := checkName("session", named); err != nil {
					return err
				}
			}
			u := adk.Detect
			if cmd.Flags().Changed("time-unit") {
				var err error
				if u, err = adk.ParseUnit(unit); err != nil {
					return usagef("bad --time-unit: %.80q: %v", unit, err)
				}
			}
			return importFiles(cmd.Context(), a, args, func(c context.Context, s *session.Store, file string) (importedFile, error) {
				return importADK(c, a, s, named, u, file)
			}, nil)
		},
	}
	cmd.Flags().StringVarP(&named, "session", "s", "", "the session (default: the one that the events are of)")
	cmd.Flags().StringVar(&unit, "time-unit", "", "what timestamps count: py (seconds) or js (milliseconds); without it the size tells")
	completeFlag(cmd, "session", a.completeSessions())
	completeFlag(cmd, "time-unit", cobra.FixedCompletions([]string{string(adk.Python), string(adk.JavaScript)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func importADK(c context.Context, a *app, s *session.Store, named string, unit adk.Unit, file string) (importedFile, error) {
	in, closeInput, err := a.input(file)
	if err != nil {
		return importedFile{}, &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	}
	defer closeInput()
	source := &watched{c: c, from: in}
	done, err := s.ImportADK(c, source, named, unit)
	out := importedFile{session: done.Session, changed: done.Messages+done.Notes+done.Amended+done.Rewinds > 0, skipped: total(done.Stats.Skipped), new: done.Messages, known: done.Known}
	switch {
	case errors.Is(err, session.ErrInput):
		err = &fileError{withHint(fmt.Errorf("cannot import %q: %w", file, err), "-s NAME gives the session a name")}
	case err != nil && source.err != nil && errors.Is(err, source.err) && c.Err() == nil:
		err = &fileError{fmt.Errorf("cannot import %q: %w", file, err)}
	case err != nil:
		err = fmt.Errorf("cannot import %q: %w", file, err)
	case done.Stats.Events == 0 && out.skipped == 0:
		a.say("ctx: import: %q: nothing was said in it", file)
	}
	if err == nil {
		err = printImportedADK(a, file, done)
	}
	return out, err
}

// importedADKDoc is what came of a file.
type importedADKDoc struct {
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
	PassedOver     map[string]int `json:"passed_over"` // what was not said
	Kept           map[string]int `json:"kept"`        // fields that no event is known to have, by name
	Odd            int            `json:"odd"`         // events with a known field of the wrong kind, or a time that cannot be read: kept as they are
	Cleaned        map[string]int `json:"cleaned"`
}

func printImportedADK(a *app, file string, done session.ImportedADK) error {
	st := done.Stats
	d := importedADKDoc{
		V: 1, File: file, Session: done.Session, Messages: done.Messages, Notes: done.Notes, Known: done.Known, Amended: done.Amended,
		Rewinds: done.Rewinds, UnknownRewinds: st.Unknown, Skipped: total(st.Skipped), SkippedBy: st.Skipped, PassedOver: map[string]int{},
		Kept: st.Kept, Odd: st.Odd + st.BadTimes, Cleaned: byClass(done.Redacted),
	}
	if st.Partial > 0 {
		d.PassedOver["partial"] = st.Partial
	}
	if st.Stand > 0 {
		d.PassedOver["stand-in"] = st.Stand
	}
	name := oneLine(file)
	if d.Skipped > 0 {
		fmt.Fprintf(a.stderr, "ctx: import: %s: skipped: %s\n", name, counts(d.SkippedBy))
	}
	if d.UnknownRewinds > 0 {
		a.say("ctx: import: %s: %s to an invocation that is not there: kept as notes", name, plural(d.UnknownRewinds, "rewind", "rewinds"))
	}
	if len(d.Kept) > 0 {
		a.say("ctx: import: %s: unknown fields, kept: %s", name, counts(d.Kept))
	}
	if d.Odd > 0 {
		a.say("ctx: import: %s: %s with a value of the wrong kind, kept", name, plural(d.Odd, "event", "events"))
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

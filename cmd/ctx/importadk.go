package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/session"
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
	done, err := s.Exchange.ImportADK(c, source, named, unit)
	out := importedFile{session: done.Session, changed: done.Messages+done.Notes+done.Amended+done.Rewinds > 0, skipped: total(done.Stats.Skipped), new: done.Messages, known: done.Known}
	if err := importError(c, source, file, err); err != nil {
		return out, err
	}
	st := done.Stats
	if st.Records == 0 && out.skipped == 0 {
		a.say("ctx: import: %q: nothing was said in it", file)
	}
	d := importedDocOf(file, done.Session, done.Tally, st.Skipped, st.Passed)
	d.UnknownRewinds, d.Kept, d.Odd = &st.Unknown, st.Kept, &st.Odd
	return out, d.print(a, st.Unknown, "an invocation that is not there: kept as notes", "fields")
}

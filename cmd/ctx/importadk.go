package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newImportADKCmd(a *app) *cobra.Command {
	o := &ofSession{whole: true}
	var unit string
	cmd := a.newCmd(adkEvents+" FILE...", func(args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		u := adk.Detect
		if o.cmd.Flags().Changed("time-unit") {
			var err error
			if u, err = adk.ParseUnit(unit); err != nil {
				return usagef("bad --time-unit: %.80q: %v", unit, err)
			}
		}
		return importEach(a, args, func(s *session.Store, file string) (importedFile, error) {
			return importADK(a, s, o.session, u, file)
		})
	})
	o.addWith(a, cmd, "the session (default: that of the events)")
	cmd.Flags().StringVar(&unit, "time-unit", "",
		"the unit: py (seconds) or js (milliseconds) (default: by size)")
	a.completeWords(cmd, "time-unit", string(adk.Python), string(adk.JavaScript))
	return cmd
}

func importADK(
	a *app, s *session.Store, named string, unit adk.Unit, file string,
) (importedFile, error) {
	source, closeInput, err := a.openImport(file)
	if err != nil {
		return importedFile{}, err
	}
	defer closeInput()
	done, err := s.Importer.ImportADK(a.c, source, named, unit)
	out := importedFile{file: file, session: done.Session, more: done.Changed,
		changed: done.Messages+done.Notes+done.Amended+done.Rewinds > 0,
		skipped: total(done.Stats.Skipped), new: done.Messages, known: done.Known}
	if err := importError(a.c, source, file, err); err != nil {
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

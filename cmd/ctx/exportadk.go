package main

import (
	"context"
	"github.com/gemini-ctx/ctx/internal/exchange"
	"io"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// adkEvents is the name of the form, of export and of import.
const adkEvents = "adk-events"

// adkFlags are the flags of export that adk-events has.
type adkFlags struct {
	unit, agent, app, user string
	lines, noMetadata      bool
	tokens, masked         bool
}

func adkFormat() exportFormat {
	return exportFormat{name: adkEvents, flags: addADKFlags, check: checkADKFlags, write: writeADK}
}

func addADKFlags(o *exportOptions, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.adk.unit, "time-unit", string(adk.JavaScript), "what timestamps count: js (milliseconds) or py (seconds)")
	f.StringVar(&o.adk.agent, "agent", "agent", "the author of what a model says")
	f.StringVar(&o.adk.app, "app", "", "the session's appName (default: what an import found, or "+adk.DefaultApp+")")
	f.StringVar(&o.adk.user, "user", "", "the session's userId (default: what an import found, or "+adk.DefaultUser+")")
	f.BoolVar(&o.adk.lines, "lines", false, "an event a line, without the session around them")
	f.BoolVar(&o.adk.noMetadata, "no-metadata", false, "leave out what only ctx reads: no notes then, and no way back")
	f.BoolVar(&o.adk.masked, "masked", false, "show tool outputs as the branch's masks say, as ctx log --masked does")
	f.BoolVar(&o.adk.tokens, "tokens", false, "say in the metadata of each event the token set of where it was said, as ctx branch tokens does")
	completeFlag(cmd, "time-unit", cobra.FixedCompletions([]string{string(adk.JavaScript), string(adk.Python)}, cobra.ShellCompDirectiveNoFileComp))
}

func checkADKFlags(o *exportOptions) error {
	if _, err := adk.ParseUnit(o.adk.unit); err != nil {
		return usagef("bad --time-unit: %.80q: %v", o.adk.unit, err)
	}
	if o.adk.agent == "" || o.adk.agent == "user" {
		return usagef("bad --agent: %q: an agent has a name, and user is the person's", o.adk.agent)
	}
	if o.adk.tokens && o.adk.noMetadata {
		return usagef("--tokens puts sets into metadata, and --no-metadata leaves that out")
	}
	return nil
}

func writeADK(c context.Context, s *session.Store, v *refs.View, o *exportOptions, name, branch string, w io.Writer) (exported, error) {
	done, err := s.Exchange.ExportADK(c, v, name, branch, w, exchange.ADKOptions{WriteOptions: adk.WriteOptions{
		Agent: o.adk.agent, App: o.adk.app, User: o.adk.user, Unit: adk.Unit(o.adk.unit), Lines: o.adk.lines, Bare: o.adk.noMetadata,
	}, Tokens: o.adk.tokens, Masked: o.adk.masked})
	return exported{
		Messages: done.Messages, Notes: done.Notes, Events: done.Records, Changed: done.Changed, Left: done.Left,
	}, err
}

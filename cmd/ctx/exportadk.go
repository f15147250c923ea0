package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/exporter"
)

// adkEvents is the name of the format, for export and for import.
const adkEvents = catalog.ADKForm

// adkFlags are the flags of export for adk-events.
type adkFlags struct {
	unit, agent, app, user string
	lines, tokens, masked  bool
}

func adkFormat() exportFormat {
	return exportFormat{name: adkEvents, flags: addADKFlags, check: checkADKFlags, write: writeADK,
		takes: []string{"time-unit", "agent", "app", "user", "lines", "masked", "tokens"}}
}

func addADKFlags(o *exportOptions, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.adk.unit, "time-unit", string(adk.JavaScript),
		"the unit: js (milliseconds) or py (seconds)")
	f.StringVar(&o.adk.agent, "agent", "agent", "the author of the model's messages")
	f.StringVar(&o.adk.app, "app", "",
		"the appName (default: that of the import, or "+adk.DefaultApp+")")
	f.StringVar(&o.adk.user, "user", "",
		"the userId (default: that of the import, or "+adk.DefaultUser+")")
	f.BoolVar(&o.adk.lines, "lines", false, "write only events, one on each line")
	f.BoolVar(&o.adk.masked, "masked", false, "shorten tool outputs as masks say")
	f.BoolVar(&o.adk.tokens, "tokens", false, "add token sets to the metadata (ctx branch tokens)")
}

func checkADKFlags(o *exportOptions) error {
	if _, err := adk.ParseUnit(o.adk.unit); err != nil {
		return usagef("bad --time-unit: %.80q: %v", o.adk.unit, err)
	}
	if o.adk.agent == "" || o.adk.agent == "user" {
		return usagef("bad --agent: %q: an agent needs a name other than user", o.adk.agent)
	}
	return nil
}

func writeADK(c context.Context, o *exportOptions, b openBranch, w io.Writer) (exported, error) {
	done, err := b.s.Exporter.ADK(c, b.view, b.name, b.branch,
		w, exporter.ADKOptions{WriteOptions: adk.WriteOptions{
			Agent: o.adk.agent, App: o.adk.app, User: o.adk.user, Unit: adk.Unit(o.adk.unit),
			Lines: o.adk.lines,
		}, Tokens: o.adk.tokens, Masked: o.adk.masked})
	return exported{
		Messages: done.Messages, Notes: done.Notes, Events: done.Records,
		losses: losses{Changed: done.Changed, Left: done.Left},
	}, err
}

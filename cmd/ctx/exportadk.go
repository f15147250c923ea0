package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// adkEvents is the name of the format, for export and for import.
const adkEvents = catalog.ADKForm

func adkFormat() exportFormat {
	return exportFormat{name: adkEvents, write: writeADK,
		takes: []string{"time-unit", "agent", "app", "user", "lines", "masked", "tokens"}}
}

// addADK adds the flags of export for adk-events.
func (o *exportOptions) addADK(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar((*string)(&o.adk.Unit), "time-unit", string(adk.JavaScript),
		"the unit: js (milliseconds) or py (seconds)")
	f.StringVar(&o.adk.Agent, "agent", "agent", "the author of the model's messages")
	f.StringVar(&o.adk.App, "app", "",
		"the appName (default: that of the import, or "+adk.DefaultApp+")")
	f.StringVar(&o.adk.User, "user", "",
		"the userId (default: that of the import, or "+adk.DefaultUser+")")
	f.BoolVar(&o.adk.Lines, "lines", false, "write only events, one on each line")
	f.BoolVar(&o.adk.Masked, "masked", false, "shorten tool outputs as masks say")
	f.BoolVar(&o.adk.Tokens, "tokens", false, "add token sets to the metadata (ctx branch tokens)")
}

func writeADK(o *exportOptions, b openBranch, w io.Writer) (transcript.Written, error) {
	return b.s.Exporter.ADK(o.a.c, b.view, b.name, b.branch, w, o.adk)
}

// Command ctx-summarize-agent is a helper that has an installed agent write summaries, in the
// agent's print mode and without tools. docs/summarizers.md says which agents.
package main

import (
	"os"

	"github.com/gemini-ctx/ctx/summarizer/printmode"
)

func main() { os.Exit(printmode.Program().Main()) }

// Command ctx-summarize-agent is a helper that makes an installed agent write summaries, in the
// agent's print mode and without tools. docs/summarizers.md lists the agents.
package main

import (
	"os"

	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

func main() { os.Exit(model.AgentProgram().Main()) }

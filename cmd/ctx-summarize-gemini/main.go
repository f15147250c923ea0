// Command ctx-summarize-gemini is a helper that makes Gemini write summaries, over its REST
// interface. docs/summarizers.md describes its settings.
package main

import (
	"os"

	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

func main() { os.Exit(program().Main()) }

func program() model.Program {
	return model.Program{
		Name:  "ctx-summarize-gemini",
		Short: "has Gemini write summaries for ctx",
		Help: `Variables:

  GEMINI_API_KEY, GOOGLE_API_KEY           the key; the first one that is set. Without one the installed Gemini CLI is
                                           asked, with its own login
  CTX_GEMINI_MODEL                         the model (default ` + defaultModel + `)
  GEMINI_BASE_URL, GOOGLE_GEMINI_BASE_URL  where it is asked (default ` + defaultBase + `)
  CTX_GEMINI_MAX_INPUT                     the most tokens of history in one request (default 200000)`,
		Open: open,
	}
}

// Command ctx-summarize-openai is a helper that makes any model behind an OpenAI-compatible
// interface write summaries: OpenAI's own, Ollama's, and most others. docs/summarizers.md describes
// its settings.
package main

import (
	"os"

	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

func main() { os.Exit(program().Main()) }

func program() model.Program {
	return model.Program{
		Name:  "ctx-summarize-openai",
		Short: "has a model behind an OpenAI-compatible interface write summaries for ctx",
		Help: `Variables:

  CTX_OPENAI_MODEL      the model; it has to be named
  OPENAI_API_KEY        the key, where one is asked for
  OPENAI_BASE_URL       where it is asked (default ` + defaultBase +
			`; Ollama: http://localhost:11434/v1)
  CTX_OPENAI_MAX_INPUT  the most tokens of history in one request (default 60000; on this machine 2000, since Ollama cuts what is longer
                        than its context without a word: set both)`,
		Open: open,
	}
}

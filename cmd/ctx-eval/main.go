// Command ctx-eval measures what ctx makes of conversations; `ctx eval` runs it. It is an
// executable of its own so that the measures and their corpora stay out of ctx.
package main

import (
	"os"

	"github.com/gemini-ctx/ctx/internal/eval"
)

func main() { os.Exit(eval.Main()) }

// Command ctx-browse shows a store on a terminal: sessions, what was said in them, the forest, and
// where a summary comes from. It only reads. It is a separate executable, so that ctx does not need
// its libraries; `ctx browse` runs it. docs/terminal.md describes it.
package main

import (
	"os"

	"github.com/gemini-ctx/ctx/internal/browse"
)

func main() { os.Exit(browse.Main()) }

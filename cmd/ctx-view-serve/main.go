// Command ctx-view-serve serves the pages of a store to a browser on this machine, live while an
// agent works. `ctx view --serve` starts it. It is a separate executable, so that ctx does not need
// net/http, whose initialisers every command would wait for. docs/viewing.md describes it.
package main

import "github.com/gemini-ctx/ctx/internal/page/live"

func main() { live.Main() }

// Command ctx-remote-age serves encrypted remotes to ctx, which starts it: it encrypts what ctx
// stores, and keeps that in another remote. docs/remote-age.md describes it.
package main

import "github.com/gemini-ctx/ctx/internal/remote/sealed"

func main() { sealed.Program().Main() }

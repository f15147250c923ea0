// Package summarizer asks programs for summaries. A helper is a program of the user's choice that speaks JSON lines over its standard input and
// output; docs/summarizers.md is the page of what is said. A chain asks several in order, remembers who cannot be asked for now, and may end in
// the extractive summariser, which needs no program.
//
// What a helper writes is input from outside: bounded, timed, checked and cleaned. Whatever it does wrong has a name, a Kind, and leaves the
// cluster as it was.
package summarizer

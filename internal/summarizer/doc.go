// Package summarizer asks programs for summaries. A helper is a program of the user's choice that
// speaks JSON lines over its standard input and output; docs/summarizers.md describes the protocol.
// A chain asks several helpers in order, remembers which ones cannot be asked for now, and may end
// in the extractive summarizer, which needs no program.
//
// The output of a helper is input from outside: it is bounded, timed, checked and cleaned. Every
// failure of a helper has a Kind, and leaves the cluster as it was. Begin with Chain and Helper.
package summarizer

package main

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
)

// counted is a number of things, with their singular and plural names.
type counted struct {
	n         int
	one, many string
}

// tally lists how many there are of each. It always includes the first, and the others if there are
// any.
func tally(first counted, more ...counted) string {
	said := []string{plural(first.n, first.one, first.many)}
	for _, c := range more {
		if c.n != 0 {
			said = append(said, plural(c.n, c.one, c.many))
		}
	}
	return strings.Join(said, ", ")
}

// counts lists the number of each name, sorted by name.
func counts(m map[string]int) string { return jsonl.Counts(m) }

// cleaned says in words what sanitizing took out.
func cleaned(m map[string]int) string { return jsonl.Cleaned(m) }

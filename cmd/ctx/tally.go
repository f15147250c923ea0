package main

import "strings"

// counted is a number of things, with their name for one and for many.
type counted struct {
	n         int
	one, many string
}

// tally says how many there are of each: of the first always, of the others where there are any.
func tally(first counted, more ...counted) string {
	said := []string{plural(first.n, first.one, first.many)}
	for _, c := range more {
		if c.n != 0 {
			said = append(said, plural(c.n, c.one, c.many))
		}
	}
	return strings.Join(said, ", ")
}

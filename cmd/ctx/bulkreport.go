package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session"
)

// skipsTold is how many skipped lines are told one by one; all are counted.
const skipsTold = 20

// bulkReport counts what became of the lines of a bulk append, and tells it.
type bulkReport struct {
	a         *app
	lines     int // that are not blank
	added     int
	known     int
	amended   int
	skipped   int
	partial   int // pieces of messages, which are not stored
	forgotten int // kept without their words
	badTimes  int
	broken    int // pieces that were not Unicode
	redacted  map[string]int
	unknown   map[string]int
}

func (r *bulkReport) skip(number int, why error) {
	r.skipped++
	if r.skipped <= skipsTold {
		fmt.Fprintf(r.a.stderr, "ctx: append: line %d: skipped: %s\n", number, oneLine(why.Error()))
	}
}

func (r *bulkReport) appended(line jsonlLine, a session.Appended) {
	switch {
	case a.Known:
		r.known++
	case a.Amended:
		r.amended++
	default:
		r.added++
	}
	if a.Forgotten {
		r.forgotten++
	}
	r.broken += line.broken
	if line.badTime {
		r.badTimes++
	}
}

func (r *bulkReport) redact(found []sanitize.Finding) {
	for _, f := range found {
		if r.redacted == nil {
			r.redacted = map[string]int{}
		}
		r.redacted[f.Class] += f.Count
	}
}

// tell says at the end what was not simply appended; nothing when everything was.
func (r *bulkReport) tell() {
	var said []string
	add := func(n int, what string) {
		if n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.skipped, "skipped")
	add(r.partial, "partial, not stored")
	add(r.known, "known")
	add(r.amended, "amended")
	add(r.forgotten, "kept without words that were forgotten")
	add(r.badTimes, "with a time that cannot be read")
	add(r.broken, "pieces that were not UTF-8 replaced")
	if len(said) > 0 {
		r.a.say("ctx: append: %d lines: %s", r.lines, strings.Join(said, ", "))
	}
	if len(r.redacted) > 0 {
		r.a.say("ctx: append: cleaned: %s", counts(r.redacted))
	}
	if len(r.unknown) > 0 {
		r.a.say("ctx: append: keys that are not used: %s", counts(r.unknown))
	}
}

// counts prints what was counted, by name.
func counts(m map[string]int) string {
	var said []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		said = append(said, fmt.Sprintf("%s %d", oneLine(name), m[name]))
	}
	return strings.Join(said, ", ")
}

package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/search"
)

// reference is what the next part of a session says, calls and touches, as far as the history has
// it.
type reference struct {
	said, called map[string]float64 // terms with their weights
	files        map[string]float64 // names of files, all of the same weight
}

// referenceOf returns the reference of the records after a history. A term counts if at least one
// record of the history has it, and at most a tenth of them. Its weight is ln((N+1)/df), where N is
// the number of records and df the number of those with the term.
func referenceOf(history, next []sets.Record) reference {
	df := map[string]int{}
	known := map[string]bool{}
	for _, r := range history {
		text := r.Said + "\n" + r.Called + "\n" + r.Output
		terms := contentTerms(text)
		slices.Sort(terms)
		for _, t := range slices.Compact(terms) {
			df[t]++
		}
		for _, name := range fileNames(text) {
			known[name] = true
		}
	}
	var said, called strings.Builder
	for _, r := range next {
		said.WriteString(r.Said + "\n")
		called.WriteString(r.Called + "\n")
	}
	ref := reference{
		said:   rare(said.String(), df, len(history)),
		called: rare(called.String(), df, len(history)),
		files:  map[string]float64{},
	}
	for _, name := range fileNames(said.String() + called.String()) {
		if known[name] {
			ref.files[name] = 1
		}
	}
	return ref
}

// rare returns the terms of a text that few of n records have, with their weights.
func rare(text string, df map[string]int, n int) map[string]float64 {
	out := map[string]float64{}
	for _, t := range contentTerms(text) {
		if d := df[t]; d > 0 && d <= max(2, n/10) {
			out[t] = search.Ln(float64(n+1) / float64(d))
		}
	}
	return out
}

// coverage is how much of a reference a context has, from 0 to 1, and -1 where the reference is
// empty.
type coverage struct {
	said, called, files float64
	// Lines of the context: all but blank ones, those with a term or a file, and junk lines.
	lines, useful, junk int
}

func (ref reference) coverage(context string) coverage {
	have, names := map[string]bool{}, map[string]bool{}
	for _, t := range contentTerms(context) {
		have[t] = true
	}
	for _, name := range fileNames(context) {
		names[name] = true
	}
	c := coverage{
		said: weightOf(ref.said, have), called: weightOf(ref.called, have),
		files: weightOf(ref.files, names),
	}
	for line := range strings.Lines(context) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		c.lines++
		c.junk += stats.One(isJunk(line))
		c.useful += stats.One(ref.uses(line))
	}
	return c
}

// beyond returns the reference without what a text has already.
func (ref reference) beyond(text string) reference {
	for _, t := range contentTerms(text) {
		delete(ref.said, t)
		delete(ref.called, t)
	}
	for _, name := range fileNames(text) {
		delete(ref.files, name)
	}
	return ref
}

// touches reports whether a text has a file of the reference, or leastTouched of the terms that are
// called.
func (ref reference) touches(text string) bool {
	n, seen := 0, map[string]bool{}
	for _, t := range contentTerms(text) {
		if ref.called[t] > 0 && !seen[t] {
			seen[t] = true
			n++
		}
	}
	return n >= leastTouched ||
		slices.ContainsFunc(fileNames(text), func(f string) bool { return ref.files[f] > 0 })
}

// leastTouched is how many terms of what comes next show that a text was about it.
const leastTouched = 3

// uses reports whether a line has anything of the reference.
func (ref reference) uses(line string) bool {
	for _, t := range contentTerms(line) {
		if ref.said[t] > 0 || ref.called[t] > 0 {
			return true
		}
	}
	return slices.ContainsFunc(fileNames(line),
		func(name string) bool { return ref.files[name] > 0 })
}

// weightOf returns the share of the weights of the terms in have, or -1 without any weights. It
// adds the terms up in order, because the rounding depends on the order.
func weightOf(weights map[string]float64, have map[string]bool) float64 {
	if len(weights) == 0 {
		return -1
	}
	part, all := 0.0, 0.0
	for _, t := range slices.Sorted(maps.Keys(weights)) {
		all += weights[t]
		if have[t] {
			part += weights[t]
		}
	}
	return part / all
}

package search

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// lexicon numbers terms, and remembers the terms of runs of text: most runs are words that come
// again and again, and their stems are most of the work. The zero value is ready for use.
type lexicon struct {
	terms   []uint64 // by number, as stored
	numbers map[uint64]uint32
	scanner terms.Scanner
	runs    map[string]runTerms
	found   []foundTerm // of all runs
}

// foundTerm is an occurrence of a term.
type foundTerm struct {
	number uint32
	count  uint8 // as in posting
}

// runTerms is what the index stores of a run.
type runTerms struct {
	from, to     uint32 // its part of found
	length       uint32 // number of its words
	number, when bool   // see analysed
}

// The limits of what a lexicon remembers: a few megabytes of runs, and a number of terms that
// most of the work of an hour stays below.
const (
	maxRun     = 64
	maxRuns    = 1 << 16
	maxLexicon = 1 << 17
)

// of returns the terms of a run, and what it remembers of the run. The terms are valid until the
// next call.
func (v *lexicon) of(run string) ([]foundTerm, runTerms) {
	if r, ok := v.runs[run]; ok {
		return v.found[r.from:r.to], r
	}
	if v.runs == nil {
		v.runs = make(map[string]runTerms)
	} else if len(v.runs) >= maxRuns {
		clear(v.runs)
		v.found = v.found[:0]
	}
	r := runTerms{from: uint32(len(v.found))}
	scan(&v.scanner, run, func(t terms.Token, word string) {
		n := foundTerm{number: v.numberOf(t.Term), count: 2}
		if t.Kind == terms.Part {
			n.count = 1
		} else {
			r.length++
			r.number = r.number || t.Kind == terms.Number
			r.when = r.when || tellsTime(word)
		}
		v.found = append(v.found, n)
	})
	r.to = uint32(len(v.found))
	list := v.found[r.from:r.to]
	if len(run) <= maxRun {
		v.runs[strings.Clone(run)] = r
	} else {
		v.found = v.found[:r.from]
	}
	return list, r
}

func (v *lexicon) numberOf(term uint64) uint32 {
	term = storedTerm(term)
	n, ok := v.numbers[term]
	if !ok {
		if v.numbers == nil {
			v.numbers = map[uint64]uint32{}
		}
		n = uint32(len(v.terms))
		v.numbers[term], v.terms = n, append(v.terms, term)
	}
	return n
}

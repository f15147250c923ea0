package search

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// alikeWords has a line for each group of words that developers use for one thing, or for things
// that belong together. A word may be in several groups.
//
//go:embed alike.txt
var alikeWords string

const (
	// A query of fewer telling words looks for these words, and for no others.
	alikeFrom = 3
	// The weight of an alike word, as a share of that of the query's own. Of .1 to .4 it was best for
	// 85 questions about 29 sessions in other words than the text's (docs/compaction.md).
	alikeWeight = 0.2
)

// Widen adds the terms of words that are alike to those of a question in somebody's own words: who
// comes back after a month remembers what was done, and not how it was said. It does nothing for a
// query of a few words. A document that has only alike words is found, but counts little.
func (q *Query) Widen() {
	telling := map[uint64]float64{}
	added := map[uint64]bool{}
	for _, t := range q.terms {
		added[t.term] = true
		if !isCommon(t.word) && !asks(t.word) {
			telling[t.term] = t.weight
		}
	}
	if len(telling) < alikeFrom {
		return
	}
	for _, group := range alikeGroups() {
		weight := 0.0
		for _, t := range group {
			weight = max(weight, telling[t.term])
		}
		for _, t := range group {
			if weight > 0 && !added[t.term] && len(q.terms) < maxQueryTerms {
				added[t.term] = true
				t.weight = float64(weight * alikeWeight)
				q.terms = append(q.terms, t)
				q.alike++
			}
		}
	}
}

// alike has the groups of alikeWords once they are asked for.
var alike struct {
	sync.Once
	groups [][]queryTerm
}

func alikeGroups() [][]queryTerm {
	alike.Do(func() {
		scanner := new(terms.Scanner)
		for line := range strings.Lines(alikeWords) {
			var group []queryTerm
			scan(scanner, line, func(t terms.Token, _ string) {
				group = append(group, queryTerm{term: t.Term, word: line[t.Start:t.End]})
			})
			alike.groups = append(alike.groups, group)
		}
	})
	return alike.groups
}

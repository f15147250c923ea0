package summarize

import "github.com/gemini-ctx/ctx/internal/terms"

// focused is added to the weight of sentences that say what the user asked a summary to keep, once
// for each step of how much of that they say. It exceeds the weight of every other sentence, so
// that a stored list tells which sentences these are.
const focused = 1 << 42

// A sentence is on the focus if it has at least a part of 1/focusSteps of the focus's terms, by
// their values.
const focusSteps = 4

// ExtractOn is Extract with the sentences first that are about focus, up to a third of maxTokens.
// An empty focus is none.
func ExtractOn(src []Source, maxTokens int, focus string) []Sentence {
	src = inOrder(src)
	r := newRanking(gather(src), authorsOf(src), 4*max(maxTokens, 0)/urgentShare)
	r.focusPurse = max(r.focusPurse, maxUrgent) // a short source may be one sentence
	r.setFocus(focus)
	return r.extract(src, maxTokens)
}

// IsOnFocus reports whether a sentence was ranked first for a focus.
func (s *Sentence) IsOnFocus() bool { return s.Weight >= focused }

// Touches reports whether a sentence of a list has a term of a focus.
func Touches(list []Sentence, focus string) bool {
	wanted := map[uint64]bool{}
	scan := terms.Scanner{Whole: true}
	scan.Scan(focus, func(t terms.Token) { wanted[t.Term] = true })
	found := false
	for i := range list {
		scan.Scan(list[i].Text, func(t terms.Token) { found = found || wanted[t.Term] })
	}
	return found
}

// setFocus marks the sentences on a focus. Of its terms those count that are in the list, the rarer
// the more.
func (r *ranking) setFocus(focus string) {
	frequency := map[uint64]int64{}
	(&terms.Scanner{Whole: true}).Scan(focus, func(t terms.Token) { frequency[t.Term] = 0 })
	if len(frequency) == 0 {
		return
	}
	for i := range r.list {
		for _, s := range r.list[i].shares {
			if n, ok := frequency[s.hash]; ok {
				frequency[s.hash] = n + 1
			}
		}
	}
	total := int64(0)
	for term, n := range frequency {
		if n > 0 {
			frequency[term] = rarity(int64(len(r.list)), n)
			total += frequency[term]
		}
	}
	for i := range r.list {
		has := int64(0)
		for _, s := range r.list[i].shares {
			has += frequency[s.hash]
		}
		if has*focusSteps >= total && has > 0 {
			r.list[i].first = has * focusSteps / total * focused
		}
	}
	r.rank()
}

// keepFocus marks the sentences that stored lists have first for a focus.
func (r *ranking) keepFocus() {
	some := false
	for i := range r.list {
		if w := r.list[i].weight; w >= focused {
			r.list[i].first, some = w/focused*focused, true
		}
	}
	if some {
		r.rank()
	}
}

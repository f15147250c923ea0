package brief

import (
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/terms"
)

const (
	// halfLife is the number of messages after which a use of a term counts half. The figures of
	// docs/compaction.md hardly change between 100 and 400.
	halfLife = 200

	// common is the divisor of the number of items above which a term tells nothing: more than one
	// item of 16 has it.
	common = 16

	// minCommon is the number of items up to which no term is common, for short conversations.
	minCommon = 3
)

// vocabulary numbers terms and holds their values.
type vocabulary struct {
	number map[uint64]int32
	worth  []float64
	scan   terms.Scanner
	room   []int32 // for the terms of a text, until they are sorted
}

// weigh sets the terms of each item and computes their values: about the 0.7th power of the number
// of uses, where old uses count less, times the rarity among items. If about is not nil, terms that
// about does not have are worth nothing.
func weigh(items []item, about []string) *vocabulary {
	v := &vocabulary{number: make(map[uint64]int32, termsAhead*len(items)),
		scan: terms.Scanner{Whole: true}}
	last := uint64(0)
	for i := range items {
		last = max(last, items[i].line.Seq)
	}
	var use []float64
	var with []int64
	for i := range items {
		it := &items[i]
		text := it.line.Text
		if it.fact.Kind == digest.Written {
			text = it.fact.Text
		} else if it.fact.TellsHeadings() {
			text = it.fact.Path // a heading names what is said in other lines
		}
		it.terms = v.all(text)
		for len(use) < len(v.number) {
			use, with = append(use, 0), append(with, 0)
		}
		d := 0.0
		for _, seq := range it.uses {
			d += decay(last - seq)
		}
		for _, t := range it.terms {
			with[t]++
			use[t] += d
		}
	}
	n := int64(len(items))
	v.worth = make([]float64, len(use))
	for t := range use {
		if with[t] <= max(minCommon, n/common) {
			v.worth[t] = float64(power(use[t]) * float64(summarize.Rarity(n, with[t])))
		}
	}
	if about != nil {
		v.only(about)
	}
	return v
}

// only sets the value of all terms that none of the texts has to 0.
func (v *vocabulary) only(texts []string) {
	in := make([]bool, len(v.worth))
	for _, text := range texts {
		for _, t := range v.known(text) {
			in[t] = true
		}
	}
	for t := range in {
		if !in[t] {
			v.worth[t] = 0
		}
	}
}

// all returns the distinct terms of a text, sorted. It ignores parts of names, because a path is
// one thing.
func (v *vocabulary) all(text string) []int32 {
	list := v.room[:0]
	v.scan.Scan(text, func(t terms.Token) {
		n, ok := v.number[t.Term]
		if !ok {
			n = int32(len(v.number))
			v.number[t.Term] = n
		}
		list = append(list, n)
	})
	v.room = list
	slices.Sort(list)
	return slices.Clone(slices.Compact(list))
}

// termsAhead is for how many terms of an item the vocabulary has room at first.
const termsAhead = 2

// known returns the terms of a text that already have a number.
func (v *vocabulary) known(text string) []int32 {
	var list []int32
	terms.Scan(text, func(t terms.Token) {
		if n, ok := v.number[t.Term]; ok {
			list = append(list, n)
		}
	})
	return list
}

// decay halves every halfLife messages and is linear between. It uses no function that differs
// between platforms.
func decay(age uint64) float64 {
	whole, part := age/halfLife, age%halfLife
	if whole > 60 {
		return 0
	}
	return math.Ldexp(1-float64(part)/(2*halfLife), -int(whole))
}

// power returns x to the power 11/16. It uses square roots, which are the same on all platforms.
func power(x float64) float64 {
	half := math.Sqrt(x)
	eighth := math.Sqrt(math.Sqrt(half))
	return float64(float64(half*eighth) * math.Sqrt(eighth))
}

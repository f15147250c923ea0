package summarize

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/terms"
)

// Found is a message that a search has found for a question.
type Found struct {
	Entry format.ID
	Role  string
	Text  string
	Score float64 // of the search; only ratios within one search count
}

// Passage is a part of a message that answers a question: a whole short message, or a sentence or
// line of a long one.
type Passage struct {
	Found int // index of the message
	Pos   int // index of the part in its message
	Whole bool
	Text  string // verbatim; white space becomes single spaces unless Whole
}

// The value of a part of a message for a question, in thousandths of the score of the message:
// thereWorth for every part, termsWorth times its share of the question's terms, weighted by
// rarity, and besideWorth times the share of the better neighbouring part.
const (
	thereWorth  = 300
	termsWorth  = 1000
	besideWorth = 400
)

// sameMessage is the number of parts of one message after which the value of further parts fades.
const sameMessage = 2

// Quoting says how messages that answer a question are quoted.
type Quoting struct {
	Best  int // number of the first messages that are quoted whole if they have at most Long tokens
	Long  int // tokens
	Short int // tokens of the longest message that is always quoted whole
	// Fading is the factor, in hundredths, by which each two parts of one message count less than
	// the two before them.
	Fading int
}

// short returns the largest number of tokens with which the message of a rank is quoted whole.
func (q Quoting) short(rank int) int {
	if rank < q.Best {
		return max(q.Long, q.Short)
	}
	return q.Short
}

// QuoteTalk is for talk between people: messages are short, and nothing fades.
var QuoteTalk = Quoting{Short: 48, Fading: 100}

// Passages divides the messages that answer a question into parts and returns the parts, the most
// valuable first. A message that how quotes whole is one part.
func Passages(question string, found []Found, how Quoting) []Passage {
	if len(found) == 0 {
		return nil
	}
	type part struct {
		Passage
		worth int64
	}
	q := questionOf(question, found)
	var list []part
	for i, f := range found {
		score := int64(1000)
		if top := found[0].Score; top > 0 {
			score = max(1, min(1000, int64(float64(f.Score*1000)/top)))
		}
		if short := how.short(i); Tokens(f.Text) <= short {
			worth := score * (thereWorth + termsWorth*q.share(f.Text)/1000) / 1000
			list = append(list, part{Passage{Found: i, Whole: true, Text: f.Text}, worth})
			continue
		}
		pieces := split(f.Text, f.Role == "tool")
		has := make([]int64, len(pieces)+2)
		for k, p := range pieces {
			has[k+1] = q.share(p.text)
		}
		for k, p := range pieces {
			beside := max(has[k], has[k+2])
			worth := score * (thereWorth + (termsWorth*has[k+1]+besideWorth*beside)/1000) / 1000
			list = append(list, part{Passage{Found: i, Pos: k, Text: p.text}, worth})
		}
	}
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(b.worth, a.worth) })
	taken := make([]int, len(found))
	for i := range list {
		for range min(taken[list[i].Found]/sameMessage, 40) {
			list[i].worth = list[i].worth * int64(how.Fading) / 100
		}
		taken[list[i].Found]++
	}
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(b.worth, a.worth) })
	out := make([]Passage, len(list))
	for i, p := range list {
		out[i] = p.Passage
	}
	return out
}

// question holds the terms of a question with their values. A term is worth more the fewer of the
// found messages have it.
type question struct {
	worth map[uint64]int64
	total int64
}

func questionOf(text string, found []Found) question {
	df := map[uint64]int64{}
	for _, c := range terms.Of(text) {
		df[c.Term] = 0
	}
	for _, f := range found {
		for _, c := range terms.Of(f.Text) {
			if n, ok := df[c.Term]; ok {
				df[c.Term] = n + 1
			}
		}
	}
	q := question{worth: map[uint64]int64{}}
	for _, c := range terms.Of(text) {
		if n := df[c.Term]; n > 0 {
			q.worth[c.Term] = rarity(int64(len(found)), n)
			q.total += q.worth[c.Term]
		}
	}
	return q
}

// share returns the share of the question's terms that a text has, weighted by value, in
// thousandths.
func (q question) share(text string) int64 {
	if q.total == 0 {
		return 0
	}
	sum := int64(0)
	for _, c := range terms.Of(text) {
		sum += q.worth[c.Term]
	}
	return sum * 1000 / q.total
}

package summarize

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/forest/terms"
	"github.com/gemini-ctx/ctx/format"
)

// Found is a message that answers a question, as a search has found it.
type Found struct {
	Entry format.ID
	Role  string
	Text  string
	Score float64 // of the search; only how scores of one search compare counts
}

// Passage is a part of a message that answers a question: the whole of a short message, a sentence or a line of a long one.
type Passage struct {
	Found int // index of the message
	Pos   int // of the part in its message
	Whole bool
	Text  string // word for word; white space squeezed to single spaces unless it is the whole
}

// What a part of a message is worth for a question, in thousandths of the score of its message: for being there at all, for the
// share of the question's terms that it has, weighed by their rarity, and for that of the parts beside it.
const (
	thereWorth  = 300
	termsWorth  = 1000
	besideWorth = 400
)

// sameMessage is how many parts of one message count in full before the next so many fade.
const sameMessage = 2

// Quoting says how messages that answer a question are quoted.
type Quoting struct {
	Best   int // so many of the messages found first are quoted whole
	Long   int // up to so many tokens
	Short  int // a message of no more than so many tokens is quoted whole
	Fading int // of the parts of one message each two after the first two count so many hundredths of those before
}

// short returns how many tokens the message of the given rank may have to be quoted whole.
func (q Quoting) short(rank int) int {
	if rank < q.Best {
		return max(q.Long, q.Short)
	}
	return q.Short
}

// QuoteTalk is how talk is quoted: its messages are short, and nothing fades.
var QuoteTalk = Quoting{Short: 48, Fading: 100}

// Passages takes messages that answer a question apart, and returns the parts by what they are worth
// for it, the best first. A message of no more than how.Short tokens is one part.
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

// question is the terms of a question with what each is worth: the rarer among the messages found the more.
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

// share returns how much of the question's terms a text has, in thousandths.
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

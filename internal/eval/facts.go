package eval

import (
	"context"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

// Retention is what one way to shorten conversations keeps of what is asked about, at one size: the
// tokens of the conversation divided by Ratio, counted on all that is printed.
type Retention struct {
	Way    string `json:"way"`
	Ratio  int    `json:"ratio"`
	Budget int    `json:"budget"` // tokens, over all conversations with facts
	Tokens int    `json:"tokens"` // that were printed

	// Facts whose answer is a string that the evidence holds word for word: kept where it is printed,
	// whatever the case and the white space.
	N     int   `json:"n"`
	Kept  int   `json:"kept"`
	Share Milli `json:"share"`
	Low   Milli `json:"low"` // of the 95 % interval
	High  Milli `json:"high"`
	// Against the first way at the same ratio: facts that only the first one keeps, that only this one
	// keeps, and the exact p of McNemar.
	Lost  int   `json:"lost"`
	Found int   `json:"found"`
	P     Milli `json:"p"`

	Stale  int `json:"stale"`  // facts of which only what was said before it is printed
	Leaked int `json:"leaked"` // secrets that are printed

	// Facts whose answer was written by somebody who had read all of the evidence: the mean share of
	// evidence messages with a sentence, or a long piece of one, that is printed.
	Prose    int    `json:"prose"`
	Evidence *Milli `json:"evidence"` // null without such facts
}

// ratios are the sizes at which facts are counted.
func ratios() []int { return []int{2, 4, 10, 20, 50} }

// asked is a fact with the messages that it is about.
type asked struct {
	corpus.Fact
	evidence []int // places of messages
	verbatim bool
}

// factsOf returns the facts of a conversation. Evidence that is not in it is left out, and so is a
// fact without any.
func factsOf(set Set, m []corpus.Message) []asked {
	place := map[int]int{}
	for i := range m {
		place[m[i].Seq] = i
	}
	var out []asked
	for _, f := range set.Facts {
		if f.Conversation != m[0].Conversation {
			continue
		}
		a := asked{Fact: f}
		for _, seq := range f.Evidence {
			if i, ok := place[seq]; ok {
				a.evidence = append(a.evidence, i)
				a.verbatim = a.verbatim || holds(squeeze(m[i].Text), f.Answer)
			}
		}
		if len(a.evidence) > 0 {
			out = append(out, a)
		}
	}
	return out
}

// squeeze makes what is printed comparable: lower case, white space as single spaces, the escapes
// of the block undone.
func squeeze(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(unescape.Replace(s)), " "))
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// holds reports whether a squeezed text has a string in it.
func holds(text, s string) bool { return strings.Contains(text, squeeze(s)) }

// keeping is the gauge of what is kept, of every way at every ratio.
type keeping struct {
	sums [][]*retained // by ratio, way
}

func (k *keeping) add(_ context.Context, b *bench) error {
	if len(b.questions) == 0 {
		return nil
	}
	ways, err := b.ways()
	if err != nil {
		return err
	}
	for i, ratio := range ratios() {
		if i == len(k.sums) {
			k.sums = append(k.sums, newRetained(ways, ratio))
		}
		for j, w := range ways {
			if err := k.sums[i][j].add(b, w, b.budget(ratio)); err != nil {
				return fmt.Errorf("%s at %dx: %w", w.name, ratio, err)
			}
		}
	}
	return nil
}

func (k *keeping) report(r *SetReport) {
	for _, ways := range k.sums {
		for _, one := range ways {
			r.Retention = append(r.Retention, one.result(ways[0]))
		}
	}
}

// budget is the tokens of the conversation divided by ratio, at least 1.
func (s *stand) budget(ratio int) int {
	return max(1, summarize.Tokens(strings.Join(s.said(), "\n"))/ratio)
}

// said are the texts of the messages that were not taken back.
func (s *stand) said() []string {
	var out []string
	for i, text := range s.texts {
		if !s.ids[i].IsZero() {
			out = append(out, text)
		}
	}
	return out
}

// retained adds up what one way keeps at one ratio.
type retained struct {
	row      Retention
	kept     []bool // of the verbatim facts, in order
	evidence float64
}

func newRetained(ways []way, ratio int) []*retained {
	out := make([]*retained, len(ways))
	for i, w := range ways {
		out[i] = &retained{row: Retention{Way: w.name, Ratio: ratio}}
	}
	return out
}

// add renders a conversation and looks for its facts in it.
func (r *retained) add(b *bench, w way, budget int) error {
	printed, err := w.render(budget)
	if err != nil {
		return err
	}
	tokens := summarize.Tokens(printed)
	if tokens > budget {
		return fmt.Errorf("%d tokens of %d", tokens, budget)
	}
	r.row.Budget += budget
	r.row.Tokens += tokens
	r.look(b, printed)
	return nil
}

func (r *retained) look(b *bench, printed string) {
	text := squeeze(printed)
	var shown []bool
	for _, q := range b.questions {
		if q.Stale != "" && holds(text, q.Stale) && !holds(text, q.Answer) {
			r.row.Stale++
		}
		if q.Never != "" && holds(text, q.Never) {
			r.row.Leaked++
		}
		if q.verbatim {
			r.kept = append(r.kept, holds(text, q.Answer))
			continue
		}
		if shown == nil {
			shown = quoted(b.said(), printed)
		}
		n := 0
		for _, i := range q.evidence {
			if shown[i] {
				n++
			}
		}
		r.row.Prose++
		r.evidence += share(n, len(q.evidence))
	}
}

func (r *retained) result(first *retained) Retention {
	row := r.row
	row.N = len(r.kept)
	for i, kept := range r.kept {
		if kept {
			row.Kept++
		}
		switch {
		case kept && !first.kept[i]:
			row.Found++
		case !kept && first.kept[i]:
			row.Lost++
		}
	}
	row.Share = milli(share(row.Kept, row.N))
	low, high := Wilson(row.Kept, row.N)
	row.Low, row.High, row.P = milli(low), milli(high), milli(McNemar(row.Found, row.Lost))
	if row.Prose > 0 {
		mean := milli(r.evidence / float64(row.Prose))
		row.Evidence = &mean
	}
	return row
}

// leastWords is how many words in a row a message and a printed line have to share before the line
// counts as the message's. Fewer are said by many ("I don't know if" is). Who says no more than
// that counts with all they said.
const leastWords = 6

// quoted says of every text whether a printed line has a piece of it: leastWords words in a row, or
// all of it where it has fewer.
func quoted(texts []string, printed string) []bool {
	runs := map[string]bool{}
	for line := range strings.SplitSeq(printed, "\n") {
		said := words(unescape.Replace(line))
		for n := 1; n <= leastWords; n++ {
			for i := 0; i+n <= len(said); i++ {
				if n == leastWords || n == len(said) {
					runs[strings.Join(said[i:i+n], " ")] = true
				}
			}
		}
	}
	out := make([]bool, len(texts))
	for i, text := range texts {
		said := words(text)
		n := min(leastWords, len(said))
		for j := 0; n > 0 && j+n <= len(said) && !out[i]; j++ {
			out[i] = runs[strings.Join(said[j:j+n], " ")]
		}
	}
	return out
}

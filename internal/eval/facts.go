package eval

import (
	"context"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// ratios returns the sizes at which facts are counted, as divisors of the full size.
func ratios() []int { return []int{2, 4, 10, 20, 50} }

// question is a fact with the messages that are its evidence.
type question struct {
	corpus.Fact
	evidence []int // places of messages
	verbatim bool
}

// factsOf returns the facts of a conversation. Evidence that is not in the conversation is left
// out, and so are facts without evidence.
func factsOf(set Set, m []corpus.Message) []question {
	place := map[int]int{}
	for i := range m {
		place[m[i].Seq] = i
	}
	var out []question
	for _, f := range set.Facts {
		if f.Conversation != m[0].Conversation {
			continue
		}
		a := question{Fact: f}
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

// squeeze makes texts comparable: in lower case, with single spaces, and without the escapes of a
// rendering.
func squeeze(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(unescape.Replace(s)), " "))
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// holds reports whether a squeezed text contains s, squeezed.
func holds(text, s string) bool { return strings.Contains(text, squeeze(s)) }

// retention adds up Retention for every way at every ratio.
type retention struct{ sums waysKept }

func (k *retention) add(_ context.Context, b *evalCase) error {
	if len(b.questions) == 0 {
		return nil
	}
	ways, err := b.ways()
	if err != nil {
		return err
	}
	for i, ratio := range ratios() {
		if err := k.sums.add(i, ratio, ways, b); err != nil {
			return err
		}
	}
	return nil
}

func (k *retention) report(r *measured) { r.Retention = k.sums.rows() }

// waysKept adds up what ways keep, by ratio and by way.
type waysKept [][]*retained

// add adds what ways keep of a conversation at the i-th ratio.
func (k *waysKept) add(i, ratio int, ways []rendering, b *evalCase) error {
	if i == len(*k) {
		*k = append(*k, newRetained(ways, ratio))
	}
	for j, w := range ways {
		if err := (*k)[i][j].add(b, w, b.Budget(ratio)); err != nil {
			return fmt.Errorf("%s at %dx: %w", w.name, ratio, err)
		}
	}
	return nil
}

func (k waysKept) rows() (list []Retention) {
	for _, ways := range k {
		for _, one := range ways {
			list = append(list, one.result(ways[0]))
		}
	}
	return list
}

// retained adds up what one way keeps at one ratio, over conversations.
type retained struct {
	row      Retention
	kept     []bool // of the verbatim facts, in order
	evidence float64
}

func newRetained(ways []rendering, ratio int) []*retained {
	return lists.Map(ways, func(w rendering) *retained {
		return &retained{row: Retention{Way: w.name, Ratio: ratio}}
	})
}

// add renders a conversation and looks for its facts in the rendering.
func (r *retained) add(b *evalCase, w rendering, budget int) error {
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

// look looks for the facts of a conversation in what was printed of it.
func (r *retained) look(b *evalCase, printed string) {
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
			shown = quoted(b.Said(), printed)
		}
		n := 0
		for _, i := range q.evidence {
			if shown[i] {
				n++
			}
		}
		r.row.Prose++
		r.evidence += stats.Share(n, len(q.evidence))
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
	row.Share = stats.MilliShare(row.Kept, row.N)
	low, high := stats.Wilson(row.Kept, row.N)
	row.Low, row.High = stats.MilliOf(low), stats.MilliOf(high)
	row.P = stats.MilliOf(stats.McNemar(row.Found, row.Lost))
	if row.Prose > 0 {
		mean := stats.MilliOf(r.evidence / float64(row.Prose))
		row.Evidence = &mean
	}
	return row
}

// leastWords is the number of words in a row that a printed line must share with a message to count
// as a piece of it. Many messages share fewer words, such as "I don't know if". Of a shorter
// message, all words must be there.
const leastWords = 6

// quoted reports for each text whether a printed line has a piece of it: leastWords words in a row,
// or the whole text if it is shorter.
func quoted(texts []string, printed string) []bool {
	runs := map[string]bool{}
	for line := range strings.SplitSeq(printed, "\n") {
		said := wordsOf(unescape.Replace(line))
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
		said := wordsOf(text)
		n := min(leastWords, len(said))
		for j := 0; n > 0 && j+n <= len(said) && !out[i]; j++ {
			out[i] = runs[strings.Join(said[j:j+n], " ")]
		}
	}
	return out
}

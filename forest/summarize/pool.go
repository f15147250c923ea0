package summarize

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Pool ranks the sentences of many lists against each other. Each list was ranked by itself when it
// was stored, but what is rare in one list may be common in others, or may be said in them too.
type Pool struct {
	r *ranking
}

// Pick is a sentence that a Pool offers.
type Pick struct {
	List   int // index of its list
	Text   string
	index  int
	Index  int // index in that list
	Weight int64
}

// NewPool returns a pool of the sentences of lists. It uses only the beginning of each list, so
// that the pool has about most tokens; its cost is proportional to that. tokens is about how many
// of them the caller will take.
func NewPool(lists [][]Sentence, most, tokens int) *Pool {
	var all []candidate
	for i, n := range beginnings(lists, most) {
		for k, s := range lists[i][:n] {
			_, q := measure(s.Text)
			p := piece{text: s.Text, quarters: q, line: s.Role == "tool"}
			all = append(all,
				candidate{piece: p, src: i, at: k, weight: s.Weight, pos: s.Pos, entry: s.Entry,
					seq: s.Seq, role: s.Role})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), a.entry.Compare(b.entry),
			cmp.Compare(a.pos, b.pos))
	})
	p := &Pool{r: newRanking(once(all), nil, 4*tokens/urgentShare)}
	p.r.keepFocus()
	return p
}

// Next returns the best sentence that it has not returned before. The terms of taken sentences
// count as said.
func (p *Pool) Next() (Pick, bool) {
	b, ok := p.r.best()
	if !ok {
		return Pick{}, false
	}
	v := &p.r.list[b.index]
	return Pick{List: v.src, Index: v.at, Text: v.text, index: b.index, Weight: b.density}, true
}

// Take tells the pool that a pick was used.
func (p *Pool) Take(k Pick) { p.r.take(k.index) }

// Said tells the pool what is printed beside its sentences. Sentences for which said returns true
// count as taken and are not offered.
func (p *Pool) Said(said func(entry format.ID, text string) bool) {
	for i := range p.r.list {
		if v := &p.r.list[i]; said(v.entry, v.text) {
			p.r.take(i)
			p.r.gone[i] = true
		}
	}
}

// beginnings returns how many sentences of each list are used: all of them, or the same share of
// the tokens of each list.
func beginnings(lists [][]Sentence, most int) []int {
	total := 0
	sizes := make([]int, len(lists))
	for i, l := range lists {
		for _, s := range l {
			sizes[i] += len(s.Text)/4 + 1
		}
		total += sizes[i]
	}
	out := make([]int, len(lists))
	for i, l := range lists {
		out[i] = len(l)
		if total <= most {
			continue
		}
		left := 1 + int(int64(sizes[i])*int64(most)/int64(total))
		for k, s := range l {
			if left -= len(s.Text)/4 + 1; left < 0 {
				out[i] = k + 1
				break
			}
		}
	}
	return out
}

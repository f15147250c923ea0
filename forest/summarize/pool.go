package summarize

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Pool ranks the sentences of many lists against each other: each was ranked among its own kind when it was stored, and what is
// rare there may be common elsewhere, or said elsewhere already.
type Pool struct {
	r *ranking
}

// Pick is a sentence that a Pool offers.
type Pick struct {
	List   int // which of the lists it is from
	Text   string
	index  int
	Index  int // in its list
	Weight int64
}

// NewPool returns the sentences of lists to be chosen from, of each list its beginning, so that the pool has no more than about
// most tokens. Its cost is in proportion to them. About so many tokens of it will be taken.
func NewPool(lists [][]Sentence, most, tokens int) *Pool {
	var all []candidate
	for i, n := range beginnings(lists, most) {
		for k, s := range lists[i][:n] {
			_, q := measure(s.Text)
			p := piece{text: s.Text, quarters: q, line: s.Role == "tool"}
			all = append(all, candidate{piece: p, src: i, at: k, pos: s.Pos, entry: s.Entry, seq: s.Seq, role: s.Role})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.seq, b.seq), a.entry.Compare(b.entry), cmp.Compare(a.pos, b.pos))
	})
	return &Pool{r: newRanking(once(all), nil, 4*tokens/urgentShare)}
}

// Next returns the best sentence that was not returned before. What Take was told of counts as said.
func (p *Pool) Next() (Pick, bool) {
	b, ok := p.r.best()
	if !ok {
		return Pick{}, false
	}
	v := &p.r.list[b.index]
	return Pick{List: v.src, Index: v.at, Text: v.text, index: b.index, Weight: b.density}, true
}

// Take says that a pick was used.
func (p *Pool) Take(k Pick) { p.r.take(k.index) }

// Said tells the pool what is printed beside its sentences: those for which said is true count as chosen and are not offered.
func (p *Pool) Said(said func(entry format.ID, text string) bool) {
	for i := range p.r.list {
		if v := &p.r.list[i]; said(v.entry, v.text) {
			p.r.take(i)
			p.r.gone[i] = true
		}
	}
}

// beginnings returns how much of each list is looked at: all, or the same part of the tokens of each.
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

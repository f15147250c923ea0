package search

import (
	"bytes"
	"cmp"
	"slices"
)

// printOf is a number that texts with the same words, in the same order, have in common, whatever
// their case, accents and punctuation; 0 for a text without words.
func printOf(text string) uint64 {
	w := wordScanner{text: lowered(text)}
	h := uint64(14695981039346656037) // FNV-1a
	any := false
	for word, ok := w.next(); ok; word, ok = w.next() {
		any = true
		for i := 0; i < len(word); i++ {
			h = (h ^ uint64(word[i])) * 1099511628211
		}
		h = (h ^ ' ') * 1099511628211
	}
	if !any {
		return 0
	}
	return max(h, 1)
}

// gatherer makes hits of documents, one of those that say the same.
type gatherer struct {
	r    *ranking
	list []int // the items that are asked for
	seen map[uint64]bool
}

// gather adds the best of list by a value to hits until there are so many, or no more. Each hit
// tells its copies, which are hits no more.
func (g *gatherer) gather(hits []Hit, list []int, most int, value func(it *item) float64) ([]Hit, error) {
	begin := len(hits)
	for n := 2*min(most-begin, len(list)) + 16; ; n *= 4 {
		n = min(n, len(list))
		ranked, err := g.r.inOrder(list, n, value)
		if err != nil {
			return nil, err
		}
		seen := map[uint64]bool{}
		hits, err = g.walk(hits[:begin], ranked, most, seen)
		if err != nil || len(hits) == most || n == len(list) {
			for print := range seen {
				g.seen[print] = true
			}
			return hits, err
		}
	}
}

// walk is gather for items in order.
func (g *gatherer) walk(hits []Hit, ranked []int, most int, seen map[uint64]bool) ([]Hit, error) {
	alike := map[uint64][]int{} // by what they have of the query
	for _, i := range ranked {
		alike[g.r.items[i].sign] = nil
	}
	for _, i := range g.list {
		if group, ok := alike[g.r.items[i].sign]; ok {
			alike[g.r.items[i].sign] = append(group, i)
		}
	}
	for _, i := range ranked {
		if len(hits) == most {
			break
		}
		print, err := g.r.print(i)
		if err != nil {
			return nil, err
		}
		if seen[print] || g.seen[print] {
			continue
		}
		same := []int{i}
		if print != 0 {
			seen[print] = true
			if same, err = g.same(alike[g.r.items[i].sign], print); err != nil {
				return nil, err
			}
		}
		hit, err := g.hit(same)
		if err != nil {
			return nil, err
		}
		hit.Score = g.r.items[i].score
		hits = append(hits, hit)
	}
	return hits, nil
}

// same returns those of group that have a print.
func (g *gatherer) same(group []int, print uint64) ([]int, error) {
	var list []int
	for _, i := range group {
		p, err := g.r.print(i)
		if err != nil {
			return nil, err
		}
		if p == print {
			list = append(list, i)
		}
	}
	return list, nil
}

func (r *ranking) print(i int) (uint64, error) {
	it := &r.items[i]
	return r.sources[it.source].print(it.doc)
}

// hit makes a hit of documents that say the same: of one that a branch stands on before one that
// was rewound, of a message before a note, of the newest, of the smaller id.
func (g *gatherer) hit(same []int) (Hit, error) {
	type copied struct {
		Hit
		time int64
		note bool
	}
	list := make([]copied, len(same))
	for k, i := range same {
		it := &g.r.items[i]
		s := g.r.sources[it.source]
		id, version, err := s.Entry(it.doc)
		if err != nil {
			return Hit{}, err
		}
		when, _, err := s.cold(it.doc)
		if err != nil {
			return Hit{}, err
		}
		_, attr, _, err := s.hotRow(it.doc)
		if err != nil {
			return Hit{}, err
		}
		list[k] = copied{
			Hit:  Hit{ID: id, Version: version, Session: g.r.names[it.session], Seq: it.seq, Whole: it.has == len(g.r.q.terms), Equal: it.equal, Rewound: s.Hidden[it.doc]},
			time: when.UnixMilli(), note: attr&attrNote != 0,
		}
	}
	slices.SortFunc(list, func(a, b copied) int {
		return cmp.Or(compareBool(a.Rewound, b.Rewound), compareBool(a.note, b.note), cmp.Compare(b.time, a.time), bytes.Compare(a.ID[:], b.ID[:]), bytes.Compare(a.Version[:], b.Version[:]))
	})
	hit := list[0].Hit
	for _, c := range list[1:] {
		hit.Copies = append(hit.Copies, c.Hit)
	}
	return hit, nil
}

// compareBool puts false first.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

package search

import (
	"bytes"
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// printOf returns a fingerprint of the words of a text. Texts with the same words in the same order
// have the same fingerprint; case, accents and punctuation are ignored. It returns 0 for a text
// without words.
func printOf(text string) uint64 { return printOfFolded(Fold(text)) }

// printOfFolded is printOf for a text that was folded.
func printOfFolded(text string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	any, word := false, false
	var few [utf8.UTFMax]byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r = unicode.ToLower(r); !notInName(r) {
				for _, c := range utf8.AppendRune(few[:0], r) {
					h = (h ^ uint64(c)) * fnvPrime
				}
				i += size - 1
				any, word = true, true
				continue
			}
			i += size - 1
			c = ' '
		}
		if alnum(c) {
			low := c
			if upper(c) {
				low += 'a' - 'A'
			}
			h = (h ^ uint64(low)) * fnvPrime
			any, word = true, true
		} else if word {
			h = (h ^ ' ') * fnvPrime
			word = false
		}
	}
	if word {
		h = (h ^ ' ') * fnvPrime
	}
	if !any {
		return 0
	}
	return max(h, 1)
}

const fnvPrime = 1099511628211

// withCopies makes hits of documents with different words. The first of them, as many as hits says,
// are the best ones; the others are spare. A hit lists its copies, which are no hits of their own.
func (r *ranking) withCopies(list []*found, hits int) ([]Hit, error) {
	copies, err := r.copiesOf(list)
	if err != nil {
		return nil, err
	}
	made := make([]Hit, 0, len(list))
	for i, f := range list {
		same := []item{f.item}
		if f.print != 0 {
			same = copies[f.print].same
		}
		hit, err := r.hit(same)
		if err != nil {
			return nil, err
		}
		hit.Score, hit.Spare, hit.Own = f.score, i >= hits, f.own
		made = append(made, hit)
	}
	return made, nil
}

// copied has the documents with the same words as one of them.
type copied struct {
	of   *found
	same []item
}

// add adds a document that has, as a copy, as many terms of the query.
func (c *copied) add(it item) {
	it.values, it.has = c.of.values, c.of.has
	it.must, it.equal = c.of.must, c.of.equal
	c.same = append(c.same, it)
}

// copiesOf returns by print the documents of list and their copies that have terms of the query and
// that the options admit.
func (r *ranking) copiesOf(list []*found) (map[uint64]*copied, error) {
	copies := map[uint64]*copied{}
	for _, f := range list {
		if f.print != 0 {
			copies[f.print] = &copied{of: f}
		}
	}
	for i := range r.items {
		it := &r.items[i]
		s := &r.sources[it.source]
		print, err := s.print(it.doc)
		if c := copies[print]; c != nil && c.of.values > 0 {
			var ok bool
			if ok, err = r.o.admits(s, it.doc, r.names[it.session]); ok {
				c.add(*it)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return copies, nil
}

// hit makes one hit of documents with the same words. The first of them is chosen in this order: on
// a branch before rewound, a message before a note, of this store before of another, the newest,
// the smaller id. The others are its copies.
func (r *ranking) hit(same []item) (Hit, error) {
	type candidate struct {
		Hit
		time   int64
		note   bool
		shared bool
	}
	list := make([]candidate, len(same))
	for k := range same {
		it := &same[k]
		s := r.sources[it.source]
		id, version, err := s.Entry(it.doc)
		if err != nil {
			return Hit{}, err
		}
		when, _, err := s.cold(it.doc)
		if err != nil {
			return Hit{}, err
		}
		attr, err := s.attr(it.doc)
		if err != nil {
			return Hit{}, err
		}
		list[k] = candidate{
			Hit: Hit{ID: id, Version: version, Session: r.names[it.session], Seq: it.seq,
				Whole: int(it.has) == r.q.own(), Equal: it.equal, Rewound: s.Hidden[it.doc]},
			time: when.UnixMilli(), note: attr&attrNote != 0,
			shared: r.o.Shared != nil && r.o.Shared(r.names[it.session]),
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(compareBool(a.Rewound, b.Rewound), compareBool(a.note, b.note),
			compareBool(a.shared, b.shared), cmp.Compare(b.time, a.time),
			bytes.Compare(a.ID[:], b.ID[:]), bytes.Compare(a.Version[:], b.Version[:]))
	})
	hit := list[0].Hit
	for _, c := range list[1:] {
		hit.Copies = append(hit.Copies, c.Hit)
	}
	return hit, nil
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

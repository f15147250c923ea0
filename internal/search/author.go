package search

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// minNamed is the share of an author's name that a query must contain to name the author: half of
// "Grad C" is enough, a third of a model's name is not.
const minNamed = 0.5

// nameAuthors finds the authors whom the query names. Candidates are the authors of documents that
// have a term of the query; those whose names the query contains to the largest share count.
func (r *ranking) nameAuthors() error {
	shares := make([]map[uint32]float64, len(r.sources))
	for i, s := range r.sources {
		r.named[i], shares[i] = map[uint32]bool{}, map[uint32]float64{}
		for k, author := range s.authors {
			if share := r.q.shareOf(author); share >= minNamed {
				shares[i][uint32(k)] = share
			}
		}
	}
	if !slices.ContainsFunc(shares, func(m map[uint32]float64) bool { return len(m) > 0 }) {
		return nil
	}
	most, names := 0.0, map[string]bool{}
	for i := range r.items {
		it := &r.items[i]
		author, err := r.authorOf(it)
		if err != nil {
			return err
		}
		share := shares[it.source][author]
		if share > most {
			most = share
			clear(names)
		}
		if share == most && share > 0 {
			names[r.sources[it.source].authors[author]] = true
		}
	}
	for i, s := range r.sources {
		for author := range shares[i] {
			r.named[i][author] = names[s.authors[author]]
		}
	}
	for i := range r.items {
		it := &r.items[i]
		author, err := r.authorOf(it)
		if err != nil {
			return err
		}
		if r.named[it.source][author] {
			it.kind |= kindNamed << 8
		}
	}
	return nil
}

// authorOf returns the number of an item's author in its source.
func (r *ranking) authorOf(it *item) (uint32, error) {
	row, err := r.sources[it.source].hotRow(it.doc)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(row[2:]), nil
}

// isName reports whether a word of the query is part of the name of an author whom the query names.
func (r *ranking) isName(word string) bool {
	for i, s := range r.sources {
		for author, named := range r.named[i] {
			if named &&
				slices.ContainsFunc(nameParts(s.authors[author]),
					func(p string) bool { return strings.EqualFold(p, word) }) {
				return true
			}
		}
	}
	return false
}

// shareOf returns the share of an author's name that the query contains, from 0 to 1.
func (q *Query) shareOf(author string) float64 {
	parts := nameParts(author)
	if len(parts) == 0 {
		return 0
	}
	n := 0
	for _, p := range parts {
		if q.hasName(p) {
			n++
		}
	}
	return float64(n) / float64(len(parts))
}

// hasName reports whether the query contains a part of a name. A part of a single letter must be a
// capital letter inside the sentence, and not I.
func (q *Query) hasName(part string) bool {
	if utf8.RuneCountInString(part) > 1 {
		return slices.ContainsFunc(q.words,
			func(w string) bool { return strings.EqualFold(w, part) })
	}
	i := slices.Index(q.words, part)
	return i > 0 && part != "I" && part != strings.ToLower(part)
}

func nameParts(author string) []string { return strings.FieldsFunc(author, notInName) }

package summarize

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/terms"
)

// Duplicates and outdated sentences. Of sentences with the same meaning, only one is taken. A
// sentence that a later one corrects is worth little, and nothing after the later one was taken.
// The rules prefer to miss such a pair rather than to see one that does not exist: two databases
// may have a port each.
const (
	staleFactor = 200 // factor of a corrected sentence, in thousandths
	// Share of common terms, in thousandths, from which two sentences mean the same
	alike     = 800
	moreWords = 3 // words that a correction may have beyond the corrected sentence

	// Sentences with a term that are compared; a more frequent term tells nothing
	nearPostings  = 24
	stalePostings = 96
)

// rivals lists, by index of a sentence, the sentences that must not be taken together with it.
type rivals [][]int32

func (r rivals) of(i int) []int32 { return r[i] }

// findRivals compares sentences, which are in reading order. It lowers the factor of outdated
// sentences.
func findRivals(list []valued, vocabulary int) rivals {
	f := &finder{list: list, found: make(rivals, len(list)), with: make([][]int32, vocabulary),
		stale: make([]bool, len(list))}
	sizes, all := make([]int, vocabulary), 0
	for i := range list {
		for _, s := range list[i].shares {
			sizes[s.term]++
			all++
		}
	}
	postings := make([]int32, all)
	for term, n := range sizes {
		f.with[term], postings = postings[:0:n], postings[n:]
	}
	for i := range list {
		for _, s := range list[i].shares {
			f.with[s.term] = append(f.with[s.term], int32(i))
		}
	}
	for i := range list {
		f.same(i)
		f.putRight(i)
	}
	for i := range list {
		if f.stale[i] {
			list[i].factor = list[i].factor * staleFactor / 1000
			list[i].first = 0
		}
	}
	return f.found
}

type finder struct {
	list  []valued
	found rivals
	with  [][]int32 // by term: the sentences that have it, in order
	stale []bool
}

// same pairs sentence i with earlier sentences of the same meaning. If one of a pair is taken, the
// other is not.
func (f *finder) same(i int) {
	shares := f.list[i].shares
	if len(shares) < 3 {
		return
	}
	for _, t := range f.rarest(shares) {
		for _, j := range f.with[t] {
			if int(j) >= i {
				break
			}
			if !slices.Contains(f.found[i], j) && overlap(shares, f.list[j].shares) >= alike {
				f.found[i] = append(f.found[i], j)
				f.found[j] = append(f.found[j], int32(i))
			}
		}
	}
}

// rarest returns the two rarest terms among those that several, but at most nearPostings, sentences
// have.
func (f *finder) rarest(shares []share) []int32 {
	a, b := int32(-1), int32(-1)
	for _, s := range shares {
		n := len(f.with[s.term])
		switch {
		case n < 2 || n > nearPostings:
		case a < 0 || n < len(f.with[a]):
			a, b = s.term, a
		case b < 0 || n < len(f.with[b]):
			b = s.term
		}
	}
	return slices.DeleteFunc([]int32{a, b}, func(t int32) bool { return t < 0 })
}

// overlap returns the share of common terms of two sentences, in thousandths. It returns 0 if one
// has a number or a name that the other does not have.
func overlap(a, b []share) int {
	both, all := 0, 0
	for len(a)+len(b) > 0 {
		all++
		switch x, y := next(&a, &b); {
		case x != nil && y != nil:
			both++
		case x != nil && x.telling, y != nil && y.telling:
			return 0
		}
	}
	return both * 1000 / all
}

// next removes the first term of two sorted lists, which are not both empty. x is nil if only b has
// it, y if only a has it.
func next(a, b *[]share) (x, y *share) {
	if len(*b) == 0 || len(*a) > 0 && (*a)[0].term <= (*b)[0].term {
		x = &(*a)[0]
	}
	if x == nil || len(*b) > 0 && x.term == (*b)[0].term {
		y = &(*b)[0]
		*b = (*b)[1:]
	}
	if x != nil {
		*a = (*a)[1:]
	}
	return x, y
}

// putRight finds the earlier sentences that sentence i corrects: sentences with a value that
// sentence i denies, and sentences that give another value to the same thing.
func (f *finder) putRight(i int) {
	late := &f.list[i]
	denied := deniedIn(late.text, late.lower)
	for _, term := range denied {
		if t, ok := f.termIn(late.shares, term); ok {
			f.each(t, i, func(j int) bool { return f.related(j, i, t) })
		}
	}
	if late.role == "tool" || !hasTelling(late.shares) {
		return
	}
	cue := tellsChange(late.lower)
	if !cue && isCode(late.text) {
		return
	}
	for _, s := range late.shares {
		if !s.telling {
			f.each(s.term, i, func(j int) bool { return f.replaces(j, i, cue) })
		}
	}
}

// each marks the earlier sentences that have term t, and for which holds returns true, as corrected
// by sentence i.
func (f *finder) each(t int32, i int, holds func(j int) bool) {
	if len(f.with[t]) > stalePostings {
		return
	}
	for _, j := range f.with[t] {
		if int(j) >= i {
			return
		}
		if f.list[j].entry != f.list[i].entry && !slices.Contains(f.found[i], j) && holds(int(j)) {
			f.stale[j] = true
			f.found[i] = append(f.found[i], j)
		}
	}
}

// related reports whether sentences j and i have another common term beside t, or j has at most one
// other term.
func (f *finder) related(j, i int, t int32) bool {
	others, both := 0, 0
	for _, s := range f.list[j].shares {
		if s.term == t {
			continue
		}
		if others++; hasTerm(f.list[i].shares, s.term) {
			both++
		}
	}
	return both > 0 || others < 2
}

// replaces reports whether sentence i gives another value to the subject of j: each has one number
// or name that the other does not have, and i has all other terms of j. If no word of i indicates a
// change, both values must be numbers: "Ask Ingrid-2" replaces nobody.
func (f *finder) replaces(j, i int, cue bool) bool {
	early, late := f.list[j].shares, f.list[i].shares
	if f.list[j].role == "tool" || isCode(f.list[j].text) {
		return false
	}
	var gone, fresh int // numbers and names that only one of the two has
	numbers := true     // these are numbers
	both, more := 0, 0
	for len(early)+len(late) > 0 {
		e, l := next(&early, &late)
		switch {
		case e != nil && l != nil:
			both++
		case e != nil:
			if !e.telling || gone > 0 {
				return false
			}
			gone, numbers = gone+1, numbers && e.number
		case !l.telling:
			more++
		case fresh > 0:
			return false
		default:
			fresh, numbers = fresh+1, numbers && l.number
		}
	}
	if gone != 1 || fresh != 1 {
		return false
	}
	if !cue {
		return both >= 2 && more == 0 && numbers
	}
	return more == 0 || both >= 2 && more <= moreWords
}

func hasTelling(shares []share) bool {
	return slices.ContainsFunc(shares, func(s share) bool { return s.telling })
}

func hasTerm(shares []share, t int32) bool {
	_, ok := slices.BinarySearchFunc(shares, t,
		func(s share, t int32) int { return int(s.term) - int(t) })
	return ok
}

// termIn returns the number of the sentence's term with a hash.
func (f *finder) termIn(shares []share, hash uint64) (int32, bool) {
	for _, s := range shares {
		if s.hash == hash {
			return s.term, true
		}
	}
	return 0, false
}

// deniedIn returns the terms that a sentence denies: the first term after "not", "no longer",
// "instead of" and similar words, the term after "from" in "from … to", and the term that a sed
// command replaces.
//
// lower is the text in lower case.
func deniedIn(text, lower string) []uint64 {
	var list []uint64
	for _, w := range [...]string{"not ", "no longer ", "instead of ", "rather than ", "replaces ",
		"isn't ", "wasn't ", "from ", "'s/"} {
		for at := 0; ; {
			n := strings.Index(lower[at:], w)
			if n < 0 {
				break
			}
			start := at + n
			at = start + len(w)
			if start > 0 && lower[start-1] != ' ' ||
				w == "from " && !strings.Contains(lower[at:], " to ") {
				continue
			}
			if t, ok := firstTelling(text[at:]); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

// deniedReach is the largest distance in bytes between a denying word and the term.
const deniedReach = 40

// firstTelling returns the first number or name within deniedReach bytes.
func firstTelling(text string) (term uint64, ok bool) {
	terms.Scan(text[:min(len(text), deniedReach)], func(t terms.Token) {
		if !ok && (t.Kind == terms.Number || t.Kind == terms.Name) {
			term, ok = t.Term, true
		}
	})
	return term, ok
}

// tellsChange reports whether a text states a change: it corrects something, or has a word such as
// "now".
func tellsChange(lower string) bool {
	if Corrects(lower) {
		return true
	}
	for w := range strings.FieldsSeq(lower) {
		switch bare(w) {
		case "now", "not", "longer", "isn't":
			return true
		}
	}
	return false
}

// Package summarize is the summariser that is always there: it picks the sentences of a cluster that carry most, word for
// word, without a model. The same sources give the same list on every platform and in every run.
package summarize

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Source is an entry to be summarised.
type Source struct {
	Entry  format.ID
	Seq    uint64 // the entry's place in its session, from 0; sources are read in this order, however they are given
	Role   string // user, model, tool or system; what a tool printed is read line by line
	Author string // its name counts for nothing: who said something is for whoever renders it
	Text   string // UTF-8; a byte that is not becomes U+FFFD
}

// Sentence is one sentence, line of code or line of output of an entry. What a user says to a model keeps
// all its words, and a sentence of it that says little alone stands with the one that it leans on.
type Sentence struct {
	Entry  format.ID
	Seq    uint64 // of the entry
	Role   string // of the entry; a stored list takes one that is not known for user
	Pos    int    // the sentence's ordinal among the sentences of its entry, from 0
	Weight int64  // what it adds to the sentences ranked before it, in thousandths per token; see Extract
	Text   string // part of the entry's text, white space squeezed to single spaces; never empty, one line
}

// Bounds of the work: what is longer loses its middle, not its end, since an answer often comes last.
const (
	maxSentences = 20_000    // of all sources
	maxText      = 256 << 10 // bytes of one source
)

// Extract returns the sentences of src that are worth most, the most valuable first: by descending Weight, at equal weight
// by Seq, then Pos. Any beginning of the list is itself a good extract of its length. Joined by newlines the texts take no
// more than maxTokens by Tokens, and no more tokens or bytes than the texts of src joined the same way. A text that several
// entries have is taken once, from the last. With room for everything, everything with a letter or digit in it is there.
//
// A sentence is worth the sum of its terms, times what it looks like: see value and factors. What a ranked list holds is meant to
// be ranked again, among the sentences of other clusters: see Pool.
func Extract(src []Source, maxTokens int) []Sentence {
	src = inOrder(src)
	r := newRanking(gather(src), authorsOf(src), 4*max(maxTokens, 0)/urgentShare)
	left := roomFor(src, maxTokens)
	var out []Sentence
	for {
		b, ok := r.best()
		if !ok {
			break
		}
		v := &r.list[b.index]
		if !left.take(v.candidate) {
			continue
		}
		r.take(b.index)
		from := src[v.src]
		out = append(out, Sentence{Entry: from.Entry, Seq: from.Seq, Role: from.Role, Pos: v.pos, Weight: b.density, Text: v.text})
	}
	slices.SortStableFunc(out, func(a, b Sentence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Pos, b.Pos))
	})
	return out
}

// Order returns list in reading order: by Seq, then Entry, then Pos. It leaves list as it is.
func Order(list []Sentence) []Sentence {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Sentence) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Entry.Compare(b.Entry), cmp.Compare(a.Pos, b.Pos))
	})
	return out
}

func inOrder(src []Source) []Source {
	out := slices.Clone(src)
	slices.SortStableFunc(out, func(a, b Source) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Entry.Compare(b.Entry))
	})
	return out
}

// authorsOf returns the names of those who speak.
func authorsOf(src []Source) []string {
	var names []string
	for _, s := range src {
		if n := len(names); s.Author != "" && (n == 0 || names[n-1] != s.Author) {
			names = append(names, s.Author)
		}
	}
	return names
}

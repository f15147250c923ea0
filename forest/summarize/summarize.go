// Package summarize is the built-in summarizer, which needs no model: it picks the most valuable
// sentences of a cluster, word for word. It also makes the labels and one-line names of clusters,
// and ranks stored sentences again for a rendering.
//
// The package is pure, and the same sources give the same result on every platform and in every
// run. Begin with Extract; Summarizer in ask.go is the interface of all summarizers.
package summarize

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Source is an entry to be summarized.
type Source struct {
	Entry  format.ID
	Seq    uint64 // place of the entry in its session, from 0; defines the reading order
	Role   string // user, model, tool or system; the text of a tool is read line by line
	Author string // ignored as a term, because the renderer shows the author
	Text   string // UTF-8; an invalid byte becomes U+FFFD
}

// Sentence is one sentence, line of code or line of output of an entry. A user's sentence to a
// model keeps all its words, and stands together with a neighbour if it says little by itself.
type Sentence struct {
	Entry format.ID
	Seq   uint64 // of the entry
	Role  string // of the entry; a stored list omits an unknown role, which reads as user
	Pos   int    // index among the sentences of its entry, from 0
	// Weight is the value that the sentence adds to those ranked before it, in thousandths per
	// token; see Extract.
	Weight int64
	Text   string // part of the entry's text as one line with single spaces; never empty
}

// The bounds of the work. A longer input loses its middle, not its end, because an answer often
// comes last.
const (
	maxSentences = 20_000    // of all sources
	maxText      = 256 << 10 // bytes of one source
)

// Extract returns the most valuable sentences of src, sorted by descending Weight, then by Seq and
// Pos. Every prefix of the list is itself a good extract of its length. The texts joined by
// newlines have at most maxTokens tokens, as counted by Tokens, and no more tokens or bytes than
// the joined texts of src. A text that several entries have is taken once, from the last entry.
// With enough room, the list has everything that contains a letter or a digit.
//
// The value of a sentence is the sum of the values of its terms, times a factor for its form: see
// value and setFactors. A ranked list can be ranked again among the sentences of other clusters:
// see Pool.
func Extract(src []Source, maxTokens int) []Sentence { return ExtractOn(src, maxTokens, "") }

// extract takes the best sentences, of sources in order.
func (r *ranking) extract(src []Source, maxTokens int) []Sentence {
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
		out = append(out, Sentence{Entry: from.Entry, Seq: from.Seq, Role: from.Role, Pos: v.pos,
			Weight: b.density, Text: v.text})
	}
	slices.SortStableFunc(out, func(a, b Sentence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Seq, b.Seq),
			cmp.Compare(a.Pos, b.Pos))
	})
	return out
}

// Order returns a copy of list in reading order: by Seq, then Entry, then Pos.
func Order(list []Sentence) []Sentence {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Sentence) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Entry.Compare(b.Entry),
			cmp.Compare(a.Pos, b.Pos))
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

// authorsOf returns the names of the authors.
func authorsOf(src []Source) []string {
	var names []string
	for _, s := range src {
		if n := len(names); s.Author != "" && (n == 0 || names[n-1] != s.Author) {
			names = append(names, s.Author)
		}
	}
	return names
}

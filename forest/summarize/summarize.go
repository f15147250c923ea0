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
	Author string // not read: who said something is for whoever renders it
	Text   string // UTF-8; a byte that is not becomes U+FFFD
}

// Sentence is one sentence, line of code or line of output of an entry.
type Sentence struct {
	Entry  format.ID
	Seq    uint64 // of the entry
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
// entries have is taken once, from the first. With room for everything, everything with a letter or digit in it is there.
//
// A sentence is worth the sum of its terms: the rarer among the sentences the more, times 3 with a digit in it, 2.5 for a
// path or identifier, 1.8 if capitalised inside the sentence, 1.5 for a unit after a number. A term that a sentence ranked
// before has already is worth 0.35 of that. Greetings and thanks count a quarter, questions three tenths, the first sentence
// that an entry says 1.6; in a tool's output lines that tell of errors, exits and commands count more than the others. The
// names of authors are worth nothing: in chat most messages begin with one.
//
// The factors were found on planted conversations. Of seven facts among up to 300 real messages, a quarter of the tokens
// keeps 86 % (IRC) to 99 % (meetings), a tenth 52 to 92 %, where the newest messages at that length keep 20 to 35 and 5 to 10.
func Extract(src []Source, maxTokens int) []Sentence {
	src = inOrder(src)
	list := gather(src)
	return rank(src, list, roomFor(src, maxTokens))
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

// candidate is a sentence before it is chosen.
type candidate struct {
	piece
	src, pos int // which source, which sentence of it
}

// gather returns the sentences of src in order, each text once; of more than maxSentences the first and the last half.
func gather(src []Source) []candidate {
	var head, tail []candidate
	i, j := 0, len(src)
	for ; i < j && len(head) < maxSentences/2; i++ {
		head = appendSentences(head, src, i)
	}
	for ; j > i && len(tail) < maxSentences/2; j-- {
		last := appendSentences(nil, src, j-1)
		slices.Reverse(last)
		tail = append(tail, last...)
	}
	slices.Reverse(tail)
	if over := len(tail) - maxSentences/2; over > 0 {
		tail = tail[over:]
	}
	if over := len(head) - maxSentences/2; over > 0 && len(head)+len(tail) > maxSentences {
		head = slices.Delete(head, maxSentences/2, len(head))
	}
	return once(append(head, tail...))
}

func appendSentences(list []candidate, src []Source, i int) []candidate {
	for pos, p := range split(src[i].Text, src[i].Role == "tool") {
		list = append(list, candidate{piece: p, src: i, pos: pos})
	}
	return list
}

// once drops candidates whose text was there before.
func once(list []candidate) []candidate {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(list, func(c candidate) bool {
		was := seen[c.text]
		seen[c.text] = true
		return was
	})
}

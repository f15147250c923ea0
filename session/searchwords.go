package session

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/search"
)

// ExcerptLen is how many runes of a hit are shown at most.
const ExcerptLen = 160

// wholeDepth is how many messages that have every term of a query are read to see whether they have
// it word for word: so many of the best ones, and so many of those that have most of the terms.
const wholeDepth = 8

// rankedHit is what the index found, with its text where it was read.
type rankedHit struct {
	search.Hit
	shown  *Shown
	quoted int // how many notes that quote it are not hits of their own
}

// byWords puts ranked hits in order by what their texts have. Those that lack a phrase in quotes
// are left out, those that have the whole query word for word score higher, and first of all are
// those that have nothing else. At most so many are returned; read gives the text of one.
func byWords(q *search.Query, ranked []search.Hit, most int, read func(h search.Hit) (*Shown, error)) ([]rankedHit, error) {
	kept := make([]rankedHit, 0, min(len(ranked), most))
	compared := 0
	for _, h := range ranked {
		if q.HasPhrases() && len(kept) == most {
			break
		}
		hit := rankedHit{Hit: h}
		if q.HasPhrases() || h.Whole && q.Words() > 1 && (h.Spare || compared < wholeDepth) {
			var err error
			if hit.shown, err = read(h); err != nil {
				return nil, err
			}
			m := q.Match(hit.shown.Text)
			if !m.Phrases || h.Spare && !m.Whole && !h.Equal {
				continue
			}
			hit.Score = float64(h.Score * search.WordsGain(m, q.Words()))
			compared++
		} else if h.Spare && !h.Equal {
			continue
		}
		kept = append(kept, hit)
	}
	kept = withoutQuotes(kept)
	top := 0.0
	for _, h := range kept {
		top = max(top, h.Score)
	}
	for i := range kept {
		if kept[i].Equal {
			kept[i].Score += top
		}
	}
	slices.SortStableFunc(kept, func(a, b rankedHit) int { return cmp.Compare(b.Score, a.Score) })
	return kept[:min(len(kept), most)], nil
}

// quotedLeast is the fewest words of a message that a note quotes: fewer may be there by chance.
const quotedLeast = 4

// withoutQuotes leaves out the notes that have a message of the list word for word, as an agent's
// summary quotes the prompts: such a note has nothing of the query that the message has not. The
// message scores as the better of both, and counts the note. Only hits whose texts were read are
// looked at.
func withoutQuotes(list []rankedHit) []rankedHit {
	is := func(h *rankedHit, kind string) bool {
		return h.shown != nil && h.Whole && h.shown.Entry != nil && h.shown.Entry.Kind == kind
	}
	quotes := make([]bool, len(list))
	for n := range list {
		note := &list[n]
		for i := 0; i < len(list) && !quotes[n] && is(note, format.KindNote); i++ {
			h := &list[i]
			if is(h, format.KindMessage) && search.Quotes(note.shown.Text, h.shown.Text, quotedLeast) {
				quotes[n] = true
				h.quoted++
				h.Score = max(h.Score, note.Score)
			}
		}
	}
	kept := list[:0]
	for n, h := range list {
		if !quotes[n] {
			kept = append(kept, h)
		}
	}
	return kept
}

package session

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/search"
)

// ExcerptLen is how many runes of a hit are shown at most.
const ExcerptLen = 160

// wholeDepth is how many messages that have every term of a query are read to see whether they have it word for word: so many of the best ones, and so many of
// those that have most of the terms.
const wholeDepth = 8

// rankedHit is what the index found, with its text where it was read.
type rankedHit struct {
	search.Hit
	shown *Shown
}

// byWords puts ranked hits in order by what their texts have. Those that lack a phrase in quotes are left out, those that have the whole query word for word
// score higher, and first of all are those that have nothing else. At most so many are returned; read gives the text of one.
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

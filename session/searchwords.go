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
// score higher, and first of all are those that have nothing else. At most so many are returned.
func (s *Store) byWords(q *search.Query, ranked []search.Hit, most int) ([]rankedHit, error) {
	kept := make([]rankedHit, 0, min(len(ranked), most))
	read := 0
	for _, h := range ranked {
		if q.HasPhrases() && len(kept) == most {
			break
		}
		hit := rankedHit{Hit: h}
		if q.HasPhrases() || h.Whole && (h.Equal || h.Spare || read < wholeDepth) {
			var err error
			if hit.shown, err = s.Version(h.ID, h.Version); err != nil {
				return nil, err
			}
			m := q.Match(hit.shown.Text)
			if !m.Phrases || h.Spare && !m.Whole {
				continue
			}
			hit.Score = float64(h.Score * search.WordsGain(m, q.Words()))
			read++
		} else if h.Spare {
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

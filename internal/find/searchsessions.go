package find

import (
	"fmt"
	"math"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// SessionHit is a session that SearchSessions found.
type SessionHit struct {
	Score   float64 // from 0 to 1
	Matches int     // how many of its messages have a word of the query
	Best    Hit     // its best message; its Session is the session
}

// SearchSessions returns the sessions that answer a query best, best first. The score of a session
// depends on its best message and on all its messages, relative to its length. q.Limit is the
// largest number of sessions. It rejects a query with Reader, Pattern or Clusters; otherwise it
// fails as Search does.
func (s *Reader) SearchSessions(view *refs.View, q SearchQuery) ([]SessionHit, error) {
	if q.Reader != nil || q.Pattern != nil || q.Clusters {
		return nil, fmt.Errorf("%w: sessions are searched by words", history.ErrInput)
	}
	parsed, err := q.parse()
	if err != nil {
		return nil, err
	}
	if err := q.check(view); err != nil {
		return nil, err
	}
	o := q.options()
	if parsed.HasPhrases() {
		all := q
		all.Limit = math.MaxInt32 / 2 // all
		ranked, err := s.rank(view, parsed, all)
		if err != nil {
			return nil, err
		}
		o.Only = map[format.ID]bool{}
		for _, h := range ranked {
			o.Only[h.ID] = true
		}
	}
	var found []search.SessionHit
	err = s.withIndex(view, q, func(sources []search.Source) error {
		found, err = search.RankSessions(sources, parsed, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	var hits []SessionHit
	for _, f := range found {
		best, err := s.entryHits(view, parsed, []rankedHit{{Hit: f.Best}},
			SearchQuery{Branch: q.Branch, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(best) > 0 { // else it was forgotten after the ranking
			hits = append(hits, SessionHit{Score: f.Score, Matches: f.Matches, Best: best[0]})
		}
	}
	return hits, nil
}

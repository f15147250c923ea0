package search

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// SessionHit is a found session.
type SessionHit struct {
	Session string
	Score   float64 // from 0 to 1
	Best    Hit     // its best message
	Matches int     // number of messages that have a term of the query
}

// The score of a session combines two shares: that of its best message in the best message of all
// sessions, and, with the weight wholeSession, that of all its words as one text in the best such
// score. Lengths are relative to the mean of all sessions; the output of tools counts only
// outputInSession of its length.
const (
	wholeSession    = 0.5
	outputInSession = 0.1
	sessionK1       = 1.2
	sessionLength   = 0.75
)

// RankSessions returns the sessions that answer q best, the best first; at equal scores by name.
// o.Most is the largest number of sessions.
func RankSessions(sources []Source, q *Query, o Options) ([]SessionHit, error) {
	r := newRanking(sources, q, o)
	if err := r.prepare(); err != nil {
		return nil, err
	}
	found, err := r.bySession()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	whole, err := r.wholeScores(found)
	if err != nil {
		return nil, err
	}
	return r.fuse(found, whole)
}

// sessionItems is what a session has while it is ranked.
type sessionItems struct {
	session uint32 // index in names
	best    item
	score   float64   // of best
	matches int       // number of items
	counts  []float64 // by term
}

// bySession groups the items that match the options by session, in the order of names.
func (r *ranking) bySession() ([]sessionItems, error) {
	var list []sessionItems
	for i := range r.items {
		it := &r.items[i]
		ok, err := r.passes(it)
		if err == nil && ok && r.o.Only != nil {
			var id format.ID
			_, id, err = r.sources[it.source].cold(it.doc)
			ok = r.o.Only[id]
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if n := len(list); n == 0 || list[n-1].session != it.session {
			list = append(list,
				sessionItems{session: it.session, counts: make([]float64, len(r.q.terms))})
		}
		r.addTo(&list[len(list)-1], i)
	}
	return list, nil
}

// addTo adds an item to its session.
func (r *ranking) addTo(s *sessionItems, i int) {
	it := &r.items[i]
	if score := r.scoreOf(i); score >= s.score { // at equal scores the newest
		s.best, s.score = *it, score
	}
	s.matches++
	share := inSession(uint8(it.kind >> 8))
	for _, v := range r.valuesOf(it) {
		s.counts[v.term] += float64(float64(v.count) / 2 * share)
	}
}

// inSession returns how much the words of a message count among those of its session.
func inSession(attr uint8) float64 {
	if attr&attrRole == roleTool {
		return outputInSession
	}
	return 1
}

// wholeScores scores sessions by all their words, as BM25 scores documents.
func (r *ranking) wholeScores(found []sessionItems) ([]float64, error) {
	lengths, err := r.sessionLengths()
	if err != nil {
		return nil, err
	}
	sum, sessions := 0.0, 0.0
	for _, n := range lengths {
		if sum += n; n > 0 {
			sessions++
		}
	}
	mean := max(sum/max(sessions, 1), 1)
	df := make([]int, len(r.q.terms))
	for _, s := range found {
		for t, n := range s.counts {
			if n > 0 {
				df[t]++
			}
		}
	}
	scores := make([]float64, len(found))
	for i, s := range found {
		norm := float64(
			sessionK1 * (1 - sessionLength + float64(sessionLength*lengths[s.session])/mean))
		for t, n := range s.counts {
			idf := Ln(1 + sessions/float64(max(df[t], 1)))
			scores[i] += float64(
				float64(r.q.terms[t].weight*idf) * (n * (sessionK1 + 1) / (n + norm)))
		}
	}
	return scores, nil
}

// sessionLengths returns the number of words of sessions, by their index in names. It is 0 for
// sessions that the options exclude.
func (r *ranking) sessionLengths() ([]float64, error) {
	lengths := make([]float64, len(r.names))
	for k := range r.sources {
		s := &r.sources[k]
		for at, run := range s.runs {
			end := s.runStart(at + 1)
			name, _ := slices.BinarySearch(r.names, s.sessions[run.session])
			if r.o.Session != "" && r.names[name] != r.o.Session {
				continue
			}
			for doc := run.doc; doc < end; doc++ {
				if !r.o.sees(s, doc) {
					continue
				}
				row, err := s.hotRow(doc)
				if err != nil {
					return nil, err
				}
				lengths[name] += float64(lengthOf(row[0]) * inSession(row[1]))
			}
		}
	}
	return lengths, nil
}

// fuse adds the scores of the best messages and of whole sessions, each as a share of the largest
// one.
func (r *ranking) fuse(found []sessionItems, whole []float64) ([]SessionHit, error) {
	most := 0.0
	for _, s := range found {
		most = max(most, s.score)
	}
	all := max(slices.Max(whole), 1e-9)
	list := make([]SessionHit, len(found))
	for i := range found {
		s := &found[i]
		best := &s.best
		src := &r.sources[best.source]
		id, version, err := src.Entry(best.doc)
		if err != nil {
			return nil, err
		}
		turn := s.score / most
		list[i] = SessionHit{
			Session: r.names[s.session], Matches: s.matches,
			Score: float64((1-wholeSession)*turn) + float64(wholeSession*whole[i]/all),
			Best: Hit{
				ID: id, Version: version, Session: r.names[s.session], Seq: best.seq,
				Score: s.score, Rewound: src.Hidden[best.doc],
				Whole: int(best.has) == r.q.own(),
			},
		}
	}
	slices.SortStableFunc(list, func(a, b SessionHit) int { return cmp.Compare(b.Score, a.Score) })
	return list[:min(len(list), r.o.Limit)], nil
}

package session

import (
	"context"
	"errors"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// extractClaims returns the claims of some clusters for the built-in summariser, as far as they
// want a summary. Members under a standing summary want none.
func (s *Store) extractClaims(view *refs.View, st *forest.State, owners *owners, numbers []uint64) ([]claim, error) {
	above, err := owners.above(s, st)
	if err != nil {
		return nil, err
	}
	over := map[uint64]bool{}
	for _, session := range above {
		for _, c := range session.clusters[:session.over] {
			over[c.Number] = true
		}
	}
	var list []claim
	for _, number := range numbers {
		c := st.Cluster(number)
		if c == nil || !c.Dirty() {
			continue
		}
		claims, err := s.extractBetween(view, st, c, 0, c.Count())
		if err != nil {
			return nil, err
		}
		for i := range claims {
			claims[i].evict = over[number] && isWhole(st, &claims[i])
		}
		list = append(list, claims...)
	}
	return list, nil
}

// extractBetween returns the claims of a cluster's members inside from..to for the built-in
// summariser. It reads a run of any length at once: whole where that is cheap, or where there is a
// summary that it did not make, else the ranked lists there are and what came after them.
func (s *Store) extractBetween(
	view *refs.View, st *forest.State, c *forest.Cluster, from, to uint64,
) ([]claim, error) {
	runs, err := s.uncoveredBeside(c, from, to)
	if err != nil {
		return nil, err
	}
	members, err := st.Members(c)
	if err != nil {
		return nil, err
	}
	var list []claim
	for _, r := range runs {
		var covers []format.Cover
		if r.to-r.from > wholeCluster {
			if covers, err = s.rankable(realCovers(c.Covers, r.from, r.to)); err != nil {
				return nil, err
			}
		}
		cl, err := s.claimOn(view, c, members[r.from:r.to], r.from, covers)
		if err != nil {
			return nil, err
		}
		list = append(list, cl)
	}
	return list, nil
}

// rankable returns some real covers if all of their summaries are ranked lists that may be summarised over once more, else none of them.
func (s *Store) rankable(covers []format.Cover) ([]format.Cover, error) {
	for _, v := range covers {
		list, generation, err := s.ranked(v.Summary)
		var gone *objects.GoneError
		if errors.As(err, &gone) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if generation >= MaxGeneration || list == nil {
			return nil, nil
		}
	}
	return covers, nil
}

// extracted is an answer of the built-in summariser.
type extracted struct {
	answer
	said []summarize.Source // what the summary has, for a tombstone's line
}

// extractAll answers claims with the built-in summariser, without the lock.
func (s *Store) extractAll(ctx context.Context, view *refs.View, st *forest.State, claims []claim) ([]answer, error) {
	others, err := s.evictedLines(st)
	if err != nil {
		return nil, err
	}
	list := make([]extracted, len(claims))
	for i := range claims {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if list[i], err = s.extract(view, &claims[i]); err != nil {
			return nil, err
		}
		if i < comparedLines {
			others.Add(list[i].said)
		}
	}
	answers := make([]answer, 0, len(list))
	for _, e := range list {
		if e.evict {
			stone, err := s.tombstone(e.answer, e.said, others)
			if err != nil {
				return nil, err
			}
			e.raws, e.stone = append(e.raws, stone), stone.ID()
		}
		answers = append(answers, e.answer)
	}
	return answers, nil
}

// extract makes the summary of a claim.
func (s *Store) extract(view *refs.View, c *claim) (extracted, error) {
	e := extracted{answer: answer{claim: *c}}
	sum := &format.Summary{Generation: 1, Summarizer: extractive, Version: extractiveVersion}
	var list []summarize.Sentence
	for _, v := range c.covers {
		sentences, generation, err := s.ranked(v.Summary)
		if err != nil {
			return e, err
		}
		list = append(list, sentences...)
		sum.Generation = max(sum.Generation, generation+1)
	}
	if raw := c.raw(); len(raw) > 0 {
		sources, err := s.sources(view, raw)
		if err != nil {
			return e, err
		}
		list = merge(list, summarize.Extract(sources, half(sources)))
	}
	raws, err := namesOf(c, sum)
	if err != nil {
		return e, err
	}
	object, err := s.sealSummary(sum, list)
	e.summary, e.said, e.raws = object.ID(), sourcesOf(list), append(raws, object)
	return e, err
}

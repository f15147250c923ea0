package compaction

import (
	"context"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// Claim asks a worker for a summary.
type Claim struct {
	ID         string // to be said with the answer
	Cluster    uint64
	Tokens     int    // the most that the answer may have
	Generation uint64 // that the answer will have
	Inputs     []summarize.Input
}

// Claims calls each for every claim that needs a summary now, in the order of arrival of the
// clusters. The inputs of a claim have at most limit tokens; limit is 0 for no limit, else at
// least summaries.MinLimit. Claims takes no lock and reserves nothing. It stops at the first
// error of each and returns it.
func (s *Reader) Claims(
	ctx context.Context, view *refs.View, limit int, each func(Claim) error,
) error {
	st, err := s.Forest(view)
	if err != nil {
		return err
	}
	for _, c := range clusters.ByArrival(st) {
		if !c.Dirty() {
			continue
		}
		claims, err := s.summaries.NextClaims(view, st, c, limit)
		if err != nil {
			return err
		}
		for i := range claims {
			if err := ctx.Err(); err != nil {
				return err
			}
			out, err := s.outClaim(view, &claims[i], limit)
			if err != nil {
				return err
			}
			if len(out.Inputs) == 0 {
				// Its words are gone: there is nothing to ask, and the next compaction says so
				continue
			}
			if err := each(out); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Reader) outClaim(view *refs.View, c *summaries.Claim, limit int) (Claim, error) {
	out := Claim{ID: c.ID(), Cluster: c.Cluster, Tokens: c.Tokens, Generation: 1}
	for _, v := range c.Covers {
		generation, err := s.summaries.Generation(v.Summary)
		if err != nil {
			return out, err
		}
		out.Generation = max(out.Generation, generation+1)
	}
	var err error
	out.Inputs, err = s.summaries.ReadClaim(view, c, limit)
	return out, err
}

// Commit settles the answers of workers and evicts clusters above the limit. Sessions render the
// result once they adopt the forest. An answer whose claim has changed is lost, one that cannot
// be used has failed, one that is there already is known; none of these changes anything. Commit
// returns ErrInput, and takes nothing, if one id is no id of a claim.
func (s *Writer) Commit(
	ctx context.Context, brought []summaries.Answer,
) (summaries.Compaction, error) {
	r := &Compaction{Writer: s, Forest: history.MainForest}
	var err error
	if r.seen, err = s.ForgetMark(); err != nil {
		return r.done, err
	}
	view, err := s.Refs.Read()
	if err != nil {
		return r.done, err
	}
	st, err := s.Forest(view)
	if err != nil {
		return r.done, err
	}
	answers, err := s.summaries.SealAll(view, st, brought, &r.done)
	if err != nil {
		return r.done, err
	}
	err = s.Locked(ctx, func(t *Tx) error {
		answers, err := t.summaries.AddAnswers(r.seen, answers, &r.done)
		if err != nil {
			return err
		}
		if err := t.summaries.Settle(r.Forest, answers, &r.done); err != nil {
			return err
		}
		if err := r.AdoptAll(t, nil); err != nil {
			return err
		}
		return r.count(t)
	})
	return r.done, err
}

package edits

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// claimCluster makes a claim over the members of a cluster of the main forest. The text for it
// becomes the summary of the cluster.
func (s *Reader) claimCluster(view *refs.View, id format.ID) (out ReplaceClaim, err error) {
	at, err := s.clusters.LookupAt(view).ClusterOf(history.MainForest, id)
	if err != nil {
		return out, err
	}
	if at.Live == nil {
		return out, fmt.Errorf("%w: cluster %v is evicted: nothing of it is rendered but one line",
			history.ErrRefused, at.Node)
	}
	st, err := s.Forest(view)
	if err != nil {
		return out, err
	}
	claim, err := s.summaries.ClaimToReplace(view, st, at.Live, at.Live.Count())
	if err != nil {
		return out, err
	}
	inputs, err := s.summaries.ReadClaim(view, &claim, 0)
	if err != nil {
		return out, err
	}
	out = ReplaceClaim{ID: claim.ID(), Cluster: true, Tokens: summaries.AnswerTokens(inputs)}
	for _, in := range inputs {
		out.Inputs = append(out.Inputs, ReplaceInput{
			Target: format.Target{Entry: in.ID, Part: format.WholeEntry}, Kind: "entry",
			Role: in.Role, Author: in.Author, Time: in.Time, Text: in.Text,
		})
	}
	return out, nil
}

// commitClusters makes texts the summaries of clusters. Branches render them once they adopt the
// newest forest.
func (s *Writer) commitClusters(
	ctx context.Context, brought []broughtText, o ReplaceOptions,
) (done Replaced, err error) {
	seen, err := s.ForgetMark()
	if err != nil {
		return done, err
	}
	view, err := s.Refs.Read()
	if err != nil {
		return done, err
	}
	st, err := s.Forest(view)
	if err != nil {
		return done, err
	}
	runs, answers := make([]summaries.Run, len(brought)), make([]summarize.Response, len(brought))
	for i, b := range brought {
		runs[i], answers[i] = *b.claim.Run, b.answer
	}
	judged, err := s.summaries.Judge(view, st, runs, answers)
	if err != nil {
		return done, err
	}
	var sealed []summaries.SealedAnswer
	for i, j := range judged {
		if j.Fault != nil {
			return done,
				fmt.Errorf("%w: the text for cluster %v: %w", history.ErrInput,
					runs[i].Node, j.Fault)
		}
		if j.Lost == "" {
			sealed = append(sealed, j.SealedAnswer)
		}
	}
	err = s.Locked(ctx, func(t *Tx) error {
		var late summaries.Compaction
		if _, err := t.summaries.AddAnswers(seen, sealed, &late); err != nil {
			return err
		}
		if late.Lost > 0 {
			return fmt.Errorf("%w: %s", history.ErrStale, summaries.LostInputs)
		}
		if done, err = t.settleClusters(judged, runs); err != nil {
			return err
		}
		if len(done.Lost) > 0 && (!o.Partial || done.Settled+done.Carried+done.Known == 0) {
			return lostError(done.Lost)
		}
		if done.Settled+done.Carried == 0 {
			return nil
		}
		return t.store.Commit(&format.Operation{Verb: refs.VerbReplace})
	})
	return done, err
}

// settleClusters settles judged answers one after the other, each against the summaries before it.
func (t *Tx) settleClusters(
	judged []summaries.Judged, runs []summaries.Run,
) (done Replaced, err error) {
	for i, j := range judged {
		var settled summaries.Compaction
		if j.Lost != "" {
			settled.CountLost(j.Lost)
		} else if err := t.summaries.Settle(history.MainForest,
			[]summaries.SealedAnswer{j.SealedAnswer}, &settled); err != nil {
			return done, err
		}
		done.Settled += settled.Settled
		done.Carried += settled.Carried
		done.Known += settled.Known
		for _, r := range settled.Reasons {
			done.Lost = append(done.Lost, LostTarget{"cluster " + runs[i].Node.String(), r.Why})
		}
	}
	return done, nil
}

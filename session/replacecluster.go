package session

import (
	"context"
	"fmt"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// claimCluster makes a claim over the members of a cluster of the shared forest. The text for it becomes the cluster's summary.
func (s *Store) claimCluster(view *refs.View, id format.ID) (out ReplaceClaim, err error) {
	at, err := s.clustersAt(view).clusterOf(MainForest, id)
	if err != nil {
		return out, err
	}
	if at.live == nil {
		return out, fmt.Errorf("%w: cluster %v is evicted: nothing of it is rendered but one line", ErrRefused, at.node)
	}
	st, err := s.Forest(view)
	if err != nil {
		return out, err
	}
	whole, err := s.wholeCluster(view, st, at.number, at.live.Count())
	if err != nil {
		return out, err
	}
	inputs, err := s.readClaim(view, &whole.claim, 0)
	if err != nil {
		return out, err
	}
	name := &replaceClaim{cluster: true, node: whole.node, mark: whole.now}
	out = ReplaceClaim{ID: name.String(), Cluster: true, Tokens: budgetOf(inputs)}
	for _, p := range inputs {
		out.Inputs = append(out.Inputs, ReplaceInput{
			Target: format.Target{Entry: p.ID, Part: format.WholeEntry}, Kind: "entry", Role: p.Role, Author: p.Author, Time: p.Time, Text: p.Text,
		})
	}
	return out, nil
}

// wholeClaim is a beginning of a cluster, to be read from its messages alone, and the mark of what stands for them now.
type wholeClaim struct {
	claim
	now  string // the mark
	over bool   // a summary stands for these members and more
	same bool   // a summary stands for just these members
}

func (s *Store) wholeCluster(view *refs.View, st *forest.State, number, count uint64) (w wholeClaim, err error) {
	c := st.Cluster(number)
	members, err := st.Slice(c, 0, count)
	if err != nil {
		return w, err
	}
	if w.claim, err = s.claimOn(view, c, members, 0, nil); err != nil {
		return w, err
	}
	for _, v := range c.Covers {
		w.over = w.over || !v.Interim && v.Offset < count && v.Offset+v.Count > count
		w.same = w.same || !v.Interim && v.Offset == 0 && v.Count == count
	}
	w.now, err = s.markOf(view, realCovers(c.Covers, 0, count), members)
	return w, err
}

// commitClusters has texts become the summaries of clusters, which sessions render from their next leave on.
func (s *Store) commitClusters(ctx context.Context, brought []broughtText, o ReplaceOptions) (done Replaced, err error) {
	seen, err := s.ForgetMark()
	if err != nil {
		return done, err
	}
	forgotten, err := s.forgets()
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
	// The objects are made without the lock: what they say is of the members alone, which the claim's node proves.
	summaries := make([]format.ID, len(brought))
	var made []answer
	for i, b := range brought {
		f, err := s.findWhole(view, st, b.claim)
		if err != nil {
			return done, err
		}
		if f == nil || forgotten.inAnswer(b.told.Text) {
			continue
		}
		inputs, err := s.readClaim(view, &f.claim, 0)
		if err != nil {
			return done, err
		}
		told, err := takeAnswer(b.told, budgetOf(inputs), tokensIn(inputs))
		if err != nil {
			return done, fmt.Errorf("%w: the text for cluster %v: %w", ErrInput, b.claim.node, err)
		}
		objects, err := s.sealAnswer(&f.claim, told)
		if err != nil {
			return done, err
		}
		summaries[i] = objects[len(objects)-1].ID()
		made = append(made, answer{raws: objects})
	}
	err = s.locked(ctx, func(t *tx) error {
		done = Replaced{}
		var lost Compaction
		if _, err := t.takeAnswers(seen, made, &lost); err != nil {
			return err
		}
		if lost.Lost > 0 {
			return fmt.Errorf("%w: %s", ErrStale, lostInputs)
		}
		for i, b := range brought {
			if forgotten.inAnswer(b.told.Text) {
				done.Lost = append(done.Lost, LostTarget{"cluster " + b.claim.node.String(), lostForgotten})
				continue
			}
			why, err := t.settleWhole(b.claim, summaries[i], &done)
			if err != nil {
				return err
			}
			if why != "" {
				done.Lost = append(done.Lost, LostTarget{"cluster " + b.claim.node.String(), why})
			}
		}
		if len(done.Lost) > 0 && (!o.Partial || done.Settled+done.Carried+done.Known == 0) {
			return lostError(done.Lost)
		}
		if done.Settled+done.Carried == 0 {
			return nil
		}
		return t.commit(&format.Operation{Verb: refs.VerbReplace})
	})
	return done, err
}

// findWhole returns the beginning of a cluster that a claim names; nil where there is none any more.
func (s *Store) findWhole(view *refs.View, st *forest.State, c *replaceClaim) (*wholeClaim, error) {
	places, err := placesOf(st, []claimName{{node: c.node}})
	if err != nil {
		return nil, err
	}
	at, ok := places[c.node]
	if !ok {
		return nil, nil
	}
	w, err := s.wholeCluster(view, st, at.cluster, at.count)
	return &w, err
}

// settleWhole decides that a text is the summary of what a claim names. why is "" where it does, or where it is that already.
func (t *tx) settleWhole(c *replaceClaim, summary format.ID, done *Replaced) (why string, err error) {
	st, err := t.forest()
	if err != nil {
		return "", err
	}
	w, err := t.findWhole(t.view, st, c)
	if err != nil {
		return "", err
	}
	if w == nil || summary.IsZero() {
		return lostCluster, nil
	}
	live := st.Cluster(w.cluster)
	for _, v := range live.Covers {
		if v.Summary == summary {
			done.Known++
			return "", nil
		}
	}
	switch {
	case w.over, w.same && w.now != c.mark:
		return lostOther, nil
	case w.now != c.mark:
		return lostInputs, nil
	}
	d := format.Decision{Kind: format.DecideSettle, Cluster: w.cluster, ID: summary, Count: uint64(len(w.members))}
	if err := t.decideIn(MainForest, d); err != nil {
		return "", err
	}
	if live.Count() == uint64(len(w.members)) {
		done.Settled++
	} else {
		done.Carried++
	}
	return "", nil
}

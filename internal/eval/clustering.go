package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/internal/eval/baseline"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/fixture"
	"github.com/gemini-ctx/ctx/internal/eval/report"
	"github.com/gemini-ctx/ctx/internal/eval/sets"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// ownRule names the rule of ctx itself.
const ownRule = "ctx"

// clustering measures every rule on a set. It is nil where nothing is labelled.
func (u *runner) clustering(ctx context.Context, set sets.Set, seed uint64) ([]report.Clustering, error) {
	var talks [][]corpus.Message
	for _, m := range corpus.Conversations(set.Messages) {
		if m = corpus.Live(m); labelled(m) {
			talks = append(talks, m)
		}
	}
	if len(talks) == 0 {
		return nil, nil
	}
	own := newTally(ownRule)
	rules := []*tally{own}
	for _, b := range baseline.Clusterings() {
		rules = append(rules, newTally(b.Name))
	}
	for _, m := range talks {
		labels, err := u.ownClusters(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("conversation %q: %w", m[0].Conversation, err)
		}
		own.add(m, labels)
		for i, b := range baseline.Clusterings() {
			rules[i+1].add(m, b.Cluster(m))
		}
	}
	out := make([]report.Clustering, len(rules))
	for i, t := range rules {
		out[i] = t.result(seed)
	}
	return out, nil
}

func labelled(m []corpus.Message) bool {
	for i := range m {
		if m[i].Topic != "" {
			return true
		}
	}
	return false
}

// ownClusters is where ctx puts the messages of a conversation: they are appended to a store and
// graduated to the last. The window holds one message at least, so one is appended that is not
// theirs.
func (u *runner) ownClusters(ctx context.Context, m []corpus.Message) (labels []int, err error) {
	s, err := u.Open("window.graduate_at=1", "window.evict_at=1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Fill(ctx, m); err != nil {
		return nil, err
	}
	end := corpus.Message{Conversation: m[0].Conversation, Role: "user", Text: "."}
	if err := s.Fill(ctx, []corpus.Message{end}); err != nil {
		return nil, err
	}
	if _, err := s.Conversation.Graduate(ctx, fixture.Talk, "main"); err != nil {
		return nil, err
	}
	s.IDs = s.IDs[:len(m)]
	return s.ClusterNumbers()
}

// tally adds up the measures of one rule.
type tally struct {
	row                           report.Clustering
	n, contiguous                 int
	bcubed, exact, edges          [3]float64
	oneToOne, vi, ari, pk, window float64
	fs                            []float64 // B-cubed F, by conversation
	gold, pred                    []int     // of all conversations, none with a label of another
}

func newTally(rule string) *tally { return &tally{row: report.Clustering{Rule: rule}} }

func (t *tally) add(m []corpus.Message, labels []int) {
	names := map[string]int{}
	var gold, pred []int
	for i := range m {
		if m[i].Topic == "" {
			continue
		}
		if _, ok := names[m[i].Topic]; !ok {
			names[m[i].Topic] = len(names)
		}
		gold, pred = append(gold, names[m[i].Topic]), append(pred, labels[i])
	}
	t.n++
	b3 := stats.BCubed(gold, pred)
	t.fs = append(t.fs, b3.F)
	sum3(&t.bcubed, b3)
	sum3(&t.exact, stats.ExactMatch(gold, pred))
	sum3(&t.edges, stats.Boundaries(gold, pred))
	t.oneToOne += stats.OneToOne(gold, pred)
	t.vi += stats.ScaledVI(gold, pred)
	t.ari += stats.ARI(gold, pred)
	if stats.Contiguous(gold) {
		t.contiguous++
		t.pk += stats.Pk(gold, pred)
		t.window += stats.WindowDiff(gold, pred)
	}
	g, p := stats.Number(gold), stats.Number(pred)
	for i := range g {
		t.gold, t.pred = append(t.gold, t.row.Gold+g[i]), append(t.pred, t.row.Clusters+p[i])
	}
	t.row.Gold += distinct(g)
	t.row.Clusters += distinct(p)
}

func sum3(sum *[3]float64, v stats.PRF) {
	sum[0] += v.P
	sum[1] += v.R
	sum[2] += v.F
}

// distinct counts the labels that number gave.
func distinct(numbered []int) int {
	most := -1
	for _, n := range numbered {
		most = max(most, n)
	}
	return most + 1
}

func (t *tally) result(seed uint64) report.Clustering {
	mean := func(sum float64) stats.Milli { return stats.MilliOf(sum / float64(t.n)) }
	r := t.row
	r.P, r.R, r.F = mean(t.bcubed[0]), mean(t.bcubed[1]), mean(t.bcubed[2])
	low, high := stats.Bootstrap(t.fs, seed)
	r.Low, r.High = stats.MilliOf(low), stats.MilliOf(high)
	r.ExactP, r.ExactR, r.ExactF = mean(t.exact[0]), mean(t.exact[1]), mean(t.exact[2])
	r.BoundaryP, r.BoundaryR, r.BoundaryF = mean(t.edges[0]), mean(t.edges[1]), mean(t.edges[2])
	r.OneToOne, r.VI, r.ARI = mean(t.oneToOne), mean(t.vi), mean(t.ari)
	pooled := stats.BCubed(t.gold, t.pred)
	r.PooledP, r.PooledR, r.PooledF = stats.MilliOf(pooled.P), stats.MilliOf(pooled.R), stats.MilliOf(pooled.F)
	r.Ratio = stats.MilliOf(stats.Share(r.Clusters, r.Gold))
	if t.contiguous > 0 {
		pk, window := stats.MilliOf(t.pk/float64(t.contiguous)), stats.MilliOf(t.window/float64(t.contiguous))
		r.Pk, r.WindowDiff = &pk, &window
	}
	return r
}

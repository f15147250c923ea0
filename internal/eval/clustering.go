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

// ownRule is the name of the clustering of ctx itself.
const ownRule = "ctx"

// clustering measures every rule on the labelled conversations of a set. It returns nil if there
// are none.
func (u *runner) clustering(ctx context.Context, set sets.Set, seed uint64) ([]report.Clustering,
	error) {
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

// ownClusters returns the cluster into which ctx puts each message of a conversation. It appends
// the messages to a store and graduates all of them. The window keeps at least one message, so one
// more is appended at the end.
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

// tally adds up the measures of one rule over conversations.
type tally struct {
	row                           report.Clustering
	n, contiguous                 int
	bcubed, exact, edges          stats.PRF
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
	t.bcubed = t.bcubed.Plus(b3)
	t.exact = t.exact.Plus(stats.ExactMatch(gold, pred))
	t.edges = t.edges.Plus(stats.Boundaries(gold, pred))
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

// distinct returns the number of labels that stats.Number gave.
func distinct(numbered []int) int {
	most := -1
	for _, n := range numbered {
		most = max(most, n)
	}
	return most + 1
}

// result returns the means. The seed is that of the interval of F.
func (t *tally) result(seed uint64) report.Clustering {
	n := float64(t.n)
	r := t.row
	r.P, r.R, r.F = means(t.bcubed, n)
	low, high := stats.Bootstrap(t.fs, seed)
	r.Low, r.High = stats.MilliOf(low), stats.MilliOf(high)
	r.ExactP, r.ExactR, r.ExactF = means(t.exact, n)
	r.BoundaryP, r.BoundaryR, r.BoundaryF = means(t.edges, n)
	r.OneToOne, r.VI, r.ARI = stats.MilliOf(t.oneToOne/n), stats.MilliOf(t.vi/n),
		stats.MilliOf(t.ari/n)
	r.PooledP, r.PooledR, r.PooledF = means(stats.BCubed(t.gold, t.pred), 1)
	r.Ratio = stats.MilliShare(r.Clusters, r.Gold)
	if t.contiguous > 0 {
		n := float64(t.contiguous)
		pk, window := stats.MilliOf(t.pk/n), stats.MilliOf(t.window/n)
		r.Pk, r.WindowDiff = &pk, &window
	}
	return r
}

// means divides sums by n.
func means(sum stats.PRF, n float64) (p, r, f stats.Milli) {
	return stats.MilliOf(sum.P / n), stats.MilliOf(sum.R / n), stats.MilliOf(sum.F / n)
}

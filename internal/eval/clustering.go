package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// ownRule is the name of the clustering of ctx itself.
const ownRule = "ctx"

// clustering measures every rule on the labelled conversations of a set. It returns nil if there
// are none.
func (u *runner) clustering(ctx context.Context, set Set, seed uint64) ([]Clustering,
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
	tallies := []*tally{own}
	for _, b := range rules() {
		tallies = append(tallies, newTally(b.name))
	}
	for _, m := range talks {
		labels, err := u.ownClusters(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("conversation %q: %w", m[0].Conversation, err)
		}
		own.add(m, labels)
		for i, b := range rules() {
			tallies[i+1].add(m, b.cluster(m))
		}
	}
	return lists.Map(tallies, func(t *tally) Clustering { return t.result(seed) }), nil
}

func labelled(m []corpus.Message) bool {
	return slices.ContainsFunc(m, func(one corpus.Message) bool { return one.Topic != "" })
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
	if _, err := s.Conversation.Graduate(ctx, Talk, "main"); err != nil {
		return nil, err
	}
	s.IDs = s.IDs[:len(m)]
	return s.ClusterNumbers()
}

// tally adds up the measures of one rule over conversations.
type tally struct {
	row    Clustering
	bcubed stats.PRF
	fs     []float64 // B-cubed F, by conversation
}

func newTally(rule string) *tally { return &tally{row: Clustering{Rule: rule}} }

func (t *tally) add(m []corpus.Message, labels []int) {
	names, clusters := map[string]int{}, map[int]bool{}
	var gold, pred []int
	for i := range m {
		if m[i].Topic == "" {
			continue
		}
		if _, ok := names[m[i].Topic]; !ok {
			names[m[i].Topic] = len(names)
		}
		clusters[labels[i]] = true
		gold, pred = append(gold, names[m[i].Topic]), append(pred, labels[i])
	}
	b3 := stats.BCubed(gold, pred)
	t.fs = append(t.fs, b3.F)
	t.bcubed = t.bcubed.Plus(b3)
	t.row.Gold += len(names)
	t.row.Clusters += len(clusters)
}

// result returns the means. The seed is that of the interval of F.
func (t *tally) result(seed uint64) Clustering {
	r, n := t.row, float64(len(t.fs))
	r.P, r.R, r.F = stats.MilliOf(t.bcubed.P/n), stats.MilliOf(t.bcubed.R/n),
		stats.MilliOf(t.bcubed.F/n)
	low, high := stats.Bootstrap(t.fs, seed)
	r.Low, r.High = stats.MilliOf(low), stats.MilliOf(high)
	return r
}

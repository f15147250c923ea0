package eval

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gemini-ctx/ctx/internal/eval/corpus"
)

// Clustering is how well one rule put the messages of a set into clusters. Shares are means over
// the conversations, each counting once; the pooled ones are over all messages of the set. Messages
// without a topic are clustered like the others, and not counted.
type Clustering struct {
	Rule       string `json:"rule"`
	P          Milli  `json:"bcubed_p"`
	R          Milli  `json:"bcubed_r"`
	F          Milli  `json:"bcubed_f"`
	Low        Milli  `json:"bcubed_f_low"` // of the 95 % interval of F, by drawing conversations anew
	High       Milli  `json:"bcubed_f_high"`
	PooledP    Milli  `json:"pooled_p"`
	PooledR    Milli  `json:"pooled_r"`
	PooledF    Milli  `json:"pooled_f"`
	OneToOne   Milli  `json:"one_to_one"`
	VI         Milli  `json:"scaled_vi"`
	ARI        Milli  `json:"ari"`
	ExactP     Milli  `json:"exact_p"`
	ExactR     Milli  `json:"exact_r"`
	ExactF     Milli  `json:"exact_f"`
	BoundaryP  Milli  `json:"boundary_p"`
	BoundaryR  Milli  `json:"boundary_r"`
	BoundaryF  Milli  `json:"boundary_f"`
	Pk         *Milli `json:"pk"`         // over the conversations whose topics are contiguous; null without any
	WindowDiff *Milli `json:"windowdiff"` // likewise
	Clusters   int    `json:"clusters"`
	Gold       int    `json:"gold"`
	Ratio      Milli  `json:"ratio"` // Clusters to Gold
}

// ownRule names the rule of ctx itself.
const ownRule = "ctx"

// clustering measures every rule on a set. It is nil where nothing is labelled.
func (l *lab) clustering(ctx context.Context, set Set, seed uint64) ([]Clustering, error) {
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
	for _, b := range baselines() {
		rules = append(rules, newTally(b.name))
	}
	for _, m := range talks {
		labels, err := l.ownClusters(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("conversation %q: %w", m[0].Conversation, err)
		}
		own.add(m, labels)
		for i, b := range baselines() {
			rules[i+1].add(m, b.cluster(m))
		}
	}
	out := make([]Clustering, len(rules))
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
func (l *lab) ownClusters(ctx context.Context, m []corpus.Message) (labels []int, err error) {
	s, err := l.open("window.graduate_at=1", "window.evict_at=1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.fill(ctx, m); err != nil {
		return nil, err
	}
	end := corpus.Message{Conversation: m[0].Conversation, Role: "user", Text: "."}
	if err := s.fill(ctx, []corpus.Message{end}); err != nil {
		return nil, err
	}
	if _, err := s.Conversation.Graduate(ctx, talk, "main"); err != nil {
		return nil, err
	}
	s.ids = s.ids[:len(m)]
	return s.clusters()
}

// tally adds up the measures of one rule.
type tally struct {
	row                           Clustering
	n, contiguous                 int
	bcubed, exact, edges          [3]float64
	oneToOne, vi, ari, pk, window float64
	fs                            []float64 // B-cubed F, by conversation
	gold, pred                    []int     // of all conversations, none with a label of another
}

func newTally(rule string) *tally { return &tally{row: Clustering{Rule: rule}} }

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
	b3 := BCubed(gold, pred)
	t.fs = append(t.fs, b3.F)
	sum3(&t.bcubed, b3)
	sum3(&t.exact, ExactMatch(gold, pred))
	sum3(&t.edges, Boundaries(gold, pred))
	t.oneToOne += OneToOne(gold, pred)
	t.vi += ScaledVI(gold, pred)
	t.ari += ARI(gold, pred)
	if Contiguous(gold) {
		t.contiguous++
		t.pk += Pk(gold, pred)
		t.window += WindowDiff(gold, pred)
	}
	g, p := number(gold), number(pred)
	for i := range g {
		t.gold, t.pred = append(t.gold, t.row.Gold+g[i]), append(t.pred, t.row.Clusters+p[i])
	}
	t.row.Gold += distinct(g)
	t.row.Clusters += distinct(p)
}

func sum3(sum *[3]float64, v PRF) {
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

func (t *tally) result(seed uint64) Clustering {
	mean := func(sum float64) Milli { return milli(sum / float64(t.n)) }
	r := t.row
	r.P, r.R, r.F = mean(t.bcubed[0]), mean(t.bcubed[1]), mean(t.bcubed[2])
	low, high := Bootstrap(t.fs, seed)
	r.Low, r.High = milli(low), milli(high)
	r.ExactP, r.ExactR, r.ExactF = mean(t.exact[0]), mean(t.exact[1]), mean(t.exact[2])
	r.BoundaryP, r.BoundaryR, r.BoundaryF = mean(t.edges[0]), mean(t.edges[1]), mean(t.edges[2])
	r.OneToOne, r.VI, r.ARI = mean(t.oneToOne), mean(t.vi), mean(t.ari)
	pooled := BCubed(t.gold, t.pred)
	r.PooledP, r.PooledR, r.PooledF = milli(pooled.P), milli(pooled.R), milli(pooled.F)
	r.Ratio = milli(share(r.Clusters, r.Gold))
	if t.contiguous > 0 {
		pk, window := milli(t.pk/float64(t.contiguous)), milli(t.window/float64(t.contiguous))
		r.Pk, r.WindowDiff = &pk, &window
	}
	return r
}

// Milli is a number in thousandths: it prints with three digits after the point, the same ones on
// every platform.
type Milli int

// milli rounds to the nearest thousandth, halves up.
func milli(f float64) Milli { return Milli(math.Floor(float64(f*1000) + 0.5)) }

func (m Milli) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s%d.%03d", sign, m/1000, m%1000)
}

// MarshalJSON writes m as a number.
func (m Milli) MarshalJSON() ([]byte, error) { return []byte(m.String()), nil }

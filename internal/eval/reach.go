package eval

import (
	"context"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
)

// Reach says how often a question leads to what answers it: of the questions with evidence, those
// whose first hit, or one of the first five, is evidence, and the mean of one over the rank of the
// first hit that is (0 beyond the twentieth).
type Reach struct {
	By   string `json:"by"`
	N    int    `json:"n"`
	Hit1 Milli  `json:"hit_1"`
	Hit5 Milli  `json:"hit_5"`
	MRR  Milli  `json:"mrr"`
	Low1 Milli  `json:"hit_1_low"` // of the 95 % interval
	Low5 Milli  `json:"hit_5_low"`
}

// deepest is how many hits are looked through.
const deepest = 20

// The ways to evidence. BM25 is the rival.
const (
	bySearch   = "search"
	byClusters = "clusters" // of questions with evidence in a cluster; a cluster is evidence if a message in it is
	byBM25     = "BM25"
)

// reach is the gauge of it.
type reach struct {
	rows map[string]*ranks
}

// ranks adds up where the first evidence was.
type ranks struct {
	n, first, five int
	mrr            float64
}

// add takes the place of the first hit that is evidence; below 0 there was none.
func (r *ranks) add(rank int) {
	r.n++
	r.first += one(rank == 0)
	r.five += one(rank >= 0 && rank < 5)
	if rank >= 0 {
		r.mrr += 1 / float64(rank+1)
	}
}

func (r *reach) report(s *SetReport) {
	for _, by := range []string{bySearch, byClusters, byBM25} {
		row := r.rows[by]
		if row == nil {
			continue
		}
		low1, _ := Wilson(row.first, row.n)
		low5, _ := Wilson(row.five, row.n)
		s.Reach = append(s.Reach, Reach{
			By: by, N: row.n, Hit1: milli(share(row.first, row.n)), Hit5: milli(share(row.five, row.n)),
			MRR: milli(row.mrr / float64(row.n)), Low1: milli(low1), Low5: milli(low5),
		})
	}
}

func (r *reach) put(by string, rank int) {
	if r.rows == nil {
		r.rows = map[string]*ranks{}
	}
	if r.rows[by] == nil {
		r.rows[by] = &ranks{}
	}
	r.rows[by].add(rank)
}

func (r *reach) add(_ context.Context, b *bench) error {
	index := newBM25(b.said())
	for _, q := range b.questions {
		ranked := index.rank(q.Query)
		ranked = ranked[:min(len(ranked), deepest)]
		r.put(byBM25, slices.IndexFunc(ranked, func(i int) bool { return slices.Contains(q.evidence, i) }))
		if err := r.search(b, q); err != nil {
			return err
		}
	}
	return nil
}

// search asks for entries and clusters.
func (r *reach) search(b *bench, q asked) error {
	evidence := map[format.ID]bool{}
	ids := b.liveIDs()
	for _, i := range q.evidence {
		evidence[ids[i]] = true
	}
	hits, err := b.hits(q.Query, deepest, true)
	if err != nil {
		return err
	}
	view, err := b.view()
	if err != nil {
		return err
	}
	st, err := b.History.Forest(view)
	if err != nil {
		return err
	}
	places, err := st.Find(evidence)
	if err != nil {
		return err
	}
	good := map[uint64]bool{}
	for _, p := range places {
		good[p.Cluster] = true
	}
	entry, cluster, entries, clusters := -1, -1, 0, 0
	for _, h := range hits {
		if h.Cluster != nil {
			if cluster < 0 && good[h.Cluster.Number] {
				cluster = clusters
			}
			clusters++
			continue
		}
		if entry < 0 && evidence[h.ID] {
			entry = entries
		}
		entries++
	}
	r.put(bySearch, entry)
	if len(good) > 0 {
		r.put(byClusters, cluster)
	}
	return nil
}

// hits are what a search of the branch finds. A query without a word to look for finds nothing.
func (s *stand) hits(query string, most int, clusters bool) ([]recall.Hit, error) {
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	hits, err := s.Recall.Search(view, recall.SearchQuery{Text: query, Session: talk, Branch: history.MainBranch, Limit: most, Clusters: clusters})
	if errors.Is(err, history.ErrInput) {
		return nil, nil
	}
	return hits, err
}

// liveIDs are the entries of the messages that were not taken back.
func (s *stand) liveIDs() []format.ID {
	return slices.DeleteFunc(slices.Clone(s.ids), func(id format.ID) bool { return id.IsZero() })
}

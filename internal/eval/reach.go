package eval

import (
	"context"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/eval/stats"
)

// deepest is the number of hits in which a search is examined.
const deepest = 20

// The ways to find evidence.
const (
	bySearch = "search"
	// for questions with evidence in a cluster; a cluster with evidence in it is a right hit
	byClusters = "clusters"
	byBM25     = "BM25"
)

// reach adds up Reach, by the way to find evidence.
type reach struct {
	rows map[string]*ranks
}

// ranks adds up the places of the first hits that are evidence.
type ranks struct {
	n, first, five int
	mrr            float64
}

// add adds the place of the first hit that is evidence; it is negative if there is none.
func (r *ranks) add(rank int) {
	r.n++
	r.first += stats.One(rank == 0)
	r.five += stats.One(rank >= 0 && rank < 5)
	if rank >= 0 {
		r.mrr += 1 / float64(rank+1)
	}
}

func (r *reach) report(s *measured) {
	for _, by := range []string{bySearch, byClusters, byBM25} {
		row := r.rows[by]
		if row == nil {
			continue
		}
		low1, _ := stats.Wilson(row.first, row.n)
		low5, _ := stats.Wilson(row.five, row.n)
		s.Reach = append(s.Reach, Reach{
			By: by, N: row.n,
			Hit1: stats.MilliShare(row.first, row.n), Hit5: stats.MilliShare(row.five, row.n),
			Low1: stats.MilliOf(low1), Low5: stats.MilliOf(low5),
			MRR: stats.MilliOf(row.mrr / float64(row.n)),
		})
	}
}

// put adds a place to the row of a way.
func (r *reach) put(by string, rank int) { rowOf(r.rows, by).add(rank) }

func (r *reach) add(_ context.Context, b *evalCase) error {
	index := newBM25(b.Said())
	for _, q := range b.questions {
		ranked := index.rank(q.Query)
		ranked = ranked[:min(len(ranked), deepest)]
		isEvidence := func(i int) bool { return slices.Contains(q.evidence, i) }
		r.put(byBM25, slices.IndexFunc(ranked, isEvidence))
		if err := r.search(b, q); err != nil {
			return err
		}
	}
	return nil
}

// search adds the places of the entries and of the clusters that a search finds.
func (r *reach) search(b *evalCase, q question) error {
	evidence := map[format.ID]bool{}
	ids := b.LiveIDs()
	for _, i := range q.evidence {
		evidence[ids[i]] = true
	}
	hits, err := b.Hits(q.Query, deepest, true)
	if err != nil {
		return err
	}
	view, err := b.Refs.Read()
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

package find

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/gemini-ctx/ctx/refs"
)

// clusterDepth is the number of best entries whose clusters are considered.
const clusterDepth = 64

// clusterDecay is the factor between the weights of the members of a cluster, best first. The score
// of a cluster is the weighted sum of the scores of its members, so several good members are better
// than one, and no number of poor ones replaces a good one.
const clusterDecay = 0.5

// clusterTextTokens is the largest number of tokens of the text of a cluster.
const clusterTextTokens = 100

// clusterHits returns at most most clusters of the ranked entries, best first.
func (s *Reader) clusterHits(
	view *refs.View, parsed *search.Query, ranked []rankedHit, most int,
) ([]Hit, error) {
	st, err := s.Forest(view)
	if err != nil {
		return nil, err
	}
	ids := map[format.ID]bool{}
	for _, r := range ranked {
		ids[r.ID] = true
	}
	places, err := st.Find(ids)
	if err != nil {
		return nil, err
	}
	scores, sessions := map[uint64]float64{}, map[uint64]string{}
	weight := map[uint64]float64{}
	var order []uint64
	for _, r := range ranked {
		p, ok := places[r.ID]
		if !ok {
			continue
		}
		if weight[p.Cluster] == 0 {
			weight[p.Cluster], sessions[p.Cluster] = 1, r.Session
			order = append(order, p.Cluster)
		}
		scores[p.Cluster] += float64(r.Score * weight[p.Cluster])
		weight[p.Cluster] = float64(weight[p.Cluster] * clusterDecay)
	}
	slices.SortStableFunc(order, func(a, b uint64) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:min(len(order), most)]
	all, err := s.Clusters(view)
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, number := range order {
		i := slices.IndexFunc(all, func(c clusters.ClusterInfo) bool { return c.Number == number })
		if i < 0 {
			continue
		}
		c := all[i]
		text := c.Line
		if c.Tombstone.IsZero() {
			if text, _, err = s.CoversText(c.Covers, clusterTextTokens); err != nil {
				return nil, err
			}
		}
		hits = append(hits,
			Hit{ID: c.ID, Score: scores[number], Session: sessions[number], Cluster: &c,
				Text: strings.TrimSpace(text), Excerpt: parsed.Excerpt(text, excerptLen)})
	}
	return hits, nil
}

// visibleTo leaves out clusters with a member that the reader may not see, because their summaries
// may contain its words.
func (s *Reader) visibleTo(view *refs.View, r *clusters.Viewer, clusters []Hit) ([]Hit, error) {
	var list []Hit
	for _, h := range clusters {
		sees := true
		err := s.clusters.Members(view, h.ID, func(id format.ID) error {
			e, err := s.Header(id)
			sees = sees && err == nil && r.Sees(id, e)
			return err
		})
		if err != nil {
			return nil, err
		}
		if sees {
			list = append(list, h)
		}
	}
	return list, nil
}

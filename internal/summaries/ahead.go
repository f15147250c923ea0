package summaries

import (
	"cmp"
	"context"
	"slices"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/refs"
)

// Ahead makes the answers of several batches before the first of them is recorded. The lines of
// tombstones are compared with those of the newest ones, so it foretells which clusters each batch
// will evict: Record follows Evict, without changing the forest.
type Ahead struct {
	s      *Reader
	view   *refs.View
	st     *forest.State
	owners *Owners

	lines []string        // of the newest tombstones, the newest first, batches so far included
	clean map[uint64]bool // clusters that the batches so far summarize
	// Without the clusters that the batches so far evict; nil before the first
	above []surplus
}

// Ahead returns what makes batches of answers from a forest as of view, the first one as it is.
func (s *Reader) Ahead(view *refs.View, st *forest.State, owners *Owners) (*Ahead, error) {
	s, err := s.lookOnce()
	if err != nil {
		return nil, err
	}
	lines, err := s.evictedLines(st)
	return &Ahead{s: s, view: view, st: st, owners: owners, lines: lines, clean: map[uint64]bool{}},
		err
}

// Extract answers the claims of some clusters with the built-in summarizer, without the lock.
func (a *Ahead) Extract(ctx context.Context, numbers []uint64) ([]SealedAnswer, error) {
	claims, err := a.s.ExtractClaims(a.view, a.st, a.owners, numbers)
	if err != nil {
		return nil, err
	}
	return a.s.extractAll(ctx, a.view, claims, a.lines)
}

// Record foretells what recording answers changes. It reports false if that cannot be told; then
// Extract must not be called again.
func (a *Ahead) Record(answers []SealedAnswer) bool {
	made := make(map[uint64]*SealedAnswer, len(answers))
	for i := range answers {
		if !IsWhole(a.st, &answers[i].Claim) {
			return false
		}
		made[answers[i].Cluster] = &answers[i]
		a.clean[answers[i].Cluster] = true
	}
	if a.above == nil {
		above, err := a.owners.above(a.s.Reader, a.st)
		if err != nil {
			return false
		}
		a.above = above
	}
	slices.SortStableFunc(a.above, func(x, y surplus) int {
		return cmp.Or(cmp.Compare(x.Clusters[0].Arrival, y.Clusters[0].Arrival),
			cmp.Compare(x.Clusters[0].Number, y.Clusters[0].Number))
	})
	var evicted []string
	for i := range a.above {
		s := &a.above[i]
		for s.Over > 0 && (!s.Clusters[0].Dirty() || a.clean[s.Clusters[0].Number]) {
			stone := made[s.Clusters[0].Number]
			if stone == nil || stone.stone.IsZero() {
				return false // the line is made when the cluster is evicted
			}
			evicted = append(evicted, stone.line)
			s.Clusters, s.Over = s.Clusters[1:], s.Over-1
		}
	}
	a.above = slices.DeleteFunc(a.above, func(s surplus) bool { return s.Over == 0 })
	slices.Reverse(evicted)
	a.lines = append(evicted, a.lines...)
	a.lines = a.lines[:min(len(a.lines), comparedLines)]
	return true
}

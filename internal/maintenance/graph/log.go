package graph

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/dense"
	"github.com/gemini-ctx/ctx/refs"
)

// Log returns the refs of the store for who reads all of the log: the ids that a dense log names by
// their first bytes come from the graph. Without it they come from the packs, which takes longer
// and keeps the ids of most objects in memory once more.
func (g *Graph) Log() *refs.DB {
	return g.s.Refs.With(resolver{g.s.Refs.Objects, g})
}

// resolver gives the ids that a graph has.
type resolver struct {
	refs.Objects
	g *Graph
}

// Resolve is that of refs.Objects. With first it prefers what the log names mostly: no nodes.
func (r resolver) Resolve(prefixes []dense.Prefix, first bool) ([][]format.ID, error) {
	found := make([][]format.ID, len(prefixes))
	for i, p := range prefixes {
		from, to := r.g.names.Begins(p)
		if from == to {
			return r.Objects.Resolve(prefixes, first) // it came later
		}
		if first {
			n := from
			for n+1 < to && r.g.Kind(n) == format.NodeKind {
				n++
			}
			from, to = n, n+1
		}
		found[i] = r.g.ids[from:to:to]
	}
	return found, nil
}

package graph

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/dense"
	"github.com/gemini-ctx/ctx/refs"
)

// elsewhere knows one object, which came after the graph was made.
type elsewhere struct{ refs.Objects }

func (elsewhere) Resolve(prefixes []dense.Prefix, _ bool) ([][]format.ID, error) {
	found := make([][]format.ID, len(prefixes))
	for i := range found {
		found[i] = []format.ID{{9}}
	}
	return found, nil
}

// The graph gives all ids that begin with four bytes, or the first that is no node, and leaves to
// the packs what it does not have.
func TestGraphResolves(t *testing.T) {
	ids := []format.ID{{0, 0, 0, 1}, {1, 2, 3, 4}, {1, 2, 3, 5, 1}, {1, 2, 3, 5, 2},
		{1, 2, 3, 5, 3}, {1, 2, 4}, {255, 255, 255, 255}}
	g := &Graph{ids: ids, names: newNames(ids), objects: make([]object, len(ids))}
	g.objects[2].what = what(format.NodeKind)
	r := resolver{elsewhere{}, g}
	for i, want := range [][]format.ID{ids[:1], ids[1:2], ids[2:5], ids[2:5], ids[2:5],
		ids[5:6], ids[6:]} {
		p := dense.Prefix(ids[i][:4])
		got, err := r.Resolve([]dense.Prefix{p}, false)
		if err != nil || !slices.Equal(got[0], want) {
			t.Errorf("%x: %v, %v", p, got, err)
		}
		first := want[0]
		if len(want) > 1 {
			first = ids[3]
		}
		if got, err := r.Resolve([]dense.Prefix{p}, true); err != nil ||
			!slices.Equal(got[0], []format.ID{first}) {
			t.Errorf("%x: first %v, %v", p, got, err)
		}
	}
	for _, p := range []dense.Prefix{{0, 0, 0, 0}, {1, 2, 3, 6}, {7}} {
		if got, err := r.Resolve([]dense.Prefix{{0, 0, 0, 1}, p}, true); err != nil ||
			got[1][0] != (format.ID{9}) {
			t.Errorf("%x: %v, %v", p, got, err)
		}
	}
}

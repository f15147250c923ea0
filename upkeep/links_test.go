package upkeep

import "testing"

// Every kind has its row, and an edge gives back the object and the kind that it was made of, the
// largest numbers included.
func TestKindsFitIntoEdges(t *testing.T) {
	names := map[string]bool{}
	for k := entryKind; k < anyKind; k++ {
		if kinds[k].parse == nil || kinds[k].name == "" || names[kinds[k].name] {
			t.Errorf("kind %d has no row of its own: %q", k, kinds[k].name)
		}
		names[kinds[k].name] = true
		for _, to := range []uint32{0, 1, edgeMask} {
			if e := edgeTo(to, k); e.to() != to || e.want() != k {
				t.Errorf("an edge to %d as %s is one to %d as %s", to, k, e.to(), e.want())
			}
		}
	}
}

package graph

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// An edge gives back the object and the kind that it was made of, the largest numbers included.
func TestKindsFitIntoEdges(t *testing.T) {
	for k := range format.AnyKind {
		for _, to := range []uint32{0, 1, edgeMask} {
			if e := edgeTo(to, k); e.To() != to || e.Want() != k {
				t.Errorf("an edge to %d as %s is one to %d as %s", to, k, e.To(), e.Want())
			}
		}
	}
}

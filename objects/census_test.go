package objects

import (
	"testing"

	"github.com/gemini-ctx/ctx/format"
	packs "github.com/gemini-ctx/ctx/format/pack"
)

// A walk refuses a pack that has an object twice, wherever it stands.
func TestTwiceInPack(t *testing.T) {
	blocks := []packs.Block{{Kind: packs.Whole, Frame: 1, Raw: 1, Objects: 2},
		{Kind: packs.Whole, Frame: 1, Raw: 1, Objects: 2}}
	// In an index they are the same
	alike := func(n byte) format.ID { return format.ID{1, 2, 3, 4, n} }
	for _, tt := range []struct {
		ids   [4]format.ID
		twice bool
	}{
		{[4]format.ID{alike(1), alike(2), alike(3), alike(4)}, false},
		{[4]format.ID{alike(1), alike(2), alike(3), alike(1)}, true},
		{[4]format.ID{{9}, alike(2), alike(2), {8}}, true},
		{[4]format.ID{{9}, alike(2), {8}, {9}}, true},
	} {
		var c census
		for n, b := range blocks {
			ids := someIDs{ids: tt.ids[2*n : 2*n+2]}
			c.met.add(b, &ids)
			for _, id := range ids.ids {
				c.object(packs.Object{ID: id, Header: []byte("node 1\n")})
			}
		}
		if _, err := c.index(format.ID{1}); (err != nil) != tt.twice {
			t.Errorf("%v: %v", tt.ids, err)
		}
	}
}

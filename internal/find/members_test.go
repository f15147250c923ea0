package find_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// What is below nodes is read once, also for entries that no cluster has, and whoever remembers it
// finds what one finds who reads all of it: while the clusters grow, and after some have left.
func TestMembersRemembered(t *testing.T) {
	settings := append(slices.Clip(storetest.Small[:2]), "forest.max_cold_clusters=1000")
	s := storetest.Create(t, settings...)
	r := rand.New(rand.NewPCG(7, 7))
	var said []format.ID
	find := func(s *session.Store, ids map[format.ID]bool) (map[format.ID]forest.Place, int) {
		t.Helper()
		from := &reads{Objects: s.Objects}
		s.History.ReadFrom(from)
		st := storetest.Must[*forest.State](t)(s.History.Forest(storetest.View(t, s)))
		from.n = 0
		return storetest.Must[map[format.ID]forest.Place](t)(st.Find(ids)), from.n
	}
	for round := range 4 {
		for range 60 { // each is a cluster of its own, or grows one
			topic := r.IntN(100)
			said = append(said, storetest.Say(t, s, "talk", "user",
				fmt.Sprintf("alpha%d beta%d gamma%d delta%d", topic, topic, topic, topic)))
		}
		if round == 3 {
			settings = storetest.Small // most clusters leave
			s = storetest.Reopen(t, s.Dir, nil, settings...)
		}
		storetest.Compact(t, s)
		ids := map[format.ID]bool{said[len(said)-1]: true} // in the window
		for range 5 {
			ids[said[r.IntN(len(said))]] = true
		}
		bare := storetest.Reopen(t, s.Dir, nil, settings...)
		bare.History.Cache = cache.Open(durabletest.TempDir(t), nil)
		want, all := find(bare, ids)
		find(storetest.Reopen(t, s.Dir, nil, settings...), ids)
		got, few := find(storetest.Reopen(t, s.Dir, nil, settings...), ids)
		if !maps.Equal(got, want) {
			t.Fatalf("round %d: finds %v, not %v", round, got, want)
		}
		if round < 3 && few > all/3 {
			t.Errorf("round %d: reads %d objects of %d again", round, few, all)
		}
	}
}

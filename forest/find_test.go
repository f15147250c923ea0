package forest

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// reads is a store that counts read objects.
type reads struct {
	memory
	n int
}

func (r *reads) Node(id format.ID) (*format.Node, error) { r.n++; return r.memory.Node(id) }
func (r *reads) Page(id format.ID) (*format.Page, error) { r.n++; return r.memory.Page(id) }
func (r *reads) Tombstone(id format.ID) (*format.Tombstone, error) {
	r.n++
	return r.memory.Tombstone(id)
}

// ByPlace implements Placer: the order is that of ids, as good as any.
func (r *reads) ByPlace(ids []format.ID) { slices.SortFunc(ids, format.ID.Compare) }

// Placed loses no cluster, and keeps those whose nodes are not written.
func TestPlaced(t *testing.T) {
	store := &reads{memory: memory{}}
	h := &history{t: t, store: store.memory}
	h.s = New("main", store)
	for i := range 50 {
		h.decide(format.Decision{Kind: format.DecideJoin, Cluster: uint64(i), ID: entryID(i)})
	}
	live := h.s.Live()
	placed := h.s.Placed(live)
	id := func(c *Cluster) format.ID { return c.members[0] }
	if len(placed) != len(live) ||
		!slices.IsSortedFunc(placed, func(a, b *Cluster) int { return id(a).Compare(id(b)) }) {
		t.Errorf("%d of %d clusters, or not by place", len(placed), len(live))
	}
	if plain := New("main", memory{}).Placed(live); !slices.Equal(plain, live) {
		t.Error("a loader that is no Placer changes the order")
	}
}

// Recently arrived entries are found with few reads, however many clusters and members there are.
// Old entries are found too.
func TestFindLooksAtTheNewestFirst(t *testing.T) {
	for _, clusters := range []int{40, 4000} {
		store := &reads{memory: memory{}}
		h := &history{t: t, store: store.memory}
		h.s = New("main", store)
		for i := range clusters {
			for range 3 {
				h.decide(format.Decision{Kind: format.DecideJoin, Cluster: uint64(i),
					ID: entryID(h.next)})
				h.next++
			}
			if i+5 < clusters {
				h.decide(format.Decision{Kind: format.DecideSettle, Cluster: uint64(i),
					ID: entryID(1e6 + i), Count: 3})
				h.evict([]*Cluster{h.s.Cluster(uint64(i))})
			}
		}
		w, err := h.s.Write()
		if err != nil {
			t.Fatal(err)
		}
		store.put(w.Objects...)
		f, err := format.DecodeForest(store.memory[w.Forest])
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			member int
			most   int
		}{
			{h.next - 1, 5},      // of a live cluster
			{h.next - 3*20, 140}, // of a recently evicted cluster
			{0, 1 << 20},
			{h.next, 1 << 20}, // of no cluster
		} {
			store.n = 0
			found, err := From(f, store).Find(map[format.ID]bool{entryID(c.member): true})
			if err != nil {
				t.Fatal(err)
			}
			want := Place{Cluster: uint64(c.member / 3), Offset: uint64(c.member % 3)}
			if got, there := found[entryID(c.member)]; there != (c.member < h.next) ||
				there && got != want {
				t.Errorf("%d clusters: member %d: %+v", clusters, c.member, got)
			}
			if store.n > c.most {
				t.Errorf("%d clusters: member %d: %d reads", clusters, c.member, store.n)
			}
		}
	}
}

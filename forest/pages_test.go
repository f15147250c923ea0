package forest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// counting is a store that counts read pages.
type counting struct {
	memory
	pages int
}

func (c *counting) Page(id format.ID) (*format.Page, error) {
	c.pages++
	return c.memory.Page(id)
}

func mustWrite(t testing.TB, list *tombs, store memory) {
	t.Helper()
	raws, err := written(list)
	if err != nil {
		t.Fatal(err)
	}
	store.put(raws...)
}

func written(list *tombs) (raws []format.Raw, err error) {
	err = list.write(func(raw format.Raw) error { raws = append(raws, raw); return nil })
	return raws, err
}

// bulk returns a list of n tombstones of the clusters 0, step, 2*step and so on, evicted in that
// order.
func bulk(t testing.TB, store memory, n, step uint64) *tombs {
	t.Helper()
	list := &tombs{}
	for i := range n {
		if err := list.add(store, i*step, i, entryID(int(i))); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, list, store)
	return &tombs{root: list.root, count: list.count}
}

// Equal lists have equal pages and hold the same tombstones, whatever was added and removed in
// between, and however often they were written and read on the way.
func TestTombstonesAreTheirList(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		store := memory{}
		list, want := &tombs{}, map[uint64]format.Slot{}
		reach := []uint64{200, 300, 70000, 1 << 25}[seed%4]
		for i := range uint64(600) {
			number := r.Uint64N(reach)
			if r.IntN(3) == 0 {
				number = r.Uint64N(300)
			}
			if _, there := want[number]; there || len(want) > 0 && r.IntN(3) == 0 {
				if !there {
					number = anyOf(want, r)
				}
				if err := list.remove(store, number); err != nil {
					t.Fatal(err)
				}
				delete(want, number)
			} else {
				s := format.Slot{Place: number, Eviction: i, Count: 1, ID: entryID(int(i))}
				if err := list.add(store, number, i, s.ID); err != nil {
					t.Fatal(err)
				}
				want[number] = s
			}
			if r.IntN(9) == 0 {
				mustWrite(t, list, store)
				list = &tombs{root: list.root, count: list.count}
			}
			if i%97 == 0 {
				sameList(t, list, want, store)
			}
		}
		for len(want) > 0 { // until the list is empty again
			number := anyOf(want, r)
			delete(want, number)
			if err := list.remove(store, number); err != nil {
				t.Fatal(err)
			}
			if len(want)%50 == 0 {
				sameList(t, list, want, store)
			}
		}
	}
}

func anyOf(want map[uint64]format.Slot, r *rand.Rand) uint64 {
	numbers := make([]uint64, 0, len(want))
	for n := range want {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers[r.IntN(len(numbers))]
}

func sameList(t *testing.T, list *tombs, want map[uint64]format.Slot, store memory) {
	t.Helper()
	mustWrite(t, list, store)
	fresh := &tombs{}
	for number, s := range want {
		if err := fresh.add(store, number, s.Eviction, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	mustWrite(t, fresh, store)
	if list.root != fresh.root || list.count != uint64(len(want)) {
		t.Fatalf("the history gives %v with %d, the list %v with %d", list.root, list.count,
			fresh.root, len(want))
	}
	again := &tombs{root: list.root, count: list.count}
	for number := range uint64(300) {
		got, ok, err := again.find(store, number)
		if w, there := want[number]; err != nil || ok != there || got != w {
			t.Fatalf("cluster %d: found %+v %v, %v; want %+v %v", number, got, ok, err, w, there)
		}
	}
	var all []format.Slot
	if err := again.each(store, func(s format.Slot) { all = append(all, s) }); err != nil ||
		len(all) != len(want) {
		t.Fatalf("%d listed of %d, %v", len(all), len(want), err)
	}
	slices.SortFunc(all,
		func(a, b format.Slot) int { return int(int64(b.Eviction) - int64(a.Eviction)) })
	newest, err := again.newest(store, 20)
	if err != nil || !slices.Equal(newest, all[:min(20, len(all))]) {
		t.Fatalf("newest: %v, %v", newest, err)
	}
}

// Finding, adding or removing a tombstone, and writing the change, costs one page per level for
// lists of any length.
func TestTombstonesReadAPageALevel(t *testing.T) {
	store := &counting{memory: memory{}}
	stored := bulk(t, store.memory, 70000, 7)
	for name, do := range map[string]func(*tombs) error{
		"find":   func(l *tombs) error { _, _, err := l.find(store, 7*12345); return err },
		"add":    func(l *tombs) error { return l.add(store, 7*12345+1, 70001, entryID(1)) },
		"remove": func(l *tombs) error { return l.remove(store, 7*12345) },
		"newest": func(l *tombs) error { _, err := l.newest(store, 20); return err },
	} {
		list := &tombs{root: stored.root, count: stored.count}
		store.pages = 0
		if err := do(list); err != nil {
			t.Fatal(err)
		}
		raws, err := written(list)
		if err != nil || store.pages > 4 || len(raws) > 3 {
			t.Errorf("%s: %d pages read, %d written, %v", name, store.pages, len(raws), err)
		}
	}
}

// A page that does not agree with the page above it is an error.
func TestTombstonesRefuseOtherPages(t *testing.T) {
	store := memory{}
	stored := bulk(t, store, 600, 1)
	if _, _, err := (&tombs{root: stored.root, count: 599}).find(store, 3); err == nil {
		t.Error("a list of another length was read")
	}
	top, err := store.Page(stored.root)
	if err != nil {
		t.Fatal(err)
	}
	top.Slots[0].ID, top.Slots[1].ID = top.Slots[1].ID, top.Slots[0].ID
	header, err := top.Encode()
	if err != nil {
		t.Fatal(err)
	}
	store.put(format.Raw{Header: header})
	if _, _, err := (&tombs{root: format.Sum(header), count: 600}).find(store, 3); err == nil {
		t.Error("a page in the wrong place was read")
	}
	list := &tombs{root: stored.root, count: 600}
	if err := list.add(store, 3, 700, entryID(1)); err == nil {
		t.Error("a second tombstone for a cluster was taken")
	}
	if err := list.remove(store, 600); err == nil {
		t.Error("a tombstone that is not there was taken away")
	}
}

// BenchmarkEvictRevive reads a forest, evicts one cluster, revives another, and writes the forest.
func BenchmarkEvictRevive(b *testing.B) {
	for _, n := range []uint64{1000, 1000000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store := memory{}
			stored := bulk(b, store, n, 1)
			r := rand.New(rand.NewPCG(1, 1))
			for b.Loop() {
				list := &tombs{root: stored.root, count: stored.count}
				if err := list.remove(store, r.Uint64N(n)); err != nil {
					b.Fatal(err)
				}
				if err := list.add(store, n, n, entryID(1)); err != nil {
					b.Fatal(err)
				}
				if _, err := written(list); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

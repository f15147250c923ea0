package forest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// memory is a store that keeps headers in a map.
type memory map[format.ID][]byte

func (m memory) Node(id format.ID) (*format.Node, error) { return format.DecodeNode(m[id]) }
func (m memory) Page(id format.ID) (*format.Page, error) { return format.DecodePage(m[id]) }
func (m memory) Tombstone(id format.ID) (*format.Tombstone, error) {
	return format.DecodeTombstone(m[id])
}

func (m memory) put(raws ...format.Raw) {
	for _, r := range raws {
		m[r.ID()] = r.Header
	}
}

func entryID(n int) format.ID { return format.Sum(fmt.Appendf(nil, "entry %d", n)) }

// history makes random decisions that can follow each other, and applies them to a state.
type history struct {
	t     *testing.T
	r     *rand.Rand
	store memory
	s     *State
	all   []format.Decision
	out   []format.Decision // retracts that nothing has restored
	next  int
}

func (h *history) decide(d format.Decision) {
	h.t.Helper()
	if err := h.s.Apply(d); err != nil {
		h.t.Fatalf("%+v: %v", d, err)
	}
	h.all = append(h.all, d)
}

func (h *history) decideAll(list []format.Decision) {
	h.t.Helper()
	if err := h.s.ApplyAll(list); err != nil {
		h.t.Fatal(err)
	}
	h.all = append(h.all, list...)
}

func (h *history) step() {
	live := h.s.Live()
	switch n := h.r.IntN(100); {
	case n < 55 || len(live) == 0:
		cluster := h.s.Opened
		if h.s.Opened > 0 && h.r.IntN(4) > 0 {
			cluster = uint64(h.r.IntN(int(h.s.Opened)))
		}
		for range 1 + h.r.IntN(3) {
			h.decide(format.Decision{Kind: format.DecideJoin, Cluster: cluster,
				ID: entryID(h.next)})
			h.next++
			cluster = min(cluster, h.s.Opened-1)
		}
	case n < 65:
		h.retract()
	case n < 72:
		back, err := h.s.Return(h.out)
		if err != nil {
			h.t.Fatal(err)
		}
		h.decideAll(back)
		h.out = nil
	case n < 88:
		c := live[h.r.IntN(len(live))]
		count := uint64(1 + h.r.IntN(int(c.Count())))
		if h.r.IntN(2) == 0 {
			count = c.Count()
		}
		h.decide(format.Decision{
			Kind: format.DecideSettle, Cluster: c.Number, ID: entryID(1e6 + len(h.all)),
			Offset: uint64(h.r.IntN(int(c.Count()-count) + 1)), Count: count,
			Interim: h.r.IntN(3) == 0,
		})
	default:
		h.evict(live)
	}
}

func (h *history) retract() {
	var ids []format.ID
	for _, c := range h.s.Live() {
		members, err := h.s.Members(c)
		if err != nil {
			h.t.Fatal(err)
		}
		ids = append(ids, members...)
	}
	if len(ids) == 0 {
		return
	}
	gone := map[format.ID]bool{entryID(h.r.IntN(h.next)): true}
	for range 1 + h.r.IntN(8) {
		gone[ids[h.r.IntN(len(ids))]] = true
	}
	list, err := h.s.Retract(gone)
	if err != nil {
		h.t.Fatal(err)
	}
	h.decideAll(list)
	h.out = append(h.out, list...)
}

func (h *history) evict(live []*Cluster) {
	for _, c := range live {
		if c.Dirty() {
			continue
		}
		node, err := h.s.Node(c)
		if err != nil {
			h.t.Fatal(err)
		}
		stone := format.Tombstone{
			Cluster: c.Number, Node: node, Count: c.Count(), Arrival: c.Arrival,
			Summary: c.Covers[0].Summary,
			Body: format.SumBody(fmt.Appendf(nil, "sixteen bytes... line %d", len(h.all)),
				format.MediaText),
		}
		header, err := stone.Encode()
		if err != nil {
			h.t.Fatal(err)
		}
		members, err := h.s.Members(c)
		if err != nil {
			h.t.Fatal(err)
		}
		h.putNodes(members)
		h.store.put(format.Raw{Header: header})
		h.decide(format.Decision{Kind: format.DecideEvict, Cluster: c.Number,
			ID: format.Sum(header)})
		return
	}
}

func (h *history) putNodes(members []format.ID) {
	nodes, err := format.Nodes(members)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			h.t.Fatal(err)
		}
		h.store.put(format.Raw{Header: header})
	}
}

// reload writes the state and reads it back, as the next process does.
func (h *history) reload() {
	w, err := h.s.Write()
	if err != nil {
		h.t.Fatal(err)
	}
	h.store.put(w.Objects...)
	f, err := format.DecodeForest(h.store[w.Forest])
	if err != nil {
		h.t.Fatal(err)
	}
	h.s = From(f, h.store)
}

// The same decisions give the same forest, however often it was written and read on the way.
// Rebuilding a store depends on this.
func TestReplayGivesTheSameForest(t *testing.T) {
	for seed := range 60 {
		h := &history{t: t, r: rand.New(rand.NewPCG(uint64(seed), 3)), store: memory{}}
		h.s = New("main", h.store)
		for range 300 {
			h.step()
			if h.r.IntN(12) == 0 {
				h.reload()
			}
			h.invariants()
		}
		last, err := h.s.Write()
		if err != nil {
			t.Fatal(err)
		}
		again := New("main", h.store)
		for _, d := range h.all { // one by one, although history may have applied whole runs
			if err := again.Apply(d); err != nil {
				t.Fatal(err)
			}
		}
		whole, err := again.Write()
		if err != nil {
			t.Fatal(err)
		}
		if whole.Forest != last.Forest {
			t.Fatalf("seed %d: replay gives %v, the history gave %v", seed,
				whole.Forest, last.Forest)
		}
	}
}

// invariants checks that no entry has two places, and that covers are sorted, do not overlap, and
// lie inside their clusters.
func (h *history) invariants() {
	h.t.Helper()
	seen := map[format.ID]bool{}
	for _, c := range h.s.Live() {
		members, err := h.s.Members(c)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, m := range members {
			if seen[m] {
				h.t.Fatalf("entry %v twice", m)
			}
			seen[m] = true
		}
		end := uint64(0)
		for _, v := range c.Covers {
			if v.Offset < end || v.Offset+v.Count > uint64(len(members)) {
				h.t.Fatalf("cluster %d: covers %+v of %d members", c.Number, c.Covers, len(members))
			}
			end = v.Offset + v.Count
		}
	}
}

// Entries that one operation retracts and a later one restores get their old places, so that an
// older summary fits again.
func TestReturnRestoresPlaces(t *testing.T) {
	s := New("main", memory{})
	for i := range 9 {
		if err := s.Apply(format.Decision{Kind: format.DecideJoin, Cluster: uint64(i % 3),
			ID: entryID(i)}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := s.Write()
	if err != nil {
		t.Fatal(err)
	}
	gone, err := s.Retract(map[format.ID]bool{entryID(0): true, entryID(3): true, entryID(7): true,
		entryID(99): true})
	if err != nil || len(gone) != 3 {
		t.Fatalf("retract: %v, %v", gone, err)
	}
	if err := s.ApplyAll(gone); err != nil {
		t.Fatal(err)
	}
	back, err := s.Return(gone)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyAll(back); err != nil {
		t.Fatal(err)
	}
	after, err := s.Write()
	if err != nil {
		t.Fatal(err)
	}
	if after.Forest != before.Forest {
		t.Error("the forest is not what it was")
	}
	if again, err := s.Return(gone); err != nil || len(again) > 0 {
		t.Errorf("returned twice: %v, %v", again, err)
	}
}

func TestApplyRefuses(t *testing.T) {
	s := New("main", memory{})
	if err := s.Apply(format.Decision{Kind: format.DecideJoin, ID: entryID(1)}); err != nil {
		t.Fatal(err)
	}
	for _, d := range []format.Decision{
		{Kind: format.DecideJoin, Cluster: 7, ID: entryID(2)},
		{Kind: format.DecideRetract, Cluster: 0, ID: entryID(2)},
		{Kind: format.DecideRetract, Cluster: 0, ID: entryID(1), Offset: 5},
		{Kind: format.DecideRestore, Cluster: 0, ID: entryID(2), Offset: 5},
		{Kind: format.DecideSettle, Cluster: 0, ID: entryID(2), Count: 2},
		{Kind: format.DecideSettle, Cluster: 3, ID: entryID(2), Count: 1},
		{Kind: format.DecideDrop, Cluster: 0, ID: entryID(2)},
		{Kind: format.DecideEvict, Cluster: 0, ID: entryID(2)},
		{Kind: 'x'},
	} {
		if err := s.Apply(d); err == nil {
			t.Errorf("%+v was applied", d)
		}
	}
}

// A growing run has the same tree as the whole run, and any part of it can be read by its place.
func TestSpineGrowsTheOneTree(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, start := range []int{1, 255, 256, 257, 700, 65535, 65536, 65537} {
		store := memory{}
		run := make([]format.ID, start)
		for i := range run {
			run[i] = entryID(i)
		}
		h := &history{t: t, store: store}
		h.putNodes(run)
		node, err := format.NodeOf(run)
		if err != nil {
			t.Fatal(err)
		}
		c := &Cluster{node: node, written: uint64(start)}
		s := New("main", store)
		for range 6 {
			for range 1 + r.IntN(200) {
				run = append(run, entryID(len(run)))
				c.members, c.changed = append(c.members, run[len(run)-1]), true
			}
			put := func(_ *Cluster, raw format.Raw) error { store.put(raw); return nil }
			if err := s.writeCluster(c, put); err != nil {
				t.Fatal(err)
			}
			want, err := format.NodeOf(run)
			if err != nil {
				t.Fatal(err)
			}
			if c.node != want || c.written != uint64(len(run)) {
				t.Fatalf("from %d to %d: another tree", start, len(run))
			}
			from := r.IntN(len(run))
			to := from + r.IntN(len(run)-from) + 1
			got, err := s.Slice(c, uint64(from), uint64(to))
			if err != nil || !slices.Equal(got, run[from:to]) {
				t.Fatalf("slice %d to %d of %d: %v", from, to, len(run), err)
			}
		}
	}
}

// A state that is used on after it was written is written as one that is read again.
func TestWriteAgain(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 6))
	store := memory{}
	kept := New("main", store)
	var stored format.ID
	for round := range 40 {
		fresh := New("main", store)
		if round > 0 {
			f, err := format.DecodeForest(store[stored])
			if err != nil {
				t.Fatal(err)
			}
			fresh = From(f, store)
		}
		for i := range r.IntN(300) {
			id := entryID(round*1000 + i)
			d := format.Decision{Kind: format.DecideJoin,
				Cluster: uint64(r.IntN(int(kept.Opened) + 1)), ID: id}
			if r.IntN(9) == 0 && kept.LiveCount() > 0 {
				c := kept.Live()[r.IntN(kept.LiveCount())]
				members, err := kept.Members(c)
				if err != nil {
					t.Fatal(err)
				}
				at := r.IntN(len(members))
				d = format.Decision{Kind: format.DecideRetract, Cluster: c.Number, ID: members[at],
					Offset: uint64(at)}
			} else if d.Cluster > 3 && d.Cluster < kept.Opened {
				d.Cluster = 0
			}
			if err := errors.Join(kept.Apply(d), fresh.Apply(d)); err != nil {
				t.Fatal(err)
			}
		}
		a, err := kept.Write()
		if err != nil {
			t.Fatal(err)
		}
		b, err := fresh.Write()
		if err != nil {
			t.Fatal(err)
		}
		if a.Forest != b.Forest {
			t.Fatalf("round %d: another forest", round)
		}
		stored = a.Forest
		store.put(a.Objects...) // alone: what it leaves out has to be there
		if round%3 == 0 {
			kept.Forget()
		}
	}
}

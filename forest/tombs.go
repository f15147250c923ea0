package forest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// Evicted is an evicted cluster, for which a tombstone stands.
type Evicted struct {
	Cluster   uint64
	Eviction  uint64 // number of the eviction
	Tombstone format.ID
}

// Evicted returns all tombstones, the latest eviction first. It reads every page.
func (s *State) Evicted() ([]Evicted, error) {
	list := make([]Evicted, 0, min(s.tombs.count, 1<<20))
	if err := s.EachEvicted(func(e Evicted) { list = append(list, e) }); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b Evicted) int { return cmp.Compare(b.Eviction, a.Eviction) })
	return list, nil
}

// EachEvicted calls visit for all tombstones, in the order of the numbers of their clusters. It
// reads every page, and keeps none that was not in memory before.
func (s *State) EachEvicted(visit func(Evicted)) error {
	err := s.tombs.each(s.load, func(t format.Slot) {
		visit(Evicted{Cluster: t.Place, Eviction: t.Eviction, Tombstone: t.ID})
	})
	if err != nil {
		return fmt.Errorf("forest %q: %w", s.Name, err)
	}
	return nil
}

// NewestEvicted returns the tombstones of the n latest evictions, and the number of all tombstones.
// It reads only the pages that hold those n.
func (s *State) NewestEvicted(n int) (newest []Evicted, all uint64, err error) {
	slots, err := s.tombs.newest(s.load, n)
	if err != nil {
		return nil, 0, fmt.Errorf("forest %q: %w", s.Name, err)
	}
	for _, t := range slots {
		newest = append(newest, Evicted{Cluster: t.Place, Eviction: t.Eviction, Tombstone: t.ID})
	}
	return newest, s.tombs.count, nil
}

// Tombstone returns the tombstone of an evicted cluster. ok is false if the number is that of no
// evicted cluster. It reads one page per level.
func (s *State) Tombstone(number uint64) (id format.ID, ok bool, err error) {
	t, ok, err := s.tombs.find(s.load, number)
	return t.ID, ok, err
}

// revive makes an evicted cluster live again, as it was when it was evicted. It returns nil if the
// number is that of no evicted cluster.
func (s *State) revive(number uint64) (*Cluster, error) {
	id, ok, err := s.Tombstone(number)
	if err != nil || !ok {
		return nil, err
	}
	stone, err := s.load.Tombstone(id)
	if err != nil {
		return nil, err
	}
	if stone.Cluster != number {
		return nil, fmt.Errorf("tombstone %v is of cluster %d", id, stone.Cluster)
	}
	c := &Cluster{
		Number: number, Arrival: stone.Arrival, node: stone.Node, written: stone.Count,
		Covers: []format.Cover{{Summary: stone.Summary, Count: stone.Count}},
	}
	if err := s.tombs.remove(s.load, number); err != nil {
		return nil, err
	}
	s.live[number] = c
	return c, nil
}

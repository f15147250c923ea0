package forest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// tombs are the evicted clusters. They are read only when one is added, taken away or listed.
type tombs struct {
	root      format.ID // the topmost page as stored
	count     uint64
	loaded    bool
	changed   bool
	byCluster map[uint64]tomb
	stored    map[format.ID]bool
}

type tomb struct {
	place uint64 // eviction number
	id    format.ID
}

// Evicted is a cluster that is a tombstone.
type Evicted struct {
	Cluster   uint64
	Tombstone format.ID
}

// Evicted returns the tombstones, the newest eviction first.
func (s *State) Evicted() ([]Evicted, error) {
	if err := s.loadTombs(); err != nil {
		return nil, err
	}
	numbers := slices.Collect(maps.Keys(s.tombs.byCluster))
	slices.SortFunc(numbers, func(a, b uint64) int {
		return cmp.Compare(s.tombs.byCluster[b].place, s.tombs.byCluster[a].place)
	})
	list := make([]Evicted, len(numbers))
	for i, n := range numbers {
		list[i] = Evicted{Cluster: n, Tombstone: s.tombs.byCluster[n].id}
	}
	return list, nil
}

// NewestEvicted returns the n newest tombstones and how many there are in all, reading no more pages than that takes.
func (s *State) NewestEvicted(n int) (newest []Evicted, all uint64, err error) {
	if s.tombs.loaded {
		list, err := s.Evicted()
		return list[:min(n, len(list))], uint64(len(list)), err
	}
	stack := []format.ID{s.tombs.root}
	for len(stack) > 0 && len(newest) < n {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		p, err := s.load.Page(top)
		if err != nil {
			return nil, 0, err
		}
		if p.Level > 0 {
			for _, slot := range p.Slots {
				stack = append(stack, slot.ID)
			}
			continue
		}
		for i := len(p.Slots) - 1; i >= 0 && len(newest) < n; i-- {
			newest = append(newest, Evicted{Cluster: p.Slots[i].Number, Tombstone: p.Slots[i].ID})
		}
	}
	return newest, s.tombs.count, nil
}

func (s *State) loadTombs() error {
	if s.tombs.loaded {
		return nil
	}
	s.tombs.stored = map[format.ID]bool{}
	stack := []format.ID{s.tombs.root}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		p, err := s.load.Page(top)
		if err != nil {
			return err
		}
		s.tombs.stored[top] = true
		for _, slot := range p.Slots {
			if p.Level > 0 {
				stack = append(stack, slot.ID)
				continue
			}
			s.tombs.byCluster[slot.Number] = tomb{place: slot.Place, id: slot.ID}
		}
	}
	if uint64(len(s.tombs.byCluster)) != s.tombs.count {
		return fmt.Errorf("forest %q: %d tombstones, %d belong", s.Name, len(s.tombs.byCluster), s.tombs.count)
	}
	s.tombs.loaded = true
	return nil
}

// revive makes an evicted cluster live again, as it was evicted; nil if the number is not that of an evicted cluster.
func (s *State) revive(number uint64) (*Cluster, error) {
	if s.tombs.count == 0 {
		return nil, nil
	}
	if err := s.loadTombs(); err != nil {
		return nil, err
	}
	t, ok := s.tombs.byCluster[number]
	if !ok {
		return nil, nil
	}
	stone, err := s.load.Tombstone(t.id)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Number: number, Arrival: stone.Arrival, node: stone.Node, written: stone.Count,
		Covers: []format.Cover{{Summary: stone.Summary, Count: stone.Count}},
	}
	delete(s.tombs.byCluster, number)
	s.tombs.count--
	s.tombs.changed = true
	s.live[number] = c
	return c, nil
}

// pages writes the list of tombstones as the pages of docs/format/forest.md, those below first, the topmost last.
func (t *tombs) pages() ([]*format.Page, error) {
	slots := make([]format.Slot, 0, len(t.byCluster))
	for n, tomb := range t.byCluster {
		slots = append(slots, format.Slot{Place: tomb.place, Number: n, ID: tomb.id})
	}
	slices.SortFunc(slots, func(a, b format.Slot) int { return cmp.Compare(a.Place, b.Place) })
	var all []*format.Page
	for level := 0; ; level++ {
		row := cut(slots, level)
		all = append(all, row...)
		if len(row) <= 1 && (len(slots) == 0 || slots[len(slots)-1].Place < format.FanOut) {
			return all, nil
		}
		var err error
		if slots, err = above(row); err != nil {
			return nil, err
		}
	}
}

// cut puts slots into the pages of a level by their places.
func cut(slots []format.Slot, level int) []*format.Page {
	var row []*format.Page
	for _, s := range slots {
		last := len(row) - 1
		if last < 0 || row[last].Slots[0].Place/format.FanOut != s.Place/format.FanOut {
			row = append(row, &format.Page{Level: level})
			last++
		}
		row[last].Slots = append(row[last].Slots, s)
	}
	return row
}

func above(row []*format.Page) ([]format.Slot, error) {
	slots := make([]format.Slot, len(row))
	for i, p := range row {
		b, err := p.Encode()
		if err != nil {
			return nil, err
		}
		slots[i] = format.Slot{Place: p.Slots[0].Place / format.FanOut, Number: below(p), ID: format.Sum(b)}
	}
	return slots, nil
}

func below(p *format.Page) uint64 {
	if p.Level == 0 {
		return uint64(len(p.Slots))
	}
	var n uint64
	for _, s := range p.Slots {
		n += s.Number
	}
	return n
}

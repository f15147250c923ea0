package forest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// tombs is the list of tombstones as a tree of pages; docs/format/forest.md describes the tree.
// Pages are read when a line on them is needed, and written when a line on them has changed.
// Finding, adding or removing a tombstone therefore costs one page per level.
type tombs struct {
	root  format.ID // the topmost page as stored; the zero ID if there is none
	count uint64
	top   *page // nil before it is read, and if the list is empty
}

// page is a page in memory. Its lines are up to date, except for the ids of changed pages below it.
type page struct {
	level   int
	slots   []format.Slot
	below   map[uint64]*page // pages in memory, by their index
	stored  format.ID        // the id as read or last written; the zero ID for a new page
	changed bool
}

// topmost returns the topmost page, or nil if the list is empty.
func (t *tombs) topmost(load Loader) (*page, error) {
	if t.top == nil && t.count > 0 {
		p, err := readPage(load, t.root)
		if err != nil {
			return nil, err
		}
		if p.slots[0].Place >= format.FanOut || p.total() != t.count {
			return nil, fmt.Errorf("page %v: %d tombstones, %d belong", t.root, p.total(), t.count)
		}
		t.top = p
	}
	return t.top, nil
}

func readPage(load Loader, id format.ID) (*page, error) {
	p, err := load.Page(id)
	if err != nil {
		return nil, err
	}
	return &page{level: p.Level, slots: slices.Clone(p.Slots), stored: id}, nil
}

// child returns the page that a line names. keep says whether the page stays in memory.
func (p *page) child(load Loader, s format.Slot, keep bool) (*page, error) {
	if c := p.below[s.Place]; c != nil {
		return c, nil
	}
	c, err := readPage(load, s.ID)
	if err != nil {
		return nil, err
	}
	if c.level != p.level-1 || c.slots[0].Place/format.FanOut != s.Place || c.total() != s.Count ||
		c.newest() != s.Eviction {
		return nil, fmt.Errorf("page %v is not what the page above it says", s.ID)
	}
	if keep {
		p.keep(s.Place, c)
	}
	return c, nil
}

func (p *page) keep(index uint64, c *page) {
	if p.below == nil {
		p.below = map[uint64]*page{}
	}
	p.below[index] = c
}

// total returns the number of tombstones on a page and below it.
func (p *page) total() uint64 {
	n := uint64(0)
	for _, s := range p.slots {
		n += s.Count
	}
	return n
}

// newest returns the largest number of an eviction on a page and below it.
func (p *page) newest() uint64 {
	n := uint64(0)
	for _, s := range p.slots {
		n = max(n, s.Eviction)
	}
	return n
}

// line returns the index of the line for a place, or the index at which it would be inserted.
func (p *page) line(place uint64) (at int, there bool) {
	return slices.BinarySearchFunc(p.slots, place,
		func(s format.Slot, place uint64) int { return cmp.Compare(s.Place, place) })
}

// set adds or replaces the line for s.Place.
func (p *page) set(s format.Slot) {
	p.changed = true
	if at, there := p.line(s.Place); there {
		p.slots[at] = s
	} else {
		p.slots = slices.Insert(p.slots, at, s)
	}
}

// indexAt returns the place of the line, on a page of the given level, that leads to the cluster
// number.
func indexAt(number uint64, level int) uint64 {
	for range level {
		number /= format.FanOut
	}
	return number
}

// reaches reports whether page 0 of a level includes the cluster number.
func reaches(level int, number uint64) bool { return indexAt(number, level) < format.FanOut }

// find returns the line of a cluster.
func (t *tombs) find(load Loader, number uint64) (s format.Slot, ok bool, err error) {
	p, err := t.topmost(load)
	if err != nil || p == nil || !reaches(p.level, number) {
		return s, false, err
	}
	for {
		at, there := p.line(indexAt(number, p.level))
		if !there {
			return s, false, nil
		}
		if p.level == 0 {
			return p.slots[at], true, nil
		}
		if p, err = p.child(load, p.slots[at], true); err != nil {
			return s, false, err
		}
	}
}

// path returns the pages from the topmost one down to the page of a cluster's line. If wanted is
// true, it makes missing pages; otherwise a missing page is an error.
func (t *tombs) path(load Loader, number uint64, wanted bool) ([]*page, error) {
	p, err := t.topmost(load)
	if err != nil {
		return nil, err
	}
	path := []*page{p}
	for p.level > 0 {
		index := indexAt(number, p.level)
		at, there := p.line(index)
		switch {
		case there:
			if p, err = p.child(load, p.slots[at], true); err != nil {
				return nil, err
			}
		case wanted:
			c := &page{level: p.level - 1, changed: true}
			p.keep(index, c)
			p = c
		default:
			return nil, fmt.Errorf("cluster %d has no tombstone", number)
		}
		path = append(path, p)
	}
	return path, nil
}

// add adds the tombstone of a cluster. The cluster must not have one.
func (t *tombs) add(load Loader, number, eviction uint64, id format.ID) error {
	if _, err := t.topmost(load); err != nil {
		return err
	}
	if t.top == nil {
		t.top = &page{}
	}
	for !reaches(t.top.level, number) {
		above := &page{level: t.top.level + 1, changed: true}
		if len(t.top.slots) > 0 {
			above.slots = []format.Slot{{Count: t.top.total(), Eviction: t.top.newest(),
				ID: t.top.stored}}
			above.keep(0, t.top)
		}
		t.top = above
	}
	path, err := t.path(load, number, true)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	if _, there := last.line(number); there {
		return fmt.Errorf("cluster %d has a tombstone", number)
	}
	last.set(format.Slot{Place: number, Eviction: eviction, Count: 1, ID: id})
	t.renew(path, number)
	t.count++
	return nil
}

// remove removes the tombstone of a cluster.
func (t *tombs) remove(load Loader, number uint64) error {
	path, err := t.path(load, number, false)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	at, there := last.line(number)
	if !there {
		return fmt.Errorf("cluster %d has no tombstone", number)
	}
	last.slots, last.changed = slices.Delete(last.slots, at, at+1), true
	t.renew(path, number)
	t.count--
	return t.lower(load)
}

// renew updates the lines above a changed page, from below. It removes pages without lines.
func (t *tombs) renew(path []*page, number uint64) {
	for i := len(path) - 1; i > 0; i-- {
		c, p := path[i], path[i-1]
		index := indexAt(number, p.level)
		if len(c.slots) > 0 {
			p.set(format.Slot{Place: index, Eviction: c.newest(), Count: c.total(), ID: c.stored})
			continue
		}
		delete(p.below, index)
		if at, there := p.line(index); there {
			p.slots = slices.Delete(p.slots, at, at+1)
		}
		p.changed = true
	}
}

// lower replaces the topmost page by the lowest one that includes the whole list.
func (t *tombs) lower(load Loader) (err error) {
	if t.count == 0 {
		t.top = nil
		return nil
	}
	for t.top.level > 0 && len(t.top.slots) == 1 && t.top.slots[0].Place == 0 {
		if t.top, err = t.top.child(load, t.top.slots[0], false); err != nil {
			return err
		}
	}
	return nil
}

// each calls visit for every tombstone, in the order of cluster numbers. The pages that it reads do
// not stay in memory.
func (t *tombs) each(load Loader, visit func(format.Slot)) error {
	top, err := t.topmost(load)
	if err != nil || top == nil {
		return err
	}
	stack := []*page{top}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p.level == 0 {
			for _, s := range p.slots {
				visit(s)
			}
			continue
		}
		for _, s := range slices.Backward(p.slots) {
			c, err := p.child(load, s, false)
			if err != nil {
				return err
			}
			stack = append(stack, c)
		}
	}
	return nil
}

// newest returns the tombstones of the n latest evictions, the latest first.
func (t *tombs) newest(load Loader, n int) ([]format.Slot, error) {
	top, err := t.topmost(load)
	if err != nil || top == nil || n <= 0 {
		return nil, err
	}
	var list []format.Slot
	// The latest eviction comes first. Two lines never have the same number of an eviction.
	waiting := lists.Heap[line]{List: make([]line, 0, len(top.slots)),
		Before: func(a, b line) bool { return a.slot.Eviction > b.slot.Eviction }}
	for _, s := range top.slots {
		waiting.Add(line{top, s})
	}
	for len(waiting.List) > 0 && len(list) < n {
		l := waiting.Take()
		if l.on.level == 0 {
			list = append(list, l.slot)
			continue
		}
		c, err := l.on.child(load, l.slot, false)
		if err != nil {
			return nil, err
		}
		for _, s := range c.slots {
			waiting.Add(line{c, s})
		}
	}
	return list, nil
}

// line is a line of a page, with its page.
type line struct {
	on   *page
	slot format.Slot
}

// forget drops the pages that are as they were read or last written.
func (t *tombs) forget() {
	if t.top != nil && t.top.forget() {
		t.top = nil
	}
}

// forget reports whether nothing on a page or below it has changed. Of the pages below it drops
// those.
func (p *page) forget() bool {
	for index, c := range p.below {
		if c.forget() {
			delete(p.below, index)
		}
	}
	return !p.changed && len(p.below) == 0
}

// write calls put with the changed pages as objects, children before parents, and updates the root.
func (t *tombs) write(put func(format.Raw) error) error {
	if t.top == nil {
		if t.count == 0 {
			t.root = format.ID{}
		}
		return nil
	}
	err := t.top.write(put)
	t.root = t.top.stored
	return err
}

// write descends only to changed pages. The recursion is only as deep as the tree, which has few
// levels.
func (p *page) write(put func(format.Raw) error) error {
	if !p.changed {
		return nil
	}
	for i, s := range p.slots {
		if c := p.below[s.Place]; p.level > 0 && c != nil {
			if err := c.write(put); err != nil {
				return err
			}
			p.slots[i].ID = c.stored
		}
	}
	header, err := (&format.Page{Level: p.level, Slots: p.slots}).Encode()
	if err != nil {
		return err
	}
	raw := format.Raw{Header: header}
	p.changed = false
	if id := raw.ID(); id != p.stored {
		p.stored = id
		return put(raw)
	}
	return nil
}

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

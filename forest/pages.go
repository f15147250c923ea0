package forest

import (
	"container/heap"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// tombs is the list of tombstones, as the tree of pages of docs/format/forest.md. A page is read when something on it is asked for, and written when
// something on it has changed, so that to find, add or take away one costs a page a level.
type tombs struct {
	root  format.ID // the topmost page as stored; the zero ID when there is none
	count uint64
	top   *page // nil while it was not read, and when the list is empty
}

// page is a page that is in memory. Its lines are those that it would be written with, but for the ids of pages below it that have changed.
type page struct {
	level   int
	slots   []format.Slot
	below   map[uint64]*page // pages that are in memory too, by their index
	stored  format.ID        // what it was read or last written as; the zero ID for a new one
	changed bool
}

// topmost returns the topmost page, nil where the list is empty.
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

// child returns the page of a line. The caller says whether it stays in memory.
func (p *page) child(load Loader, s format.Slot, keep bool) (*page, error) {
	if c := p.below[s.Place]; c != nil {
		return c, nil
	}
	c, err := readPage(load, s.ID)
	if err != nil {
		return nil, err
	}
	if c.level != p.level-1 || c.slots[0].Place/format.FanOut != s.Place || c.total() != s.Count || c.newest() != s.Eviction {
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

// total is how many tombstones are on a page or below it.
func (p *page) total() uint64 {
	n := uint64(0)
	for _, s := range p.slots {
		n += s.Count
	}
	return n
}

// newest is the largest number of an eviction on a page or below it.
func (p *page) newest() uint64 {
	n := uint64(0)
	for _, s := range p.slots {
		n = max(n, s.Eviction)
	}
	return n
}

// line returns where the line of a place stands, or would.
func (p *page) line(place uint64) (at int, there bool) {
	return slices.BinarySearchFunc(p.slots, place, func(s format.Slot, place uint64) int {
		switch {
		case s.Place < place:
			return -1
		case s.Place > place:
			return 1
		}
		return 0
	})
}

// set puts a line into its place.
func (p *page) set(s format.Slot) {
	p.changed = true
	if at, there := p.line(s.Place); there {
		p.slots[at] = s
	} else {
		p.slots = slices.Insert(p.slots, at, s)
	}
}

// indexAt returns the place of the line, on a page of a level, under which a cluster's number stands.
func indexAt(number uint64, level int) uint64 {
	for range level {
		number /= format.FanOut
	}
	return number
}

// reaches reports whether page 0 of a level reaches over a cluster's number.
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

// way returns the pages from the topmost down to the one on which a cluster's line stands or belongs. Those that are missing are made when wanted.
func (t *tombs) way(load Loader, number uint64, wanted bool) ([]*page, error) {
	p, err := t.topmost(load)
	if err != nil {
		return nil, err
	}
	way := []*page{p}
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
		way = append(way, p)
	}
	return way, nil
}

// add puts the tombstone of a cluster that has none into the list.
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
			above.slots = []format.Slot{{Count: t.top.total(), Eviction: t.top.newest(), ID: t.top.stored}}
			above.keep(0, t.top)
		}
		t.top = above
	}
	way, err := t.way(load, number, true)
	if err != nil {
		return err
	}
	last := way[len(way)-1]
	if _, there := last.line(number); there {
		return fmt.Errorf("cluster %d has a tombstone", number)
	}
	last.set(format.Slot{Place: number, Eviction: eviction, Count: 1, ID: id})
	t.renew(way, number)
	t.count++
	return nil
}

// remove takes the tombstone of a cluster out of the list.
func (t *tombs) remove(load Loader, number uint64) error {
	way, err := t.way(load, number, false)
	if err != nil {
		return err
	}
	last := way[len(way)-1]
	at, there := last.line(number)
	if !there {
		return fmt.Errorf("cluster %d has no tombstone", number)
	}
	last.slots, last.changed = slices.Delete(last.slots, at, at+1), true
	t.renew(way, number)
	t.count--
	return t.lower(load)
}

// renew brings the lines above a changed page up to date, from below. A page without lines goes.
func (t *tombs) renew(way []*page, number uint64) {
	for i := len(way) - 1; i > 0; i-- {
		c, p := way[i], way[i-1]
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

// lower makes the topmost page one of the lowest level that reaches over the whole list.
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

// each calls visit for every line of level 0, by the number of its cluster. What it reads does not stay in memory.
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

// newest returns the n lines of level 0 with the newest evictions, the newest first.
func (t *tombs) newest(load Loader, n int) ([]format.Slot, error) {
	top, err := t.topmost(load)
	if err != nil || top == nil || n <= 0 {
		return nil, err
	}
	var list []format.Slot
	waiting := linesOf(top)
	for len(waiting) > 0 && len(list) < n {
		l := heap.Pop(&waiting).(line)
		if l.on.level == 0 {
			list = append(list, l.slot)
			continue
		}
		c, err := l.on.child(load, l.slot, false)
		if err != nil {
			return nil, err
		}
		for _, more := range linesOf(c) {
			heap.Push(&waiting, more)
		}
	}
	return list, nil
}

// line is a line of a page, to be looked at.
type line struct {
	on   *page
	slot format.Slot
}

// lines is a heap, the newest eviction at the top. The numbers below two lines are never the same.
type lines []line

func linesOf(p *page) lines {
	list := make(lines, len(p.slots))
	for i, s := range p.slots {
		list[i] = line{p, s}
	}
	heap.Init(&list)
	return list
}

func (l lines) Len() int           { return len(l) }
func (l lines) Less(i, j int) bool { return l[i].slot.Eviction > l[j].slot.Eviction }
func (l lines) Swap(i, j int)      { l[i], l[j] = l[j], l[i] }
func (l *lines) Push(x any)        { *l = append(*l, x.(line)) }
func (l *lines) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}

// write makes objects of the pages that have changed, those below first, and gives the list its new root.
func (t *tombs) write() ([]format.Raw, error) {
	if t.top == nil {
		if t.count == 0 {
			t.root = format.ID{}
		}
		return nil, nil
	}
	var out []format.Raw
	err := t.top.write(&out)
	t.root = t.top.stored
	return out, err
}

// write goes down only where something has changed; the pages lie a few levels deep at most.
func (p *page) write(out *[]format.Raw) error {
	if !p.changed {
		return nil
	}
	for i, s := range p.slots {
		if c := p.below[s.Place]; p.level > 0 && c != nil {
			if err := c.write(out); err != nil {
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
	if id := raw.ID(); id != p.stored {
		*out, p.stored = append(*out, raw), id
	}
	p.changed = false
	return nil
}

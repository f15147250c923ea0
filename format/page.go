package format

import (
	"errors"
	"fmt"
)

// Page is one page of a forest's list of tombstones, which is a tree over the numbers of clusters.
// Page i of level 0 holds the tombstones of the clusters 256i to 256i+255. Page i of level n holds
// those pages 256i to 256i+255 of level n-1 that are not empty. docs/format/forest.md describes its
// header.
type Page struct {
	Level int
	Slots []Slot // sorted by Place
}

// Slot is one line of a page. On level 0 it is the tombstone of one cluster. On a higher level it
// is a page of the level below.
type Slot struct {
	Place    uint64 // level 0: the number of the cluster; else the index of the page
	Eviction uint64 // level 0: the number of the eviction; else the largest one below
	Count    uint64 // number of tombstones below; 1 on level 0, where it is not written
	ID       ID
}

const pageVersion = 1

// Encode returns the page's header.
func (p *Page) Encode() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	w := newHeader("page", pageVersion)
	w.number("level", uint64(p.Level))
	for _, s := range p.Slots {
		if p.Level == 0 {
			w.line("tombstone", fmt.Sprint(s.Place), fmt.Sprint(s.Eviction), w.id(s.ID))
		} else {
			w.line("page", fmt.Sprint(s.Place), fmt.Sprint(s.Eviction),
				fmt.Sprint(s.Count), w.id(s.ID))
		}
	}
	return w.bytes()
}

// DecodePage reads a page's header.
func DecodePage(b []byte) (*Page, error) {
	r, err := readHeader(b, "page", pageVersion)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	level := r.uint(r.must("level", 1)[0])
	if r.err == nil && level > maxLevel {
		r.fail(fmt.Errorf("level %d, %d is the most", level, maxLevel))
	}
	p := &Page{Level: int(level), Slots: make([]Slot, 0, min(r.count(), FanOut))}
	for {
		s, ok := readSlot(&r, p.Level)
		if !ok {
			break
		}
		p.Slots = append(p.Slots, s)
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return p, nil
}

func readSlot(r *headerReader, level int) (Slot, bool) {
	if level == 0 {
		f, ok := r.take("tombstone", 3)
		if !ok {
			return Slot{}, false
		}
		return Slot{Place: r.uint(f[0]), Eviction: r.uint(f[1]), Count: 1, ID: r.id(f[2])}, true
	}
	f, ok := r.take("page", 4)
	if !ok {
		return Slot{}, false
	}
	return Slot{Place: r.uint(f[0]), Eviction: r.uint(f[1]), Count: r.uint(f[2]), ID: r.id(f[3])},
		true
}

func (p *Page) check() error {
	if p.Level < 0 || p.Level > maxLevel {
		return fmt.Errorf("level %d, %d is the most", p.Level, maxLevel)
	}
	if len(p.Slots) == 0 || len(p.Slots) > FanOut {
		return fmt.Errorf("%d lines, not 1 to %d", len(p.Slots), FanOut)
	}
	most := uint64(1) // tombstones below a line
	if p.Level > 0 {
		most = full(p.Level - 1)
	}
	for i, s := range p.Slots {
		if i > 0 && s.Place <= p.Slots[i-1].Place {
			return errors.New("lines are not in ascending order")
		}
		if s.Place/FanOut != p.Slots[0].Place/FanOut {
			return errors.New("lines of two pages in one")
		}
		if s.Count == 0 || s.Count > most {
			return fmt.Errorf("line %d: %d tombstones below, not 1 to %d", s.Place, s.Count, most)
		}
		// Every eviction has its own number, counted from 0, so the newest of Count evictions has
		// at least the number Count-1.
		if s.Eviction < s.Count-1 {
			return fmt.Errorf("line %d: eviction %d is the newest of %d", s.Place,
				s.Eviction, s.Count)
		}
	}
	return nil
}

// Links returns the slots: tombstones at level 0, pages above.
func (p *Page) Links() []Link {
	want := PageKind
	if p.Level == 0 {
		want = TombstoneKind
	}
	list := make([]Link, len(p.Slots))
	for i, s := range p.Slots {
		list[i] = Link{s.ID, want}
	}
	return links(list...)
}

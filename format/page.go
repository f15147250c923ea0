package format

import (
	"errors"
	"fmt"
)

// Page is a piece of a forest's list of tombstones, which is kept by the numbers of clusters: page i of level 0 holds the clusters
// 256i to 256i+255 that are evicted, page i of level n the pages 256i to 256i+255 of the level below that hold anything.
// docs/format/forest.md is its page.
type Page struct {
	Level int
	Slots []Slot // by Place, ascending
}

// Slot is a line of a page: on level 0 a cluster's number, the number of its eviction and its tombstone; above, the index of a page,
// the largest number of an eviction below it, how many tombstones are there, and its id.
type Slot struct {
	Place    uint64 // cluster number, or page index
	Eviction uint64 // its number, or the newest below
	Count    uint64 // tombstones below; 1 on level 0, where it is not written
	ID       ID
}

// pageVersion is 2: version 1 kept the list by the numbers of evictions, and was never released.
const pageVersion = 2

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
			w.line("page", fmt.Sprint(s.Place), fmt.Sprint(s.Eviction), fmt.Sprint(s.Count), w.id(s.ID))
		}
	}
	b, err := w.bytes()
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return b, nil
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
	p := &Page{Level: int(level)}
	for {
		s, ok := readSlot(r, p.Level)
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
	return Slot{Place: r.uint(f[0]), Eviction: r.uint(f[1]), Count: r.uint(f[2]), ID: r.id(f[3])}, true
}

func (p *Page) check() error {
	if p.Level < 0 || p.Level > maxLevel {
		return fmt.Errorf("level %d, %d is the most", p.Level, maxLevel)
	}
	if len(p.Slots) == 0 || len(p.Slots) > FanOut {
		return fmt.Errorf("%d lines, 1 to %d belong", len(p.Slots), FanOut)
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
			return fmt.Errorf("line %d: %d tombstones below, 1 to %d belong", s.Place, s.Count, most)
		}
		// Every eviction has a number of its own, and the newest of so many is not among the first ones.
		if s.Eviction < s.Count-1 {
			return fmt.Errorf("line %d: eviction %d is the newest of %d", s.Place, s.Eviction, s.Count)
		}
	}
	return nil
}

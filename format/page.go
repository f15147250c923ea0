package format

import (
	"errors"
	"fmt"
)

// Page is a piece of a forest's list of tombstones. A tombstone's place is its eviction number: page i of level 0 holds the
// numbers 256i to 256i+255 that are still evicted, page i of level n the pages 256i to 256i+255 of the level below that hold
// anything. docs/format/forest.md is its page.
type Page struct {
	Level int
	Slots []Slot // by Place, ascending
}

// Slot is a line of a page: on level 0 an eviction number, the cluster's number and its tombstone; above, the index of a page, the
// tombstones below it and its id.
type Slot struct {
	Place  uint64 // eviction number, or page index
	Number uint64 // cluster number, or how many tombstones are below
	ID     ID
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
		w.line(slotKey(p.Level), fmt.Sprint(s.Place), fmt.Sprint(s.Number), w.id(s.ID))
	}
	b, err := w.bytes()
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return b, nil
}

func slotKey(level int) string {
	if level == 0 {
		return "tombstone"
	}
	return "page"
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
		f, ok := r.take(slotKey(p.Level), 3)
		if !ok {
			break
		}
		p.Slots = append(p.Slots, Slot{Place: r.uint(f[0]), Number: r.uint(f[1]), ID: r.id(f[2])})
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	return p, nil
}

func (p *Page) check() error {
	if p.Level < 0 || p.Level > maxLevel {
		return fmt.Errorf("level %d, %d is the most", p.Level, maxLevel)
	}
	if len(p.Slots) == 0 || len(p.Slots) > FanOut {
		return fmt.Errorf("%d lines, 1 to %d belong", len(p.Slots), FanOut)
	}
	for i, s := range p.Slots {
		if i > 0 && s.Place <= p.Slots[i-1].Place {
			return errors.New("lines are not in ascending order")
		}
		if s.Place/FanOut != p.Slots[0].Place/FanOut {
			return errors.New("lines of two pages in one")
		}
		if p.Level > 0 && (s.Number == 0 || s.Number > full(p.Level-1)) {
			return fmt.Errorf("page %d: %d tombstones below, 1 to %d belong", s.Place, s.Number, full(p.Level-1))
		}
	}
	return nil
}

package format

import (
	"errors"
	"fmt"

	"github.com/gemini-ctx/ctx/internal/lists"
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
	return encode("page", pageVersion, p)
}

// DecodePage reads a page's header.
func DecodePage(b []byte) (*Page, error) { return decode(b, "page", pageVersion, &Page{}) }

func (p *Page) lines(c *Lines) {
	if c.Must("level").level(&p.Level); p.Level > 0 {
		Each(c, "page", &p.Slots, func(c *Lines, s *Slot) *Lines {
			return c.Number(&s.Place).Number(&s.Eviction).Number(&s.Count).ID(&s.ID)
		})
		return
	}
	Each(c, "tombstone", &p.Slots, func(c *Lines, s *Slot) *Lines {
		if c.Reads() {
			s.Count = 1
		}
		return c.Number(&s.Place).Number(&s.Eviction).ID(&s.ID)
	})
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
	return links(lists.Map(p.Slots, func(s Slot) Link { return Link{s.ID, want} })...)
}

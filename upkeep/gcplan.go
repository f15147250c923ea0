package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// plan decides which packs are replaced and what goes into the new one.
func (c *collector) plan(context.Context) error {
	c.report.Before = c.inv.size()
	c.report.After = c.report.Before
	whole, err := c.keepPacks()
	if err != nil {
		return err
	}
	c.choosePacks(whole)
	c.chooseObjects()
	c.count()
	return nil
}

// holdings is what a pack holds, by what becomes of it.
type holdings struct{ reached, spared, garbage int }

func (c *collector) holdings(p *packPlace) (h holdings) {
	for _, i := range p.numbers {
		switch marks := c.graph.marks[i]; {
		case marks&reached != 0:
			h.reached++
		case marks&spared != 0:
			h.spared++
		default:
			h.garbage++
		}
	}
	return h
}

// keepPacks returns the packs that may be replaced. A pack that holds something which stays only for its age is left as it is, with all
// its garbage: written anew, that would be young again. What stays keeps what it stands on, which may be in yet another pack.
func (c *collector) keepPacks() ([]*packPlace, error) {
	rest := slices.Clone(c.inv.packs)
	for again := true; again; {
		again = false
		var next []*packPlace
		for _, p := range rest {
			h := c.holdings(p)
			little := c.o.Auto && h.garbage*autoShare < len(p.numbers)
			if h.spared == 0 && (h.garbage == 0 || !little) {
				next = append(next, p)
				continue
			}
			again = again || h.garbage > 0
			if err := c.sparePack(p); err != nil {
				return nil, err
			}
		}
		rest = next
	}
	return rest, nil
}

// autoShare is which part of a pack has to be garbage for gc --auto to write it again: an eighth. A pack of a million objects is not worth
// writing again for a few; gc without --auto does it for one.
const autoShare = 8

func (c *collector) sparePack(p *packPlace) error {
	for _, i := range p.numbers {
		if c.graph.marks[i]&(reached|spared) == 0 {
			if err := c.spare(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// choosePacks takes those with garbage, and of the others the small ones when they have become many: after it, each pack is at least
// twice as large as all smaller ones together, so that there are few, and an object is written again seldom.
func (c *collector) choosePacks(packs []*packPlace) {
	var clean []*packPlace
	sum := c.looseToPack()
	for _, p := range packs {
		if h := c.holdings(p); h.garbage > 0 || c.o.Best {
			c.away = append(c.away, p)
			sum += h.reached
		} else {
			clean = append(clean, p)
		}
	}
	slices.SortFunc(clean, func(a, b *packPlace) int {
		return cmp.Or(cmp.Compare(len(a.numbers), len(b.numbers)), a.id.Compare(b.id))
	})
	merge := 0
	for i, p := range clean {
		if len(p.numbers) < 2*sum {
			merge = i + 1
		}
		sum += len(p.numbers)
	}
	c.away = append(c.away, clean[:merge]...)
}

// looseToPack counts the reachable objects that are loose and in no pack.
func (c *collector) looseToPack() (n int) {
	c.setMark(packed, c.inv.packs)
	for _, l := range c.inv.loose {
		if i, ok := c.graph.find(l.id); ok && c.graph.marks[i]&(reached|packed) == reached {
			n++
		}
	}
	c.clearMark(packed)
	return n
}

func (c *collector) setMark(m mark, packs []*packPlace) {
	for _, p := range packs {
		for _, i := range p.numbers {
			c.graph.marks[i] |= m
		}
	}
}

func (c *collector) clearMark(m mark) {
	for i := range c.graph.marks {
		c.graph.marks[i] &^= m
	}
}

// chooseObjects lists what the new pack gets: what is reachable in the packs that go, and what is loose and in no pack that stays. The
// order is the reverse of that in which it was met: oldest first, so that neighbours in time share a block.
func (c *collector) chooseObjects() {
	staying := slices.DeleteFunc(slices.Clone(c.inv.packs), func(p *packPlace) bool { return slices.Contains(c.away, p) })
	c.setMark(packed, staying)
	c.setMark(taken, c.away)
	marks := c.graph.marks
	for _, l := range c.inv.loose {
		if i, ok := c.graph.find(l.id); ok && marks[i]&packed == 0 {
			marks[i] |= taken
		}
	}
	for i := range marks {
		if marks[i]&reached == 0 {
			marks[i] &^= taken
		}
	}
	for _, i := range slices.Backward(c.order) {
		if marks[i]&taken != 0 {
			c.toPack = append(c.toPack, i)
		}
	}
}

func (c *collector) count() {
	c.report.Packed = len(c.toPack)
	for i := range c.graph.objects {
		if c.graph.marks[i]&(reached|spared) != 0 {
			c.report.Kept++
		}
	}
	if !c.o.DryRun {
		return
	}
	for _, l := range c.inv.loose {
		if !c.stays(l.id) {
			c.report.PrunedLoose++
		} else if i, ok := c.graph.find(l.id); ok && c.graph.marks[i]&reached != 0 {
			c.report.Unloosed++
		}
	}
	for _, p := range c.away {
		c.report.PrunedPacked += c.holdings(p).garbage
	}
}

// pack writes the new pack, and checks it by reading it again before anything is removed on the strength of it.
func (c *collector) pack(ctx context.Context) error {
	if c.o.DryRun || len(c.toPack) == 0 {
		return nil
	}
	level := objects.Default
	if c.o.Best {
		level = objects.Best
	}
	info, err := c.s.Objects.WritePackWhen(c.raws(ctx), level, func(publish func() error) error { return c.unlessForgotten(ctx, publish) })
	if err != nil {
		return err
	}
	if info.Objects != len(c.toPack) {
		return fmt.Errorf("pack %v has %d objects, %d belong", info.ID, info.Objects, len(c.toPack))
	}
	if err := c.s.Objects.CheckPack(info.ID); err != nil {
		return err
	}
	c.fresh = info.ID
	return nil
}

// raws reads the objects for the new pack. One that was forgotten is its header alone.
func (c *collector) raws(ctx context.Context) func(func(format.Raw, error) bool) {
	return func(yield func(format.Raw, error) bool) {
		for n, i := range c.toPack {
			raw, err := c.s.Objects.Get(c.graph.objects[i].id)
			var gone *objects.GoneError
			if errors.As(err, &gone) {
				raw.Body, err = nil, nil
			}
			if id := c.graph.objects[i].id; err == nil && raw.Body != nil && c.absent[id] {
				var forgotten bool // a forget could not take it out of a damaged file
				if forgotten, err = c.s.Objects.Forgotten(id); forgotten {
					raw.Body = nil
				}
			}
			if n%4096 == 0 {
				c.o.Progress.tell(n, len(c.toPack), "packing")
				err = errors.Join(err, ctx.Err())
			}
			if !yield(raw, err) {
				return
			}
		}
		c.o.Progress.tell(len(c.toPack), len(c.toPack), "packing")
	}
}

// unlessForgotten gives the new pack its name, under the lock and only if nothing in it was forgotten since gc began: its body may be in there, and
// whoever forgot it was told that it is nowhere.
func (c *collector) unlessForgotten(ctx context.Context, publish func() error) error {
	held, err := c.s.Lock(ctx)
	if err != nil {
		return err
	}
	now, err := absentIDs(c.s)
	for _, i := range c.toPack {
		if id := c.graph.objects[i].id; err == nil && now[id] && !c.absent[id] {
			err = ErrForgot
		}
	}
	if err == nil {
		err = publish()
	}
	return errors.Join(err, held.Release())
}

package upkeep

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
)

// batch is how many objects are removed under one hold of the lock: some 256 file removals, a few milliseconds.
const batch = 256

// sweep removes, in batches under the lock: loose copies of what is packed, loose objects that nothing names, packs that were replaced.
func (c *collector) sweep(ctx context.Context) error {
	if c.o.DryRun {
		return nil
	}
	for _, step := range []func(context.Context) error{c.unloose, c.pruneLoose, c.removePacks} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	var err error
	c.report.After, err = objectBytes(c.s)
	return err
}

// locked runs do under the lock, after what was committed since the marking is marked too. Most of that is done before the lock is taken.
func (c *collector) locked(ctx context.Context, do func(*lock.Held) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.catchUp(); err != nil {
		return err
	}
	held, err := c.s.Lock(ctx)
	if err != nil {
		return err
	}
	if err = c.catchUp(); err == nil {
		err = do(held)
	}
	return errors.Join(err, held.Release())
}

// catchUp marks what operations after the last one seen name, what refs name now, and what packs hold that came since.
func (c *collector) catchUp() error {
	view, err := c.s.Refs.Read()
	if err != nil {
		return err
	}
	if view.Number > c.seen {
		roots := rootsOfRefs(view.All())
		err := c.s.Refs.Backward(view, func(r refs.Record) bool {
			if r.Op.Number <= c.seen {
				return false
			}
			roots = append(roots, rootsOfRecord(r.Op)...)
			return true
		})
		if err != nil {
			return err
		}
		if err := c.markRoots(roots); err != nil {
			return err
		}
		c.seen = view.Number
	}
	return c.catchUpPacks()
}

// catchUpPacks spares what packs that others wrote meanwhile stand on.
func (c *collector) catchUpPacks() error {
	names, err := packNames(c.s, ".idx")
	if err != nil {
		return err
	}
	for _, id := range names {
		if c.known[id] || id == c.fresh {
			continue
		}
		p, err := readPack(c.s, id)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		c.known[id] = true
		for _, id := range p.ids {
			if i, err := c.graph.meet(id); err == nil && c.graph.marks[i]&reached == 0 {
				if err := c.spare(i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unloose removes the loose copies of reachable objects that a pack has whole. RemoveLoose looks into the pack for each.
func (c *collector) unloose(ctx context.Context) error {
	var ids []format.ID
	for _, l := range c.inv.loose {
		if i, ok := c.graph.find(l.id); ok && c.graph.marks[i]&reached != 0 {
			ids = append(ids, l.id)
		}
	}
	for part := range slices.Chunk(ids, batch) {
		err := c.locked(ctx, func(held *lock.Held) error {
			n, err := c.s.Objects.RemoveLoose(held, part, anyTime)
			c.report.Unloosed += n
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pruneLoose removes loose objects that nothing leads to, each before what it names: whatever is left at any time has below it
// what it stood on.
func (c *collector) pruneLoose(ctx context.Context) error {
	garbage := map[format.ID]bool{}
	for _, l := range c.inv.loose {
		if !c.stays(l.id) {
			garbage[l.id] = true
		}
	}
	for part := range slices.Chunk(c.fromTheTop(garbage), batch) {
		err := c.locked(ctx, func(held *lock.Held) error {
			if err := c.spareRenewed(part); err != nil {
				return err
			}
			part = slices.DeleteFunc(part, c.stays)
			n, err := c.s.Objects.PruneLoose(held, part, c.cutoff())
			c.report.PrunedLoose += n
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// spareRenewed spares those that somebody has put again since they were listed.
func (c *collector) spareRenewed(ids []format.ID) error {
	for _, id := range ids {
		info, err := os.Lstat(loosePath(c.s, id))
		if err != nil || info.ModTime().Before(c.cutoff()) {
			continue
		}
		if i, ok := c.graph.find(id); ok {
			if err := c.spare(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// fromTheTop orders objects so that each comes before what it leads to.
func (c *collector) fromTheTop(garbage map[format.ID]bool) []format.ID {
	g := c.graph
	var order []format.ID
	type step struct {
		i    uint32
		done bool
	}
	for n := range g.objects {
		if !garbage[g.objects[n].id] {
			continue
		}
		stack := []step{{uint32(n), false}}
		for len(stack) > 0 {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.done {
				if garbage[g.objects[top.i].id] {
					order = append(order, g.objects[top.i].id)
				}
				continue
			}
			if g.marks[top.i]&(visited|reached|spared) != 0 {
				continue
			}
			g.marks[top.i] |= visited
			stack = append(stack, step{top.i, true})
			for _, e := range g.below(top.i) {
				stack = append(stack, step{e.to(), false})
			}
		}
	}
	slices.Reverse(order)
	return order
}

// removePacks removes the packs that the new one replaces, each if nothing in it has been named or put again meanwhile.
func (c *collector) removePacks(ctx context.Context) error {
	for _, p := range c.away {
		if p.id == c.fresh {
			continue // written again, it came out the same
		}
		ok, moves := c.replaced(p), c.moves
		err := c.locked(ctx, func(held *lock.Held) error {
			if moves != c.moves {
				ok = c.replaced(p)
			}
			if !ok || !c.asItWas(p) {
				return nil
			}
			garbage := c.holdings(p).garbage
			err := c.s.Objects.RemovePack(held, p.id)
			if err == nil {
				c.report.PrunedPacked += garbage
			}
			return err
		})
		if lock.InUse(err) {
			continue // a reader has it open: it is there as a whole, or hidden, until the next gc
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaced reports whether all that stays of a pack is in the new one.
func (c *collector) replaced(p *packPlace) bool {
	for _, i := range p.numbers {
		if marks := c.graph.marks[i]; marks&(reached|spared) != 0 && marks&taken == 0 {
			return false
		}
	}
	return true
}

// asItWas reports whether nobody has put the pack again since it was listed, and the new one is still there: another gc can have merged
// it into yet another by now.
func (c *collector) asItWas(p *packPlace) bool {
	info, err := os.Stat(p.path)
	if err != nil || !info.ModTime().Equal(p.time) {
		return false
	}
	if c.fresh.IsZero() {
		return len(c.toPack) == 0
	}
	_, err = os.Stat(indexPath(c.s, c.fresh))
	return err == nil
}

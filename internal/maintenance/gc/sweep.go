package gc

import (
	"context"
	"errors"
	"os"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/storedir"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// sweep removes the packs that the new one replaces.
func (c *collector) sweep(ctx context.Context) error {
	if c.o.DryRun {
		return nil
	}
	if err := c.removePacks(ctx); err != nil {
		return err
	}
	var err error
	c.report.After, err = objectBytes(c.s)
	return err
}

// locked runs do under the lock, after it has marked what was committed since. It does most of
// the marking before it takes the lock.
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

// catchUp marks the objects that operations after the last one seen name, that refs name now, and
// that packs written since hold.
func (c *collector) catchUp() error {
	view, err := c.s.Refs.Read()
	if err != nil {
		return err
	}
	if view.Number > c.seen {
		roots := graph.RootsOfRefs(view.All())
		err := c.s.Refs.Backward(view, func(r refs.Record) bool {
			if r.Op.Number <= c.seen {
				return false
			}
			roots = append(roots, graph.RootsOfRecord(r.Op)...)
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

// catchUpPacks spares everything below the objects of packs that others wrote meanwhile, or wrote
// again: of a pack that was there already, that renews the time.
func (c *collector) catchUpPacks() error {
	for _, p := range c.replacedPacks {
		info, err := os.Stat(p.Path)
		if err == nil && !info.ModTime().Equal(p.Time) {
			if err := c.sparePack(p); err != nil {
				return err
			}
		}
	}
	names, err := c.s.Objects.PackNames(objects.IndexExt)
	if err != nil {
		return err
	}
	for _, id := range names {
		if c.known[id] || id == c.newPack {
			continue
		}
		p, err := c.s.Objects.PackContents(id)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		c.known[id] = true
		for _, id := range p.IDs {
			if i, err := c.graph.Meet(id); err == nil && c.graph.Marks[i]&graph.Reached == 0 {
				if err := c.spare(i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// removePacks removes the packs that the new one replaces, each if nothing in it has been named or
// put again meanwhile.
func (c *collector) removePacks(ctx context.Context) error {
	for _, p := range c.replacedPacks {
		if p.ID == c.newPack {
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
			err := c.s.Objects.RemovePack(held, p.ID)
			if err == nil {
				c.report.Pruned += garbage
			}
			return err
		})
		if durable.InUse(err) {
			continue // a reader has it open: it is there as a whole, or hidden, until the next gc
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replaced reports whether all that stays of a pack is in the new one.
func (c *collector) replaced(p *graph.PackPlace) bool {
	for _, i := range p.Numbers {
		if marks := c.graph.Marks[i]; marks&(graph.Reached|spared) != 0 && marks&taken == 0 {
			return false
		}
	}
	return true
}

// asItWas reports whether nobody has put the pack again since it was listed, and the new pack is
// still there: another gc may have merged it into yet another.
func (c *collector) asItWas(p *graph.PackPlace) bool {
	info, err := os.Stat(p.Path)
	if err != nil || !info.ModTime().Equal(p.Time) {
		return false
	}
	if c.newPack.IsZero() {
		return c.report.Packed == 0
	}
	_, err = os.Stat(c.s.Objects.IndexPath(c.newPack))
	return err == nil
}

// sweepTemp removes what writes left behind that were cut short, in the store's folders and beside
// the store.
func (c *collector) sweepTemp(context.Context) error {
	old := c.now.Add(-storedir.Leftover)
	left, err := storedir.Leftovers(c.s, old)
	if err != nil {
		return err
	}
	c.report.Temp = len(left)
	if c.o.DryRun {
		return nil
	}
	for _, path := range left {
		if err := storedir.RemoveTree(c.s.FS, path); err != nil {
			return err
		}
	}
	return nil
}

// dropAnswers removes answers of workers that were refused before the grace period, and would be
// again.
func (c *collector) dropAnswers(context.Context) error {
	view, err := c.s.Refs.Read()
	if err == nil {
		c.report.Answers, err = c.s.Store.DropStale(view, c.cutoff(), c.o.DryRun)
	}
	return err
}

// objectBytes returns how many bytes the objects of a store take now.
func objectBytes(s *store.Opened) (n int64, err error) {
	packs, err := s.Objects.Packs()
	for _, p := range packs {
		n += p.Size
	}
	return n, err
}

package gc

import (
	"context"
	"errors"
	"math"
	"os"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
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
	packs, err := c.s.Objects.Packs()
	c.report.After = 0
	for _, p := range packs {
		c.report.After += p.Size
	}
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
	old := c.now.Add(-store.Leftover)
	left, err := store.Leftovers(c.s, old)
	if err != nil {
		return err
	}
	c.report.Temp = len(left)
	if c.o.DryRun {
		return nil
	}
	for _, path := range left {
		if err := store.RemoveTree(c.s.FS, path); err != nil {
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

// dropLog drops the log up to the newest operation older than log.keep at which the log can
// begin. Replay then starts from the forests of that operation. They were derived so far and may
// be missing, so dropLog first makes them again.
func (c *collector) dropLog(ctx context.Context) error {
	base, err := c.s.Refs.Base()
	if err != nil {
		return err
	}
	first, ok, err := c.s.Refs.CanBegin(c.now.Add(-c.s.Config.Log.Keep))
	if err != nil {
		return err
	}
	if !ok || first.Op.Number <= base.Number {
		return c.dropOutlived(ctx, base)
	}
	c.dropTo = first.Op.Number
	names := graph.RefsOf(base)
	err = c.s.Refs.Forward(func(r refs.Record) bool {
		graph.ApplyRefs(names, r.Op)
		return r.Op.Number < c.dropTo
	})
	if err != nil {
		return err
	}
	c.report.Segments = int(first.Segment - base.Segment)
	if c.o.DryRun {
		return nil
	}
	if err := c.keepForests(ctx, graph.RefsOf(base), names); err != nil {
		return err
	}
	held, err := c.s.Lock(ctx)
	if err != nil {
		return err
	}
	c.report.Segments, err = c.s.Refs.DropTo(held, c.dropTo)
	return errors.Join(err, held.Release())
}

// dropOutlived removes what a drop that was cut short left of the log.
func (c *collector) dropOutlived(ctx context.Context, base *format.Checkpoint) error {
	if there, err := c.s.Refs.Outlived(base); err != nil || !there || c.o.DryRun {
		return err
	}
	held, err := c.s.Lock(ctx)
	if err != nil {
		return err
	}
	_, err = c.s.Refs.DropTo(held, base.Number)
	return errors.Join(err, held.Release())
}

// keepForests replays the log up to the new base and stores its forests whole. It also puts
// objects that are stored already: that renews their times, so that another gc that is running
// spares them.
func (c *collector) keepForests(
	ctx context.Context, base, names map[string]format.Value,
) error {
	wanted := map[format.ID]bool{}
	for name, v := range names {
		if _, own := graph.OwnForest(name); own {
			wanted[v.ID] = true
		}
	}
	r, err := graph.New(c.s, base)
	if err != nil {
		return err
	}
	put := func(header []byte) error {
		f, err := format.DecodeForest(header)
		if err != nil {
			return err
		}
		raws, err := r.Below(f)
		if err != nil {
			return err
		}
		return c.s.Objects.Put(raws...)
	}
	for _, name := range graph.SortedNames(base) {
		if v := base[name]; wanted[v.ID] && names[name] == v {
			delete(wanted, v.ID) // it is the old base's too, and so is there
		}
	}
	r.Wanted = func(id format.ID) bool { return wanted[id] }
	r.Wrote = func(id format.ID, header []byte, _ *forest.State) error {
		if !wanted[id] {
			return nil
		}
		delete(wanted, id)
		return put(header)
	}
	if _, err := r.All(ctx, c.dropTo, c.o.Progress); err != nil {
		return err
	}
	if len(wanted) > 0 {
		return errors.New("the log does not give the forest that it names; run ctx fsck")
	}
	return nil
}

// closeFrom is how many bytes the newest segment has when gc --auto closes it. A checkpoint comes
// with it, so that it is not done for a few records.
const closeFrom = 1 << 20

// closeLog closes the newest segment of the log if it has enough to gain: only closed segments are
// stored densely. It comes before gc looks at the objects, because it may write a forest.
func (c *collector) closeLog(ctx context.Context) error {
	from := c.logFrom()
	if c.o.Auto {
		from = max(from, closeFrom)
	}
	view, err := c.s.Refs.Read()
	if err != nil || c.o.DryRun || view.NewestSize() < from {
		return err
	}
	return c.s.Store.Locked(ctx, func(t *store.Tx) error {
		if t.View.NewestSize() < from {
			return nil // another gc has closed it
		}
		return t.CloseLog()
	})
}

// condense stores the closed segments of the log densely.
func (c *collector) condense(ctx context.Context) error {
	if c.o.DryRun {
		return nil
	}
	_, err := c.s.Refs.Condense(ctx, c.logFrom(), c.s.Lock)
	return err
}

// logFrom is how many bytes a segment has to have to be stored densely.
func (c *collector) logFrom() int64 {
	switch {
	case c.o.LogFrom > 0:
		return c.o.LogFrom
	case c.o.LogFrom < 0:
		return math.MaxInt64
	}
	return refs.DenseFrom
}

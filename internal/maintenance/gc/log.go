package gc

import (
	"context"
	"errors"
	"math"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/maintenance/replay"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/refs"
)

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
	r, err := replay.New(c.s, base)
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

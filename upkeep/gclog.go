package upkeep

import (
	"context"
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// dropLog lets go of the log up to the newest operation older than log.keep after which it can begin. From then on replay begins with the
// forests of that operation, which so far were derived and may be gone: they are made again first, and are truth from then on.
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
	names := refsOf(base)
	err = c.s.Refs.Forward(func(r refs.Record) bool {
		applyRefs(names, r.Op)
		return r.Op.Number < c.dropTo
	})
	if err != nil {
		return err
	}
	c.report.Segments = int(first.Segment - base.Segment)
	if c.o.DryRun {
		return nil
	}
	if err := c.keepForests(refsOf(base), names); err != nil {
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

// keepForests replays the log up to the new base and stores its forests whole. All of each is put, what is there as well: that renews its
// time, so that another gc that is under way spares it.
func (c *collector) keepForests(base, names map[string]format.Value) error {
	wanted := map[format.ID]bool{}
	for name, v := range names {
		if strings.HasPrefix(name, forestsPrefix) {
			wanted[v.ID] = true
		}
	}
	r, err := newReplay(c.s, base)
	if err != nil {
		return err
	}
	put := func(f *format.Forest) error {
		raws, err := r.below(f, true)
		if err != nil {
			return err
		}
		return c.s.Objects.Put(raws...)
	}
	for _, name := range sortedNames(base) {
		if v := base[name]; wanted[v.ID] && names[name] == v {
			delete(wanted, v.ID) // it is the old base's too, and so is there
		}
	}
	r.wanted = func(id format.ID) bool { return wanted[id] }
	r.wrote = func(f *format.Forest, id format.ID) error {
		if !wanted[id] {
			return nil
		}
		delete(wanted, id)
		return put(f)
	}
	if _, err := r.all(c.s, c.dropTo); err != nil {
		return err
	}
	if len(wanted) > 0 {
		return errors.New("the log does not give the forest that it names; run ctx fsck")
	}
	return nil
}

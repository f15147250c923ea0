package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
)

// plan chooses the packs to replace and the objects of the new pack.
func (c *collector) plan(context.Context) error {
	c.report.Before = c.inv.Size()
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

// holdings counts the objects of a pack by what happens to them.
type holdings struct{ reached, spared, garbage int }

func (c *collector) holdings(p *graph.PackPlace) (h holdings) {
	for _, i := range p.Numbers {
		switch marks := c.graph.Marks[i]; {
		case marks&graph.Reached != 0:
			h.reached++
		case marks&spared != 0:
			h.spared++
		default:
			h.garbage++
		}
	}
	return h
}

// keepPacks returns the packs that may be replaced. A pack with an object that is spared only for
// its age is left alone, garbage included: in a new pack the object would be young again, which
// only the best level takes into account. A pack that stays spares everything below its objects,
// and those may be in yet another pack.
func (c *collector) keepPacks() ([]*graph.PackPlace, error) {
	rest := slices.Clone(c.inv.Packs)
	for again := true; again; {
		again = false
		var next []*graph.PackPlace
		for _, p := range rest {
			h := c.holdings(p)
			little := c.o.Auto && h.garbage*autoShare < len(p.Numbers)
			if c.o.Best || h.spared == 0 && (h.garbage == 0 || !little) {
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

// autoShare is which part of a pack has to be garbage for gc --auto to write it again: an eighth.
// A pack of a million objects is not worth writing again for a few; gc without --auto does it for
// one.
const autoShare = 8

func (c *collector) sparePack(p *graph.PackPlace) error {
	for _, i := range p.Numbers {
		if c.graph.Marks[i]&(graph.Reached|spared) == 0 {
			if err := c.spare(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// choosePacks chooses the packs with garbage, and of the others the small ones once they are many.
// Afterwards each pack is at least twice as large as all smaller
// ones together: there are few packs, and an object is seldom written again.
func (c *collector) choosePacks(packs []*graph.PackPlace) {
	var clean []*graph.PackPlace
	sum := c.loggedToPack()
	for _, p := range packs {
		if h := c.holdings(p); h.garbage > 0 || c.o.Best {
			c.replacedPacks = append(c.replacedPacks, p)
			sum += h.reached + h.spared
		} else {
			clean = append(clean, p)
		}
	}
	slices.SortFunc(clean, func(a, b *graph.PackPlace) int {
		return cmp.Or(cmp.Compare(len(a.Numbers), len(b.Numbers)), a.ID.Compare(b.ID))
	})
	merge := 0
	for i, p := range clean {
		if len(p.Numbers) < 2*sum {
			merge = i + 1
		}
		sum += len(p.Numbers)
	}
	c.replacedPacks = append(c.replacedPacks, clean[:merge]...)
}

// loggedToPack counts the reachable objects that are in the log, and in no pack.
func (c *collector) loggedToPack() (n int) {
	c.setMark(packed, c.inv.Packs)
	for _, id := range c.inv.Logged {
		if i, ok := c.graph.Find(id); ok &&
			c.graph.Marks[i]&(graph.Reached|packed) == graph.Reached {
			n++
		}
	}
	c.graph.Clear(packed)
	return n
}

func (c *collector) setMark(m graph.Mark, packs []*graph.PackPlace) {
	for _, p := range packs {
		for _, i := range p.Numbers {
			c.graph.Marks[i] |= m
		}
	}
}

// chooseObjects lists the objects for the new pack: those in the packs that it replaces that are
// reachable or spared, and the reachable ones that are in the log and in no pack that stays. The
// order is the reverse of that in which the walk met them, oldest first, so that neighbours in time
// share a block; arrange then puts what was made of entries behind them.
func (c *collector) chooseObjects() {
	staying := slices.DeleteFunc(slices.Clone(c.inv.Packs),
		func(p *graph.PackPlace) bool { return slices.Contains(c.replacedPacks, p) })
	c.setMark(packed, staying)
	c.setMark(taken, c.replacedPacks)
	marks := c.graph.Marks
	for i := range marks {
		switch marks[i] & (graph.Reached | spared | taken) {
		case taken:
			marks[i] &^= taken
		case taken | spared:
			c.order = append(c.order, uint32(i)) // the walk from the names has not met it
		}
	}
	for _, id := range c.inv.Logged {
		if i, ok := c.graph.Find(id); ok && marks[i]&(packed|graph.Reached) == graph.Reached {
			marks[i] |= taken
		}
	}
	slices.Reverse(c.order)
	c.toPack = slices.DeleteFunc(c.order, func(i uint32) bool { return marks[i]&taken == 0 })
	c.order = nil
	c.arrange()
}

func (c *collector) count() {
	c.report.Packed = len(c.toPack)
	for _, marks := range c.graph.Marks {
		if marks&(graph.Reached|spared) != 0 {
			c.report.Kept++
		}
	}
	if !c.o.DryRun {
		return
	}
	for _, p := range c.replacedPacks {
		c.report.Pruned += c.holdings(p).garbage
	}
}

// pack writes the new pack, and reads it again before anything is removed because of it.
func (c *collector) pack(ctx context.Context) error {
	if c.o.DryRun || len(c.toPack) == 0 {
		return nil
	}
	c.graph.LetGo()
	if err := c.locate(); err != nil {
		return err
	}
	level := objects.Default
	if c.o.Best {
		level = objects.Best
	}
	info, err := c.s.Objects.WritePackWhen(c.raws(ctx), level,
		func(publish func() error) error { return c.unlessForgotten(ctx, publish) })
	if err != nil {
		return err
	}
	if info.Objects != c.report.Packed {
		return fmt.Errorf("pack %v has %d objects, %d belong", info.ID, info.Objects,
			c.report.Packed)
	}
	if err := c.s.Objects.Reread(info.ID); err != nil {
		return err
	}
	c.newPack = info.ID
	return nil
}

// locate puts into toPack, in place of each object, where it is: its place in the packs that are
// replaced, one behind the other, or for an object in none of them its number behind all these
// places.
func (c *collector) locate() error {
	places := make([]uint32, c.graph.Len()) // of each object, from 1 on; 0 for none
	n := uint64(0)
	for _, p := range c.replacedPacks {
		for _, i := range p.Numbers {
			n++
			places[i] = uint32(n)
		}
	}
	if n+uint64(len(places)) > math.MaxUint32 {
		return errors.New("too many objects")
	}
	for k, i := range c.toPack {
		if at := places[i]; at > 0 {
			c.toPack[k] = at - 1
		} else {
			c.toPack[k] = uint32(n) + i
		}
	}
	return nil
}

// unload writes the log without the objects that it carries. The new pack has those that were there
// when gc began; those that came since go into a pack of their own.
func (c *collector) unload(ctx context.Context) error {
	view, err := c.s.Refs.Read()
	if err != nil || c.o.DryRun || len(view.Carried()) == 0 {
		return err
	}
	return c.s.Store.Locked(ctx, func(t *store.Tx) error { return t.UnloadLog() })
}

// raws reads the objects for the new pack, some ahead of the one that is being packed. A forgotten
// object is its header alone.
func (c *collector) raws(ctx context.Context) func(func(format.Raw, error) bool) {
	type read struct {
		raw format.Raw
		err error
	}
	return func(yield func(format.Raw, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		runs := make(chan []read, 1)
		total := len(c.toPack)
		defer func() { // the reader has ended when this returns
			stop()
			for range runs {
			}
			c.toPack = nil
		}()
		go func() {
			defer close(runs)
			for at := 0; at < len(c.toPack); {
				var run []read
				for size := 0; at < len(c.toPack) && len(run) < readAhead &&
					size < readAheadBytes; at++ {
					raw, err := c.raw(c.toPack[at])
					run = append(run, read{raw, err})
					size += len(raw.Header) + len(raw.Body)
				}
				select {
				case runs <- run:
				case <-ctx.Done():
					return
				}
			}
		}()
		n := 0
		for run := range runs {
			for _, r := range run {
				if n%4096 == 0 {
					c.o.Progress.Tell(n, total, "packing")
					r.err = errors.Join(r.err, ctx.Err())
				}
				if n++; !yield(r.raw, r.err) {
					return
				}
			}
		}
		if err := ctx.Err(); err != nil && n < total {
			yield(format.Raw{}, err)
			return
		}
		c.o.Progress.Tell(total, total, "packing")
	}
}

// How much is read ahead at a time.
const (
	readAhead      = 64
	readAheadBytes = 256 << 10
)

// get reads the object at a place that locate has noted.
func (c *collector) get(place uint32) (format.ID, format.Raw, error) {
	for _, p := range c.replacedPacks {
		if n := uint32(len(p.Numbers)); place >= n {
			place -= n
			continue
		}
		id := c.graph.ID(p.Numbers[place])
		raw, err := c.s.Objects.GetAt(p.ID, place, id)
		return id, raw, err
	}
	id := c.graph.ID(place)
	raw, err := c.s.Objects.Get(id)
	return id, raw, err
}

func (c *collector) raw(place uint32) (format.Raw, error) {
	id, raw, err := c.get(place)
	if objects.IsGone(err) {
		raw.Body, err = nil, nil
	}
	if err == nil && raw.Body != nil && c.absent[id] {
		var forgotten bool // a forget could not take it out of a damaged file
		if forgotten, err = c.s.Objects.Forgotten(id); forgotten {
			raw.Body = nil
		}
	}
	return raw, err
}

// unlessForgotten publishes the new pack under the lock, unless one of its objects was forgotten
// since gc began: the pack may hold its body, and the user was told that the body is gone. The
// error is ErrForgot then.
func (c *collector) unlessForgotten(ctx context.Context, publish func() error) error {
	held, err := c.s.Lock(ctx)
	if err != nil {
		return err
	}
	now, err := absentIDs(c.s)
	for id := range now {
		i, there := c.graph.Find(id)
		if err == nil && !c.absent[id] && there && c.graph.Marks[i]&taken != 0 {
			err = graph.ErrForgot
		}
	}
	if err == nil {
		err = publish()
	}
	return errors.Join(err, held.Release())
}

// arrange puts the objects for the new pack into the order in which they compress best: the
// entries, behind each what was made of it and of older ones (nodes, then summaries, then
// tombstones), and the rest at the end. So a pack stores most summaries beside the entries that
// they quote.
func (c *collector) arrange() {
	if len(c.toPack) == 0 {
		return
	}
	last := c.lastEntries()
	var count [other + 1]int
	for _, i := range c.toPack {
		count[rankOf(c.graph.Kind(i))]++
	}
	entries, rest := make([]uint32, 0, count[entry]), make([]uint32, 0, count[other])
	derived := make([]uint32, 0, len(c.toPack)-count[entry]-count[other])
	for _, i := range c.toPack {
		switch rankOf(c.graph.Kind(i)) {
		case entry:
			entries = append(entries, i)
		case other:
			rest = append(rest, i)
		default:
			derived = append(derived, i)
		}
	}
	slices.SortStableFunc(derived, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(last[a], last[b]),
			cmp.Compare(rankOf(c.graph.Kind(a)), rankOf(c.graph.Kind(b))))
	})
	list := c.toPack[:0]
	for at := 0; ; at++ {
		for len(derived) > 0 && last[derived[0]] <= uint32(at) {
			list, derived = append(list, derived[0]), derived[1:]
		}
		if at == len(entries) {
			break
		}
		list = append(list, entries[at])
	}
	c.toPack = append(list, rest...)
}

// The places of objects behind the last entry that they were made of.
const (
	entry = iota
	node
	summary
	tombstone
	other
)

func rankOf(k format.ObjectKind) int {
	switch k {
	case format.EntryKind:
		return entry
	case format.NodeKind:
		return node
	case format.SummaryKind:
		return summary
	case format.TombstoneKind:
		return tombstone
	}
	return other
}

// lastEntries returns, for the objects to pack, the place of the last entry that is to be packed
// and that they were made of, counted from 1; 0 for none.
func (c *collector) lastEntries() []uint32 {
	g := c.graph
	last := make([]uint32, g.Len())
	const unknown = 1<<32 - 1
	n := uint32(0)
	for _, i := range c.toPack {
		switch rankOf(g.Kind(i)) {
		case entry:
			n++
			last[i] = n
		case node, summary, tombstone:
			last[i] = unknown
		}
	}
	// What is below comes first. An object on the stack is 0 while what it names is looked at, so
	// damage that names in a circle ends as well.
	type step struct {
		at  uint32
		off int // the edge that is next
		max uint32
	}
	var stack []step
	for _, i := range c.toPack {
		if last[i] != unknown {
			continue
		}
		last[i] = 0
		stack = append(stack[:0], step{at: i})
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			below := g.Below(top.at)
			if top.off == len(below) {
				last[top.at] = top.max
				most := top.max
				if stack = stack[:len(stack)-1]; len(stack) > 0 {
					stack[len(stack)-1].max = max(stack[len(stack)-1].max, most)
				}
				continue
			}
			to := below[top.off].To()
			top.off++
			if last[to] == unknown {
				last[to] = 0
				stack = append(stack, step{at: to})
				continue
			}
			top.max = max(top.max, last[to])
		}
	}
	return last
}

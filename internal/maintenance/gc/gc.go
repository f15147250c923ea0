// Package gc collects garbage: it merges packs, drops the old end of the log, and removes the
// objects that no ref, no kept record and nothing young leads to. It removes nothing in a store
// where a reachable object is missing or damaged.
//
// Begin with Run, which lists the steps of a run in order.
package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Options are for Run.
type Options struct {
	// Report what would be done, and change nothing; no forest of a checkpoint is counted
	DryRun bool
	Auto   bool // do nothing unless there are more packs than gc.auto
	Best   bool // write everything into one pack at the best level
	// Spare what is younger and has no name; 0 is the setting gc.grace, below 0 is no grace at
	// all
	Grace time.Duration
	// Store log segments of at least so many bytes densely; 0 is refs.DenseFrom, below 0 is
	// none
	LogFrom  int64
	Progress graph.Progress
}

// Report is what Run did, or with DryRun would do.
type Report struct {
	Idle     bool  // with Auto: there was not enough to do
	Kept     int   // objects that stay
	Packed   int   // objects written to the new pack, those of merged packs among them
	Pruned   int   // objects that nothing named, in packs that were rewritten
	Temp     int   // leftovers of writes that were cut short
	Answers  int   // answers of workers that were refused for good
	Segments int   // log segments that were older than log.keep
	Before   int64 // bytes of all objects, indexes of packs included
	After    int64 // the same afterwards; with DryRun the same as Before
}

// Run removes what no ref, no kept log record and nothing younger than the grace period leads to,
// packs what the log carries, and merges packs that have become many. It marks and packs without
// the lock and removes under it, pack by pack, each after a look at what was committed since.
//
// It refuses to remove anything in a store where something reachable is missing or damaged: fsck
// says what, rebuild may mend it. After a crash at any point nothing that is reachable is gone;
// some objects may be stored twice, until the next run. An object that is named by hand, after the
// grace period and while gc runs, may lose what it stands on.
func Run(ctx context.Context, s *store.Opened, o Options) (Report, error) {
	defer graph.Frugal(graph.Upkeep)()
	defer s.Objects.KeepFew()()
	c := &collector{s: s, o: o, now: s.Now()}
	forgets, err := c.forgets(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("cannot collect garbage: %w", err)
	}
	if o.Auto {
		due, err := autoDue(s)
		if err != nil || !due {
			return Report{Idle: true}, err
		}
	}
	for try, segments := 1, 0; ; try++ {
		err := c.run(ctx)
		c.report.Segments += segments // a try that ends early has dropped old log already
		segments = c.report.Segments
		begin := errors.Is(err, graph.ErrForgot) || objects.IsGone(err)
		if !begin && !errors.Is(err, fs.ErrNotExist) {
			return c.report, err
		}
		now, failed := c.forgets(ctx)
		if failed != nil || !begin && now == forgets {
			return c.report, errors.Join(err, failed)
		}
		forgets = now
		if try == maxTries {
			return c.report, fmt.Errorf("cannot collect garbage: %w", graph.ErrForgot)
		}
		c = &collector{s: s, o: o, now: c.now}
	}
}

// forgets waits until no forget is under way, and returns how many there were. A forget removes all
// that writes have not finished, since the words may be in it: also what gc is writing without the
// lock, which then finds its file gone.
func (c *collector) forgets(ctx context.Context) (int, error) {
	if !c.o.DryRun {
		if err := c.s.Store.FinishForget(ctx); err != nil {
			return 0, err
		}
	}
	list, _, err := c.s.Objects.ForgetFiles()
	return len(list), err
}

// maxTries is how often Run begins anew because something was forgotten that it was packing, or
// while it was writing. Each time it takes another forget at the same moment.
const maxTries = 8

// run is one try. *objects.GoneError and ErrForgot say that something was forgotten meanwhile, and
// so may fs.ErrNotExist; nothing that stays is removed then.
func (c *collector) run(ctx context.Context) (err error) {
	c.takeBack = func() error { return nil }
	defer func() { err = errors.Join(err, c.takeBack()) }()
	for _, step := range []func(context.Context) error{c.reindex, c.dropLog, c.closeLog, c.look,
		c.plan, c.pack, c.unload, c.sweep, c.condense, c.sweepTemp, c.dropAnswers} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return fmt.Errorf("cannot collect garbage: %w", err)
		}
	}
	return nil
}

// collector is one run of Run.
type collector struct {
	s      *store.Opened
	o      Options
	now    time.Time
	report Report

	dropTo uint64 // the operation that becomes the base; 0 for none
	seen   uint64 // the newest operation that was marked from
	known  map[format.ID]bool
	absent map[format.ID]bool // records of forgotten bodies when it began

	inv   *graph.Inventory
	graph *graph.Graph
	order []uint32 // what is reachable, as it was met
	// The objects for the new pack; from locate on, where they are; nil once it is written
	toPack        []uint32
	replacedPacks []*graph.PackPlace // packs that the new one replaces
	moves         int                // counts what was marked, so that it shows when something was
	newPack       format.ID          // the new pack; zero for none
	takeBack      func() error       // ends what the graph lends to the store
}

// The marks of gc.
const (
	spared graph.Mark = graph.Reached << (iota + 1) // something that stays for its age leads to it
	// It is in a place that is younger than the grace period
	young
	packed // it is in a pack that stays
	taken  // it goes into the new pack
)

// autoDue reports whether there are more packs than gc leaves alone: a look-up asks each of them.
func autoDue(s *store.Opened) (bool, error) {
	if s.Config.GC.Auto == 0 {
		return false, nil
	}
	packs, err := s.Objects.PackNames(objects.IndexExt)
	return len(packs) > s.Config.GC.Auto, err
}

func (c *collector) cutoff() time.Time {
	grace := c.o.Grace
	switch {
	case grace == 0:
		grace = c.s.Config.GC.Grace
	case grace < 0:
		return anyTime()
	}
	return c.now.Add(-grace)
}

// anyTime is later than the time of any file.
func anyTime() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// reindex restores the index of a pack that a crash or an accident took: objects in the pack may
// be reachable.
func (c *collector) reindex(context.Context) error {
	orphans, err := c.s.Objects.Orphans()
	if err != nil || c.o.DryRun {
		return err
	}
	for _, id := range orphans {
		info, err := os.Stat(c.s.Objects.PackPath(id))
		if err != nil || !info.ModTime().Before(c.now.Add(-store.Leftover)) {
			continue // it may be being written
		}
		if err := c.s.Objects.Reindex(id); err != nil {
			return err
		}
	}
	return nil
}

// look lists and reads all objects, and marks those that are reachable or young. It reads refs and
// log last: what they name and the list does not have is read when it is met.
func (c *collector) look(ctx context.Context) error {
	var err error
	if c.absent, err = absentIDs(c.s); err != nil {
		return err
	}
	if err := c.s.Objects.Close(); err != nil { // frees the ids that reading the log has kept
		return err
	}
	if c.inv, err = graph.TakeInventory(c.s,
		func(_ string, err error) error { return err }); err != nil {
		return err
	}
	c.known = map[format.ID]bool{}
	for _, p := range c.inv.Packs {
		c.known[p.ID] = true
	}
	if c.graph, err = graph.Read(ctx, c.s, c.inv, graph.Eye{}, c.o.Progress); err != nil {
		return err
	}
	c.takeBack = c.graph.Lend()
	if err := c.markNamed(); err != nil {
		return err
	}
	return c.markYoung()
}

// markNamed marks what refs and the kept log lead to, record by record: what a long log names takes
// much memory.
func (c *collector) markNamed() error {
	view, err := c.s.Refs.Read()
	if err != nil {
		return err
	}
	base, err := c.s.Refs.Base()
	if err != nil {
		return err
	}
	if err := c.markRoots(graph.RootsOfRefs(view.All())); err != nil {
		return err
	}
	old := graph.RefsOf(base)
	var failed error
	err = c.s.Refs.Forward(func(r refs.Record) bool {
		if r.Op.Number <= c.dropTo {
			// Only a dry run gets here: otherwise these are dropped by now
			graph.ApplyRefs(old, r.Op)
		} else {
			failed = c.markRoots(graph.RootsOfRecord(r.Op))
		}
		c.seen = r.Op.Number
		return failed == nil
	})
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	return c.markRoots(graph.RootsOfBase(old))
}

// markRoots marks what is reachable. Whatever of it cannot be read ends the run.
func (c *collector) markRoots(roots []graph.Root) error {
	w := graph.Walk{Graph: c.graph, Mark: graph.Reached}
	w.Visit = func(i uint32) {
		c.moves++
		c.order = append(c.order, i)
	}
	w.Missing = func(from uint32, l format.Link, why error) error {
		if l.ID.IsZero() {
			return fmt.Errorf("object %v: %w", c.graph.ID(from), why)
		}
		return fmt.Errorf("%v %v names %v %v: %w", c.graph.Kind(from), c.graph.ID(from),
			l.Want, l.ID, why)
	}
	for _, r := range roots {
		i, err := c.graph.Meet(r.ID)
		if err != nil {
			return fmt.Errorf("%s names %v %v: %w", r.From, r.Want, r.ID, err)
		}
		if err := w.From(i); err != nil {
			return err
		}
	}
	return nil
}

// markYoung marks the objects that were written lately, and those of kinds that this build does
// not know, with everything below them: a writer may be about to name them.
func (c *collector) markYoung() error {
	cutoff := c.cutoff()
	g := c.graph
	for _, id := range c.inv.Logged { // they were recorded since the checkpoint
		if i, ok := g.Find(id); ok {
			g.Marks[i] |= young
		}
	}
	for _, p := range c.inv.Packs {
		for _, i := range p.Numbers {
			if !p.Time.Before(cutoff) {
				g.Marks[i] |= young
			}
		}
	}
	for i := range g.Marks {
		unknown := errors.As(g.Bad[uint32(i)], new(*format.VersionError))
		if g.Marks[i]&graph.Reached == 0 && (unknown || g.Marks[i]&young != 0) {
			if err := c.spare(uint32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// spare keeps an object that nothing names, with everything below it.
func (c *collector) spare(i uint32) error {
	w := graph.Walk{Graph: c.graph, Mark: spared, Stop: graph.Reached,
		Visit: func(uint32) { c.moves++ }}
	return w.From(i)
}

// absentIDs returns the objects whose bodies have a record that they are absent.
func absentIDs(s *store.Opened) (map[format.ID]bool, error) {
	ids := map[format.ID]bool{}
	return ids,
		s.Objects.EachAbsent(func(id format.ID, _ string) error { ids[id] = true; return nil })
}

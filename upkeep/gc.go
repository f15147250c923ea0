package upkeep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
)

// GCOptions are for GC.
type GCOptions struct {
	DryRun   bool          // report what would be done, and change nothing
	Auto     bool          // do nothing unless there is much to do: more loose objects than gc.auto, or more than 50 packs
	Best     bool          // write everything into one pack at the best level
	Grace    time.Duration // spare what is younger and has no name; 0 is the setting gc.grace, below 0 is no grace at all
	Progress Progress
}

// GCReport is what GC did, or with DryRun would do.
type GCReport struct {
	Idle         bool  // with Auto: there was not enough to do
	Kept         int   // objects that stay
	Packed       int   // objects written to the new pack, those of merged packs among them
	Unloosed     int   // loose copies that went because a pack has them
	PrunedLoose  int   // loose objects that nothing named
	PrunedPacked int   // objects that nothing named, in packs that were rewritten
	Temp         int   // leftovers of writes that were cut short
	Segments     int   // log segments that were older than log.keep
	Before       int64 // bytes of all objects, indexes of packs included
	After        int64 // the same afterwards; with DryRun the same as Before
}

// ErrForgot says that something was forgotten while gc packed it, in each of its tries. Nothing was removed; gc can run again.
var ErrForgot = errors.New("something was forgotten meanwhile")

// GC removes what no ref, no kept log record and nothing younger than the grace period leads to, packs what is loose, and merges packs
// that have become many. It marks and packs without the lock and removes under it, 256 objects at a time, each batch after a look at
// what was committed since.
//
// It refuses to remove anything in a store where something reachable is missing or damaged: fsck says what, rebuild may mend it. After a
// crash at any point nothing that is reachable is gone; some objects may be stored twice, until the next run. An object that is named
// by hand, after the grace period and while gc runs, may lose what it stands on.
func GC(ctx context.Context, s *session.Store, o GCOptions) (GCReport, error) {
	c := &collector{s: s, o: o, now: s.Now()}
	if !o.DryRun {
		if err := s.FinishForget(ctx); err != nil {
			return GCReport{}, fmt.Errorf("cannot collect garbage: %w", err)
		}
	}
	if o.Auto {
		due, err := autoDue(s)
		if err != nil || !due {
			return GCReport{Idle: true}, err
		}
	}
	for try, segments := 1, 0; ; try++ {
		err := c.run(ctx)
		c.report.Segments += segments // a try that ends early has dropped old log already
		segments = c.report.Segments
		var gone *objects.GoneError
		if !errors.Is(err, ErrForgot) && !errors.As(err, &gone) {
			return c.report, err
		}
		if try == gcTries {
			return c.report, fmt.Errorf("cannot collect garbage: %w", ErrForgot)
		}
		c = &collector{s: s, o: o, now: c.now}
	}
}

// gcTries is how often GC begins anew because something that it was packing was forgotten. Each time it takes another forget at
// the same moment.
const gcTries = 8

// run is one try. *objects.GoneError and ErrForgot say that something was forgotten meanwhile; nothing is removed then.
func (c *collector) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.reindex, c.dropLog, c.look, c.plan, c.pack, c.sweep, c.sweepTemp} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return fmt.Errorf("cannot collect garbage: %w", err)
		}
	}
	return nil
}

// collector is one run of GC.
type collector struct {
	s      *session.Store
	o      GCOptions
	now    time.Time
	report GCReport

	dropTo uint64 // the operation that becomes the base; 0 for none
	seen   uint64 // the newest operation that was marked from
	known  map[format.ID]bool
	absent map[format.ID]bool // records of forgotten bodies when it began

	inv    *inventory
	graph  *graph
	order  []uint32 // what is reachable, as it was met
	toPack []uint32
	away   []*packPlace // packs that the new one replaces
	moves  int          // counts what was marked, so that it shows when something was
	fresh  format.ID    // the new pack; zero for none
}

// The marks of gc.
const (
	reached mark = 1 << iota // refs or the log lead to it
	spared                   // something that stays for its age leads to it
	young                    // it is in a place that is younger than the grace period
	packed                   // it is in a pack that stays
	taken                    // it goes into the new pack
	visited                  // it has its place in the order of removal
)

// manyPacks is how many packs make gc --auto work: a look-up asks each of them, and 50 indexes are still quick.
const manyPacks = 50

// leftover is how old a file that a write left behind must be to go: no write takes so long.
const leftover = time.Hour

// autoDue guesses the number of loose objects from four of the 256 folders; ids are spread evenly.
func autoDue(s *session.Store) (bool, error) {
	if s.Config.GC.Auto == 0 {
		return false, nil
	}
	n := 0
	for _, xx := range []string{"17", "5c", "a3", "e8"} {
		files, err := os.ReadDir(filepath.Join(s.Dir, "objects", xx))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
		n += len(files)
	}
	packs, err := packNames(s, ".idx")
	return n*64 > s.Config.GC.Auto || len(packs) > manyPacks, err
}

func (c *collector) cutoff() time.Time {
	grace := c.o.Grace
	switch {
	case grace == 0:
		grace = c.s.Config.GC.Grace
	case grace < 0:
		return anyTime
	}
	return c.now.Add(-grace)
}

// anyTime is later than the time of any file.
var anyTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// reindex brings back packs whose index a crash or an accident took: what is in them may be reachable.
func (c *collector) reindex(context.Context) error {
	orphans, err := c.s.Objects.Orphans()
	if err != nil || c.o.DryRun {
		return err
	}
	for _, id := range orphans {
		info, err := os.Stat(packPath(c.s, id))
		if err != nil || !info.ModTime().Before(c.now.Add(-leftover)) {
			continue // it may be being written
		}
		if err := c.s.Objects.Reindex(id); err != nil {
			return err
		}
	}
	return nil
}

// look reads the refs, then lists and reads all objects, and marks what is reachable or young.
func (c *collector) look(ctx context.Context) error {
	var err error
	if c.absent, err = absentIDs(c.s); err != nil {
		return err
	}
	roots, err := c.roots()
	if err != nil {
		return err
	}
	if c.inv, err = takeInventory(c.s, func(_ string, err error) error { return err }); err != nil {
		return err
	}
	c.known = map[format.ID]bool{}
	for _, p := range c.inv.packs {
		c.known[p.id] = true
	}
	if c.graph, err = readGraph(ctx, c.s, c.inv, nil, c.o.Progress); err != nil {
		return err
	}
	if err := c.markRoots(roots); err != nil {
		return err
	}
	return c.markYoung()
}

// roots returns all that refs and the kept log name.
func (c *collector) roots() ([]root, error) {
	view, err := c.s.Refs.Read()
	if err != nil {
		return nil, err
	}
	base, err := c.s.Refs.Base()
	if err != nil {
		return nil, err
	}
	roots := rootsOfRefs(view.All())
	old := refsOf(base)
	var kept []root
	err = c.s.Refs.Forward(func(r refs.Record) bool {
		if r.Op.Number <= c.dropTo {
			applyRefs(old, r.Op) // only a dry run gets here: otherwise these are dropped by now
		} else {
			kept = append(kept, rootsOfRecord(r.Op)...)
		}
		c.seen = r.Op.Number
		return true
	})
	return append(append(roots, kept...), rootsOfBase(old)...), err
}

// markRoots marks what is reachable. Whatever of it cannot be read ends the run.
func (c *collector) markRoots(roots []root) error {
	w := walk{graph: c.graph, mark: reached}
	w.visit = func(i uint32) {
		c.moves++
		c.order = append(c.order, i)
	}
	w.lack = func(from uint32, l link, why error) error {
		if l.id.IsZero() {
			return fmt.Errorf("object %v: %w", c.graph.objects[from].id, why)
		}
		return fmt.Errorf("%v %v names %v %v: %w", c.graph.objects[from].kind, c.graph.objects[from].id, l.want, l.id, why)
	}
	for _, r := range roots {
		i, err := c.graph.meet(r.id)
		if err != nil {
			return fmt.Errorf("%s names %v %v: %w", r.from, r.want, r.id, err)
		}
		if err := w.from(i); err != nil {
			return err
		}
	}
	return nil
}

// markYoung marks what was written lately, and what this build does not know, with all that it stands on: a writer may be about to name
// it.
func (c *collector) markYoung() error {
	cutoff := c.cutoff()
	g := c.graph
	for _, l := range c.inv.loose {
		if i, ok := g.find(l.id); ok && !time.Unix(0, l.time).Before(cutoff) {
			g.marks[i] |= young
		}
	}
	for _, p := range c.inv.packs {
		for _, i := range p.numbers {
			if !p.time.Before(cutoff) {
				g.marks[i] |= young
			}
		}
	}
	for i := range g.objects {
		var version *format.VersionError
		unknown := errors.As(g.bad[uint32(i)], &version)
		if g.marks[i]&reached == 0 && (unknown || g.marks[i]&young != 0) {
			if err := c.spare(uint32(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// spare keeps an object that nothing names, with all that it stands on.
func (c *collector) spare(i uint32) error {
	w := walk{graph: c.graph, mark: spared, stop: reached, visit: func(uint32) { c.moves++ }}
	return w.from(i)
}

// stays reports whether an object is not to be removed.
func (c *collector) stays(id format.ID) bool {
	i, ok := c.graph.find(id)
	return !ok || c.graph.marks[i]&(reached|spared) != 0
}

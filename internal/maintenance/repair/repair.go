// Package repair makes a damaged store sound again and reports what is lost. It copies the store
// before its first change, and runs under the store's lock.
//
// Begin with Run; repairer.work lists the steps in order. Rebuild makes only derived data again.
package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// Options are for Run.
type Options struct {
	DryRun bool // repair a copy, say what came of it, and remove it: the store is not touched
	// Where the store is copied to before anything is changed; must not be there yet. "" is beside
	// the store
	Copy     string
	NewKey   []byte // where the key is lost, this one takes its place; nil leaves it lost
	Progress graph.Progress

	trial bool // the store is a copy, made to see what comes of a repair
}

// Report is what Run did.
type Report struct {
	Found  int          // faults before
	Copy   string       // of the store as it was; "" where nothing had to be done, and with DryRun
	Mended []string     // what was made good with nothing lost, a line each
	Lost   []string     // what is lost, a line each
	Left   []fsck.Fault // what fsck says afterwards
}

// ErrCopyThere says that the place for the copy is taken.
var ErrCopyThere = errors.New("there is something in the place of the copy")

// ErrLoses says that a repair would make objects unreadable. The store is as it was.
var ErrLoses = errors.New("the repair would lose what can be read now")

// Run makes a damaged store sound again, as far as what is left of it goes, and says what is lost.
// It looks at all of it first: a store without a fault is not touched. Before the first change it
// copies the store, and works under its lock from what can be had on: other copies of objects, the
// log, the checkpoints, what follows from them. It decides nothing that was decided otherwise
// before, and makes up nothing. It repairs a second copy first: where an object that can be read
// now could not be read afterwards, Run refuses. env is as for repo.Open. After a crash it can run
// again, and ends as it would have.
//
// Errors: those of repo.Open but for damage; *lock.BusyError; *format.VersionError where a newer
// build wrote any of it; ErrCopyThere; ErrLoses; refs.ErrBeyondRepair; what the file system says.
// After an error the copy, where there is one, has the store as it was.
func Run(ctx context.Context, env repo.Env, o Options) (Report, error) {
	r := newRepairer(ctx, env, o)
	err := r.run()
	if r.s != nil {
		err = errors.Join(err, r.s.Close())
	}
	if err != nil {
		return r.report, fmt.Errorf("cannot repair: %w", err)
	}
	return r.report, nil
}

// now is the time of what a repair writes.
func (r *repairer) now() time.Time { return r.s.Now().UTC().Truncate(time.Millisecond) }

type repairer struct {
	ctx    context.Context
	env    repo.Env
	o      Options
	report Report

	dir  string
	s    *store.Opened // nil before it can be opened
	held *lock.Held

	wrongKey bool // fsck said so
	// Of which operations it was said that the words they forgot are not known
	wordsLost map[uint64]bool

	// Objects that damaged records carried, behind the end of the kept log
	saved map[format.ID]bool
	// Objects whose only copy was taken away; what follows from the rest may come back
	missing []format.ID
	// What damaged records seemed to carry: the bytes of a damaged header have an id of their own
	dropped map[format.ID]bool
}

func newRepairer(ctx context.Context, env repo.Env, o Options) *repairer {
	return &repairer{ctx: ctx, env: env, o: o, wordsLost: map[uint64]bool{},
		dropped: map[format.ID]bool{}}
}

func (r *repairer) mended(text string, args ...any) {
	r.report.Mended = append(r.report.Mended, fmt.Sprintf(text, args...))
}

func (r *repairer) lost(text string, args ...any) {
	r.report.Lost = append(r.report.Lost, fmt.Sprintf(text, args...))
}

func (r *repairer) run() (err error) {
	id, err := r.open()
	if err != nil {
		return err
	}
	if id == "" {
		before, err := fsck.Run(r.ctx, r.s, fsck.Options{Progress: r.o.Progress})
		if err != nil {
			return err
		}
		r.report.Found = len(before.Faults)
		r.wrongKey = slices.ContainsFunc(before.Faults,
			func(f fsck.Fault) bool { return f.Kind == "key" })
		if before.Newer != nil {
			return before.Newer // what does not know it must not remove anything
		}
		_, unfinished, err := r.s.Refs.Pending()
		if err != nil || len(before.Faults) == 0 && !unfinished {
			return err
		}
	} else {
		r.report.Found = 1
	}
	if !r.o.trial {
		if err := r.try(); err != nil || r.o.DryRun {
			return err
		}
	}
	held, err := lock.Acquire(r.ctx, r.env.FS, r.dir, lockTimeout, r.env.Owner)
	if err != nil {
		return err
	}
	r.held = held
	defer func() { err = errors.Join(err, held.Release()) }()
	if id != "" {
		if err := r.writeFormat(id); err != nil {
			return err
		}
	}
	return r.work()
}

// lockTimeout is how long a repair waits for writers; each holds the lock for a few file writes.
const lockTimeout = 10 * time.Second

// open opens the store. id is what belongs into a format file that is missing or damaged, and ""
// for one that is sound.
func (r *repairer) open() (id string, err error) {
	r.dir, err = repo.Find(r.env)
	var half *repo.HalfError
	if errors.As(err, &half) && half.Lost {
		r.dir, err = half.Path, nil
	}
	if err != nil {
		return "", err
	}
	opened, err := repo.Open(r.env)
	if errors.As(err, new(*repo.CorruptError)) || errors.Is(err, repo.ErrHalf) {
		if id = fsck.OtherStore(r.dir, ""); id == "" {
			return "", err
		}
		return id, nil
	}
	if err != nil {
		return "", err
	}
	r.s = store.Open(opened)
	return fsck.OtherStore(r.dir, r.s.ID), nil
}

func (r *repairer) writeFormat(id string) error {
	path := filepath.Join(r.dir, "format")
	text := format.StoreFormat{Hash: "sha256", Store: id}.Encode()
	if err := r.write(path, text); err != nil {
		return err
	}
	if err := r.reopen(); err != nil {
		return err
	}
	r.mended("the format file is made again: store %s, as the log says; if this was a copy with an "+
		"id of its own, run `ctx init --new-id` again", id)
	return nil
}

// reopen opens the store again after a file that an open store keeps in memory has changed.
func (r *repairer) reopen() error {
	if r.s != nil {
		if err := r.s.Close(); err != nil {
			return err
		}
		r.s = nil
	}
	opened, err := repo.Open(r.env)
	if err == nil {
		r.s = store.Open(opened)
	}
	return err
}

// work runs the steps of a repair. Each uses what the one before it left.
func (r *repairer) work() error {
	for _, step := range []func() error{r.mendKey, r.mendLog, r.mendAbsent, r.mendForgets,
		r.mendPacks, r.mendBodies, r.mendRefs, r.mendLogged, r.listForgotten,
		r.mendHoles, r.mendForests, r.derive, r.mendPins, r.recover} {
		if err := errors.Join(r.ctx.Err(), step()); err != nil {
			return err
		}
	}
	after, err := fsck.Run(r.ctx, r.s, fsck.Options{Progress: r.o.Progress})
	r.report.Left = after.Faults
	return errors.Join(err, r.tellMissing())
}

// try repairs a copy, compares what can be read of both, and removes the copy. With DryRun the
// report is that of the copy.
func (r *repairer) try() error {
	aside := filepath.Join(filepath.Dir(r.dir),
		fmt.Sprintf("%sdry-%d", store.AsidePrefix, r.env.Owner.PID))
	if err := store.RemoveTree(r.env.FS, aside); err != nil {
		return err
	}
	dir := filepath.Join(aside, ".gemini", "context")
	err := store.CopyTree(r.ctx, r.env.FS, r.dir, dir)
	if err == nil {
		env, o := r.env, r.o
		env.WorkDir, env.StoreDir = aside, dir
		o.trial, o.Copy = true, filepath.Join(aside, "copy")
		inner := newRepairer(r.ctx, env, o)
		if err = inner.run(); err == nil {
			err = r.compare(inner)
		}
		if inner.s != nil {
			err = errors.Join(err, inner.s.Close())
		}
		if r.o.DryRun {
			inner.report.Copy, inner.report.Found = "", r.report.Found
			r.report = inner.report
		}
	}
	return errors.Join(err, store.RemoveTree(r.env.FS, aside))
}

// compare returns ErrLoses if the repaired copy has lost an object that can be read in the store:
// truth, which nothing can compute again, and which is not forgotten.
func (r *repairer) compare(repaired *repairer) error {
	if r.s == nil || repaired.s == nil {
		return nil // without its format file nothing of the store can be read
	}
	lost := 0
	err := r.eachTruth(func(id format.ID) error {
		if repaired.dropped[id] {
			return r.ctx.Err()
		}
		_, err := repaired.s.Objects.Get(id)
		var gone *objects.GoneError
		if err != nil && !(errors.As(err, &gone) && gone.Reason == format.ReasonForgotten) {
			lost++
		}
		return r.ctx.Err()
	})
	if err == nil && lost > 0 {
		err = fmt.Errorf("%w: %d objects", ErrLoses, lost)
	}
	return err
}

// eachTruth calls each for every object that can be read whole, and that does not follow from
// others.
func (r *repairer) eachTruth(each func(format.ID) error) error {
	inv, err := graph.TakeInventory(r.s, func(string, error) error { return nil })
	if err != nil {
		return err
	}
	look := func(id format.ID) error {
		raw, err := r.s.Objects.Get(id)
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not compared
		}
		switch kindOfHeader(raw.Header) {
		case "node", "page", "forest": // rebuild makes them again
			return nil
		}
		return each(id)
	}
	for _, id := range inv.IDs {
		if err := look(id); err != nil {
			return err
		}
	}
	// The inventory passes over damaged blocks, of which some objects may be read by their ids.
	names, err := r.s.Objects.PackNames(objects.IndexExt)
	if err != nil {
		return err
	}
	for _, pack := range names {
		if r.s.Objects.CheckPack(pack) == nil {
			continue
		}
		err := r.s.Objects.SalvagePack(pack, func(raw format.Raw, _ bool) error {
			return look(raw.ID())
		})
		if err != nil && r.ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// clear removes a directory or a link that stands in the place of a file, so that the file can be
// written or removed there.
func (r *repairer) clear(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Mode().IsRegular() {
		return err
	}
	return store.RemoveAll(r.env.FS, path)
}

// mendKey writes a new key where the key is lost or is not the store's, if the caller gave one.
func (r *repairer) mendKey() error {
	path := filepath.Join(r.dir, "key")
	_, err := r.s.Key()
	switch {
	case err == nil && !r.wrongKey:
		return nil
	case err == nil && r.o.NewKey == nil:
		r.lost(
			"the key: the one that is there is not the one the store was written with; put it " +
				"back from a copy, or let --new-key make another")
		return nil
	case r.o.NewKey == nil:
		r.lost("the key: %v; put it back from a copy, or let --new-key make another", err)
		return nil
	}
	if err := r.write(path, r.o.NewKey); err != nil {
		return err
	}
	if err := r.reopen(); err != nil {
		return err
	}
	mark, err := r.s.Store.NewKeyMark()
	if err != nil {
		return err
	}
	if err := r.write(r.s.Objects.Path(store.NewKeyName), mark); err != nil {
		return err
	}
	r.lost(
		"the key; there is a new one: records that were imported before are not known by their " +
			"contents, and what was forgotten is not known by its words")
	return nil
}

// giveUp removes a file of the store. The copy has it.
func (r *repairer) giveUp(name string) error {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := errors.Join(r.touch(), r.clear(path)); err != nil {
		return err
	}
	return r.env.FS.RemoveDurable(path)
}

// mendLog mends segments of the log in which bytes are damaged.
func (r *repairer) mendLog() error {
	restored, err := r.s.Refs.Mend(r.held, r.touch)
	for _, name := range restored {
		r.mended("%s was damaged; its parity or its digests restored it", name)
	}
	return err
}

// mendRefs makes the log, the checkpoint and the base agree again.
func (r *repairer) mendRefs() error {
	v, err := r.s.Refs.Salvage()
	if err != nil || !v.Needed() {
		return err
	}
	if err := r.touch(); err != nil {
		return err
	}
	if err := r.putCarried(
		[]refs.Record{{Op: &format.Operation{Objects: v.Objects}, Damaged: true}}); err != nil {
		return err
	}
	if err := r.keepSound(v.Later, namedBy(v.Later)); err != nil {
		return err
	}
	r.saved = lists.Set(lists.Map(v.Objects, format.Raw.ID))
	if err := r.s.Refs.Restore(r.held, v, r.clear); err != nil {
		return err
	}
	for _, line := range v.Mended {
		r.mended("%s", line)
	}
	for _, line := range v.Lost {
		r.lost("%s", line)
	}
	return nil
}

// derive rebuilds everything that follows from the rest of the store.
func (r *repairer) derive() error {
	done, err := Rebuild(r.ctx, r.s, RebuildOptions{DryRun: true, Progress: r.o.Progress})
	if done.Indexes > 0 || done.Objects > 0 && err == nil {
		if err := r.touch(); err != nil {
			return err
		}
		done, err = Rebuild(r.ctx, r.s, RebuildOptions{Progress: r.o.Progress})
	}
	if done.Indexes > 0 {
		r.mended("%d indexes of packs are made again", done.Indexes)
	}
	if done.Objects > 0 && err == nil {
		r.mended("%d nodes, pages and forests are made again", done.Objects)
	}
	if err != nil && r.ctx.Err() == nil && !errors.As(err, new(*WriteError)) {
		r.lost("clusters: %v", err)
		err = nil
	}
	return err
}

// tellMissing reports the objects that are nowhere: those that something names, and those whose
// only copies were taken away.
func (r *repairer) tellMissing() error {
	named := map[format.ID]bool{}
	for _, f := range r.report.Left {
		if id, err := format.ParseID(f.Subject); f.Kind == "link" && err == nil {
			named[id] = true
		}
	}
	missing, err := r.s.Objects.HasAll(
		graph.SortedIDs(append(slices.Collect(maps.Keys(named)), r.missing...)))
	for _, id := range slices.Compact(missing) {
		if named[id] {
			r.lost("object %v", id)
		} else {
			r.mended("object %v is removed; nothing names it", id)
		}
	}
	return err
}

// beforeRepair begins the name of the copy that a repair makes beside the store.
const beforeRepair = "context.before-repair-"

// write puts a file into the store, in the place of whatever is there.
func (r *repairer) write(path string, b []byte) error {
	if err := errors.Join(r.touch(), r.env.FS.MkdirAll(filepath.Dir(path)),
		r.clear(path)); err != nil {
		return err
	}
	return r.env.FS.WriteDurable(path, b, 0o600)
}

// touch copies the store as it is, damage and all, before anything is changed. It takes its
// name when all of it is there: a repair without room for it changes nothing.
func (r *repairer) touch() error {
	if r.report.Copy != "" {
		return nil
	}
	to := r.o.Copy
	if to == "" {
		to = filepath.Join(filepath.Dir(r.dir),
			beforeRepair+r.env.Now().UTC().Format("20060102T150405Z"))
		for name, n := to, 2; graph.Exists(to); n++ {
			to = fmt.Sprintf("%s-%d", name, n)
		}
	}
	if graph.Exists(to) {
		return fmt.Errorf("%w: %q", ErrCopyThere, to)
	}
	aside := filepath.Join(filepath.Dir(to),
		fmt.Sprintf("%srepair-%d", store.AsidePrefix, r.env.Owner.PID))
	err := store.RemoveTree(r.env.FS, aside)
	if err == nil {
		err = store.CopyTree(r.ctx, r.env.FS, r.dir, aside)
	}
	if err == nil {
		err = r.env.FS.Rename(aside, to)
	}
	if err == nil {
		err = r.env.FS.SyncDir(filepath.Dir(to))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("no copy of the store: %w", err),
			store.RemoveTree(r.env.FS, aside))
	}
	r.report.Copy = to
	return nil
}

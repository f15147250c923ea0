package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/maintenance/graph"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/objects"
	"github.com/gemini-ctx/ctx/refs"
)

// RebuildOptions are for Rebuild.
type RebuildOptions struct {
	DryRun   bool // compare and count, and change nothing
	Progress graph.Progress
}

// RebuildReport is what Rebuild found and made.
type RebuildReport struct {
	// The shared forest, as its ref names it; zero where none was written yet
	Forest     format.ID `json:"forest"`
	Operations int       `json:"operations"` // replayed
	Objects    int       `json:"objects"`    // that were missing and were made again
	// Of packs, that were missing or bad and were made again
	Indexes int  `json:"indexes"`
	Same    bool `json:"same"` // the replay gave every forest that refs name
}

// DiffersError says that the log's decisions do not give the forest that it names: it or what it
// names is damaged, or a build that was wrong wrote it.
type DiffersError struct {
	Subject string
	Why     string
}

func (e *DiffersError) Error() string {
	return fmt.Sprintf("replay differs: %s: %s", e.Subject, e.Why)
}

// WriteError says that what was made again could not be written, or an old cache could not be
// removed. The data is not lost: the next run makes it again.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }

func (e *WriteError) Unwrap() error { return e.Err }

// written gives an error of a write its type; nil stays nil.
func written(err error) error {
	if err == nil {
		return nil
	}
	return &WriteError{err}
}

// Rebuild makes all derived data again, from entries, summaries, tombstones and the log: pack
// indexes, then the nodes, pages and forests that refs, kept summaries and kept tombstones name, as
// far as they are missing; and it empties the cache, but for the links, which it makes again. It
// replays decisions and scores nothing, so the same history gives the same ids. Errors:
// *DiffersError, and then nothing of the forest was made; *WriteError; an error for what cannot be
// had again, with what could be made in place. After a crash it can run again.
func Rebuild(ctx context.Context, s *store.Opened, o RebuildOptions) (RebuildReport, error) {
	defer graph.Frugal(graph.Upkeep)()
	defer s.Objects.KeepFew()()
	b := &builder{s: s, o: o, lost: map[format.ID]bool{}, there: map[format.ID]bool{}}
	err := b.indexes()
	if err == nil {
		err = b.forests(ctx)
	}
	if err == nil && !o.DryRun {
		err = written(b.clearCache())
		// The links of the cache take a walk over all sessions: the next command that needs them
		// would wait for that. What goes wrong with it shows to that command.
		if view, bad := b.s.Refs.Read(); err == nil && bad == nil {
			_ = b.s.History.WithLinks(view, func(*history.Links) error { return nil })
		}
	}
	if err != nil {
		return b.report, fmt.Errorf("cannot rebuild: %w", err)
	}
	return b.report, nil
}

type builder struct {
	s      *store.Opened
	o      RebuildOptions
	report RebuildReport
	queue  []format.Raw
	lost   map[format.ID]bool // what is in the queue
	there  map[format.ID]bool // some of what is stored
	differ error
}

// indexes makes the indexes of packs again that are missing or cannot be read. Whether a good one
// fits its pack is for fsck.
func (b *builder) indexes() error {
	packs, err := b.s.Objects.PackNames(objects.PackExt)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range packs {
		if _, err := b.s.Objects.PackContents(id); err == nil {
			continue
		}
		b.report.Indexes++
		if !b.o.DryRun {
			errs = append(errs, b.s.Objects.Reindex(id))
		}
	}
	return errors.Join(errs...)
}

// forests replays the log and stores what is missing.
func (b *builder) forests(ctx context.Context) error {
	view, err := b.s.Refs.Read()
	if err != nil {
		return err
	}
	base, err := b.s.Refs.Base()
	if err != nil {
		return err
	}
	b.report.Forest = view.Get(graph.ForestsPrefix + history.MainForest).ID
	wanted, given := wantedForests(view), map[format.ID]bool{}
	r, err := graph.New(b.s, graph.RefsOf(base))
	if err != nil {
		return err
	}
	r.Wanted = func(id format.ID) bool { return wanted[id] }
	r.Wrote = func(id format.ID, _ []byte, st *forest.State) error {
		given[id] = true
		// Pages that are older than the kept log have to be there
		return st.EachEvicted(func(forest.Evicted) {})
	}
	r.Need = b.add
	r.Stored = func(id format.ID) bool { return !b.lost[id] }
	r.Differs = func(subject, why string) {
		if b.differ == nil {
			b.differ = &DiffersError{Subject: subject, Why: why}
		}
	}
	r.BaseCovers(func(_ string, why error) { err = cmp.Or(err, why) })
	if err != nil {
		return err
	}
	b.report.Operations, err = r.All(ctx, view.Number, b.o.Progress)
	switch {
	case err != nil:
		return err
	case b.differ != nil:
		return b.differ
	}
	b.report.Same = true
	if err := b.flush(); err != nil {
		return err
	}
	return b.unmade(wanted, given)
}

// wantedForests are those that refs name: the newest ones, and the pins.
func wantedForests(view *refs.View) map[format.ID]bool {
	wanted := map[format.ID]bool{}
	for _, r := range graph.RootsOfRefs(view.All()) {
		if r.Want == format.ForestKind {
			wanted[r.ID] = true
		}
	}
	return wanted
}

// add queues those of some objects that are missing or cannot be read. Until the replay has shown
// itself right nothing is written; the queue holds what was lost, and of that headers alone.
func (b *builder) add(raws ...format.Raw) error {
	for _, raw := range raws {
		id := raw.ID()
		if b.lost[id] || b.there[id] {
			continue
		}
		if _, err := b.s.Objects.Header(id); err != nil {
			b.queue, b.lost[id] = append(b.queue, raw), true
			continue
		}
		if len(b.there) == mostThere {
			clear(b.there)
		}
		b.there[id] = true
	}
	return nil
}

// mostThere is how many of the objects that are stored are remembered: an object is mostly needed
// again soon.
const mostThere = 1 << 14

func (b *builder) flush() error {
	b.report.Objects = len(b.queue)
	if b.o.DryRun || len(b.queue) == 0 {
		return nil
	}
	return written(b.s.Objects.Put(b.queue...))
}

// unmade says what refs name that is older than the kept log and not there: nothing can make it
// again.
func (b *builder) unmade(wanted, given map[format.ID]bool) error {
	var old []format.ID
	for id := range wanted {
		if !given[id] {
			old = append(old, id)
		}
	}
	missing, err := b.s.Objects.HasAll(graph.SortedIDs(old))
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("forest %v is older than the kept log, and missing", missing[0])
	}
	return nil
}

// clearCache removes every file of the cache. A reader that has one open goes on with it; the next
// one makes it again.
func (b *builder) clearCache() error {
	dir := filepath.Join(b.s.Dir, "cache")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := store.RemoveAll(b.s.FS, filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

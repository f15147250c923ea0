// Package session holds the verbs of a store: append, graduate, compact, rewind, undo, render and the rest. A verb reads, calls a pure rule,
// and commits one operation; the rules live in forest, session/window and session/view.
package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/index"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session/window"
)

// MainBranch is the first branch of every session, and MainForest the forest that all sessions of a store share. FlatForest holds the same
// entries in one cluster; it is there from the first compaction by the strategy flat on.
const (
	MainBranch = "main"
	MainForest = "main"
	FlatForest = "flat"
)

const forestRef = "forests/" + MainForest

// forestRefOf is the name of the ref of a forest.
func forestRefOf(name string) string { return "forests/" + name }

// Store is an open store as the verbs see it. Its methods may be called from several goroutines.
type Store struct {
	*repo.Repo
	Cache *index.Cache
	// Warn is told, in one line, of what went wrong after an operation was recorded and is made good by the next one. It may be nil.
	Warn func(string)

	mu     sync.Mutex
	known  *links  // nil until asked for
	traced *traces // what was forgotten; nil until asked for

	keyFits bool // checkKey found that the store was written with the present key
	copying sync.Mutex
	copies  map[string]string // by a session that is not there: the first one that was found to begin with a copy of it

	searching sync.Mutex
	searched  *searchIndex // nil until asked for
}

// New returns the verbs of a store. From now on the whole program also looks for the patterns of
// secrets in the store's settings.
func New(r *repo.Repo) *Store {
	if r.Config != nil {
		if err := sanitize.UsePatterns(r.Config.Sanitize.Extra); err != nil {
			panic("session: a pattern that the settings let through: " + err.Error())
		}
	}
	s := &Store{Repo: r, Cache: index.Open(r.Dir, r.FS)}
	s.Objects.Now = r.Now
	s.Cache.Guard(s.ForgetMark)
	return s
}

func (s *Store) warn(err error) {
	if s.Warn != nil {
		s.Warn(err.Error())
	}
}

func (s *Store) params() window.Params {
	return window.Params{GraduateAt: s.Config.Window.GraduateAt, EvictAt: s.Config.Window.EvictAt}
}

// RefName is the name of the ref of a session's branch.
func RefName(session, branch string) string { return "sessions/" + session + "/" + branch }

// loader gives a forest's state its objects.
type loader struct{ s *Store }

func (l loader) Node(id format.ID) (*format.Node, error) {
	b, err := l.s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodeNode(b)
}

func (l loader) Page(id format.ID) (*format.Page, error) {
	b, err := l.s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodePage(b)
}

func (l loader) Tombstone(id format.ID) (*format.Tombstone, error) {
	b, err := l.s.Objects.Header(id)
	if err != nil {
		return nil, err
	}
	return format.DecodeTombstone(b)
}

// Loader returns what reads a forest's objects from this store.
func (s *Store) Loader() forest.Loader { return loader{s} }

// Forest returns the shared forest as of view: the object its ref names, and the decisions since.
func (s *Store) Forest(view *refs.View) (*forest.State, error) { return s.ForestOf(view, MainForest) }

// ForestOf is Forest for the forest of a name.
func (s *Store) ForestOf(view *refs.View, name string) (*forest.State, error) {
	st := forest.New(name, s.Loader())
	if id := view.Get(forestRefOf(name)).ID; !id.IsZero() {
		var err error
		if st, err = s.forestAt(id); err != nil {
			return nil, err
		}
	}
	if err := st.ApplyAll(view.Pending(name)); err != nil {
		return nil, err
	}
	return st, nil
}

// forestAt returns the state that a forest object holds; the zero ID is the empty forest.
func (s *Store) forestAt(id format.ID) (*forest.State, error) {
	if id.IsZero() {
		return forest.New(MainForest, s.Loader()), nil
	}
	b, err := s.Objects.Header(id)
	if err != nil {
		return nil, fmt.Errorf("cannot read forest: %w", err)
	}
	f, err := format.DecodeForest(b)
	if err != nil {
		return nil, err
	}
	return forest.From(f, s.Loader()), nil
}

// ErrStale says that history has moved on: what a command was told to expect is no longer so.
var ErrStale = errors.New("history has moved")

// tx is a mutation in progress: the lock is held, and view is the newest state of the refs.
type tx struct {
	*Store
	held    *lock.Held
	view    *refs.View
	raws    []format.Raw       // objects to be put before the commit
	present map[format.ID]bool // objects put under this lock

	draft                          // of the main forest
	flat   draft                   // of the flat one
	cands  *candidates             // nil until asked for
	others *summarize.Others       // what clusters are about; nil until one is evicted
	newer  map[format.ID]format.ID // of messages whose newest text is another one from this operation on, that one
}

// draft is what a transaction does to one forest.
type draft struct {
	decided []format.Decision // since the last commit
	written format.ID         // the forest that holds them, once written
	state   *forest.State     // with decided applied; nil until asked for
}

// draftOf returns the draft of a forest by its name.
func (t *tx) draftOf(name string) *draft {
	if name == FlatForest {
		return &t.flat
	}
	return &t.draft
}

// locked runs do under the store's lock. do may commit more than once.
func (s *Store) locked(ctx context.Context, do func(*tx) error) error {
	held, err := s.Lock(ctx)
	if err != nil {
		return err
	}
	view, err := s.Refs.Begin(held)
	if err == nil {
		t := &tx{Store: s, held: held, view: view, present: map[format.ID]bool{}}
		for _, step := range []func() error{t.checkKey, func() error { return t.recover(ctx) }, func() error { return do(t) }} {
			if err = step(); err != nil {
				break
			}
		}
	}
	return errors.Join(err, held.Release())
}

// add has an object put before the next commit, and returns its id.
func (t *tx) add(r format.Raw) format.ID {
	t.raws = append(t.raws, r)
	return r.ID()
}

// decide takes decisions about the shared forest; the next commit records them. What joins it joins the flat forest too, where there is one.
func (t *tx) decide(list ...format.Decision) error {
	if err := t.decideIn(MainForest, list...); err != nil || !t.hasFlat() {
		return err
	}
	for _, d := range list {
		if d.Kind != format.DecideJoin {
			continue
		}
		if err := t.decideIn(FlatForest, format.Decision{Kind: format.DecideJoin, Cluster: flatCluster, ID: d.ID}); err != nil {
			return err
		}
	}
	return nil
}

// decideIn takes decisions about the forest of a name.
func (t *tx) decideIn(name string, list ...format.Decision) error {
	f := t.draftOf(name)
	if f.state != nil {
		if err := f.state.ApplyAll(list); err != nil {
			return err
		}
	}
	f.decided = append(f.decided, list...)
	return nil
}

// forest returns the shared forest with everything decided so far.
func (t *tx) forest() (*forest.State, error) { return t.forestOf(MainForest) }

// forestOf is forest for the forest of a name.
func (t *tx) forestOf(name string) (*forest.State, error) {
	f := t.draftOf(name)
	if f.state != nil {
		return f.state, nil
	}
	st, err := t.ForestOf(t.view, name)
	if err != nil {
		return nil, err
	}
	if err := st.ApplyAll(f.decided); err != nil {
		return nil, err
	}
	f.state = st
	return st, nil
}

// writeForest has the shared forest written with the next commit, and returns its id.
func (t *tx) writeForest() (format.ID, error) { return t.writeForestOf(MainForest) }

// writeForestOf is writeForest for the forest of a name.
func (t *tx) writeForestOf(name string) (format.ID, error) {
	st, err := t.forestOf(name)
	if err != nil {
		return format.ID{}, err
	}
	w, err := st.Write()
	if err != nil {
		return format.ID{}, err
	}
	t.raws = append(t.raws, w.Objects...)
	t.draftOf(name).written = w.Forest
	return w.Forest, nil
}

// writeForests is writeForestOf for every forest that there is.
func (t *tx) writeForests() error {
	for _, name := range t.forests() {
		if _, err := t.writeForestOf(name); err != nil {
			return err
		}
	}
	return nil
}

// commit puts the objects, records the operation with what was decided, and now and then a checkpoint after it.
func (t *tx) commit(op *format.Operation) error {
	if err := t.flush(); err != nil {
		return err
	}
	for _, name := range forestNames {
		f := t.draftOf(name)
		if len(f.decided) > 0 {
			op.Forests = append(op.Forests, format.ForestUpdate{Name: name, Decisions: f.decided})
		}
		if old := t.view.Get(forestRefOf(name)); !f.written.IsZero() && old.ID != f.written {
			op.Refs = append(op.Refs, format.RefUpdate{Name: forestRefOf(name), Old: old, New: format.Value{Kind: format.ObjectValue, ID: f.written}})
		}
	}
	if err := t.carryCandidates(op); err != nil {
		return err
	}
	if _, known := refs.EffectOf(op.Verb); !known {
		return fmt.Errorf("no effect is known of a verb %q", op.Verb)
	}
	op.Time = t.Now().UTC().Truncate(time.Millisecond)
	view, err := t.Refs.Commit(t.held, t.view, op, t.present)
	if err != nil {
		return err
	}
	t.view, t.newer = view, nil
	if someLeft(t.decided) {
		t.cands = nil // they know what has left, or old words of what has changed; by the stamp the next command sees that the kept ones do not fit
	}
	for _, name := range forestNames {
		f := t.draftOf(name)
		f.decided, f.written = nil, format.ID{}
	}
	t.saveCandidates()
	if view.Long() && op.Verb != refs.VerbCheckpoint {
		if err := t.checkpoint(); err != nil {
			t.warn(fmt.Errorf("no checkpoint yet: %w", err))
		}
	}
	return nil
}

func (t *tx) flush() error {
	if len(t.raws) == 0 {
		return nil
	}
	if err := t.Objects.Put(t.raws...); err != nil {
		return err
	}
	for _, r := range t.raws {
		t.present[r.ID()] = true
	}
	t.raws = nil
	return nil
}

// longOverlay is how many bytes of log a long command leaves for readers to lay over the checkpoint, at most: as much as the operations of 256 appends.
const longOverlay = 64 << 10

// shortenLog writes a checkpoint if what a command recorded would slow the next ones down.
func (t *tx) shortenLog() error {
	if t.view.Overlay() < longOverlay {
		return nil
	}
	return t.checkpoint()
}

// checkpoint writes the forests and then every ref, so that readers overlay fewer records.
func (t *tx) checkpoint() error {
	pending := false
	for _, name := range forestNames {
		if len(t.view.Pending(name)) == 0 {
			continue
		}
		t.draftOf(name).state = nil // what the operation decided is in the view now
		if _, err := t.writeForestOf(name); err != nil {
			return err
		}
		pending = true
	}
	if pending {
		if err := t.commit(&format.Operation{Verb: refs.VerbCheckpoint}); err != nil {
			return err
		}
	}
	return t.Refs.Checkpoint(t.held, t.view)
}

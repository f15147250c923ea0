// Package store is the one way to change a store. Locked takes the lock of the store and hands out
// a transaction (Tx). A transaction collects objects (Add) and decisions about the forests (Decide)
// until Commit records them with one operation. Before an operation is in the log nothing has
// happened; after it everything has.
//
// The rooms above get their part of a transaction from a Room. Begin to read at Locked and
// Tx.Commit. forget.go removes bodies for good; keycheck.go refuses a key that is not the store's.
// copy.go, setaside.go and leftovers.go deal with the directory as a whole: they copy, count and
// remove it, and find the files that interrupted commands left in it and beside it.
package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/lock"
	"github.com/gemini-ctx/ctx/refs"
)

// Store takes the lock of a store and commits operations.
type Store struct {
	*history.Reader
	repo *repo.Repo

	mu      sync.Mutex
	keyFits bool            // checkKey found that the store was written with the present key
	kept    map[string]kept // by name of the forest

	onCommit  []func(*format.Operation)
	dropStale func(*refs.View, time.Time, bool) (int, error)
}

// New returns the writer of a store that h reads.
func New(r *repo.Repo, h *history.Reader) *Store {
	return &Store{Reader: h, repo: r}
}

// Opened is an open store: its files, what reads its history, and what commits to it. Upkeep needs
// no more. The rooms above are those of internal/session.
type Opened struct {
	*repo.Repo
	History *history.Reader
	Store   *Store
}

// Open returns what reads and writes an open store.
func Open(r *repo.Repo) *Opened {
	h := history.NewReader(r)
	return &Opened{Repo: r, History: h, Store: New(r, h)}
}

// OnCommit has told called with every operation that this Store commits, while the lock is held.
// It is called before the store is used by several goroutines.
func (s *Store) OnCommit(told func(*format.Operation)) { s.onCommit = append(s.onCommit, told) }

// OnCollect says how to remove what a room above keeps beside the objects: drop removes what is
// older than a time and needed no more. With dry it only counts.
func (s *Store) OnCollect(drop func(v *refs.View, before time.Time, dry bool) (int, error)) {
	s.dropStale = drop
}

// DropStale runs what OnCollect was given, and returns how much was removed.
func (s *Store) DropStale(v *refs.View, before time.Time, dry bool) (int, error) {
	if s.dropStale == nil {
		return 0, nil
	}
	return s.dropStale(v, before, dry)
}

// Tx is a transaction: the lock is held, and View is the newest state of the refs. It exists only
// while the store is locked.
type Tx struct {
	*Store
	Held *lock.Held
	View *refs.View

	waiting      []format.Raw       // objects that the next commit writes
	present      map[format.ID]bool // objects that were written under this lock
	parts        map[any]any        // by *Room: the part of each room that took part
	participants []Participant
	main, flat   draft
	patient      bool // a checkpoint can wait
	holding      bool // objects are written by the commit and not before
	// latest versions of messages, where this operation changes them
	latest map[format.ID]format.ID
}

// Locked runs do under the store's lock. do may commit more than once.
func (s *Store) Locked(ctx context.Context, do func(*Tx) error) error {
	held, err := s.repo.Lock(ctx)
	if err != nil {
		return err
	}
	view, err := s.repo.Refs.Begin(held)
	if err == nil {
		defer s.repo.Objects.EndStage(false)
		t := &Tx{Store: s, Held: held, View: view, present: map[format.ID]bool{},
			parts: map[any]any{}}
		for _, step := range []func() error{t.checkKey, func() error { return t.recover(ctx) },
			t.CheckWritten, func() error { return do(t) }} {
			if err = step(); err != nil {
				break
			}
		}
	}
	return errors.Join(err, held.Release())
}

// EndLoad makes a store quick to read after a load of many batches: it joins the packs that they
// left (objects.Store.JoinPacks) and writes a checkpoint. It takes the lock for each pack that it
// makes, about as long as for a batch.
func (s *Store) EndLoad(ctx context.Context) error {
	for more := true; more; {
		err := s.Locked(ctx, func(t *Tx) (err error) {
			if more, err = t.repo.Objects.JoinPacks(t.Held); more || err != nil {
				return err
			}
			return t.checkpoint()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Put writes objects before an operation names them. It takes the lock: no body comes back that a
// forget takes away meanwhile. may, if not nil, is asked under the lock first. Errors: those of
// objects.Store.Put and of may.
func (s *Store) Put(ctx context.Context, may func() error, raws ...format.Raw) error {
	return s.Locked(ctx, func(t *Tx) error {
		if may != nil {
			if err := may(); err != nil {
				return err
			}
		}
		return t.repo.Objects.Put(raws...)
	})
}

// MarkAbsent records that the bodies of objects are gone, for a reason and from a time on.
func (t *Tx) MarkAbsent(ids []format.ID, reason string, at time.Time) error {
	return t.repo.Objects.MarkAbsent(t.Held, ids, reason, at)
}

// Room gives a room above its part of each transaction. T is that part, the Tx of the room: it has
// the methods that write.
type Room[T any] struct {
	store *Store
	begin func(*Tx) T
}

// NewRoom returns a room over s. begin makes the room's part of a transaction; it runs once for
// each transaction.
func NewRoom[T any](s *Store, begin func(*Tx) T) *Room[T] {
	return &Room[T]{store: s, begin: begin}
}

// Begin returns the room's part of a transaction. If it is a Participant, it takes part in the
// commits from now on.
func (r *Room[T]) Begin(t *Tx) T {
	if part, known := t.parts[r]; known {
		return part.(T)
	}
	part := r.begin(t)
	t.parts[r] = part
	if p, ok := any(part).(Participant); ok {
		t.participants = append(t.participants, p)
	}
	return part
}

// Locked runs do under the store's lock, with the room's part of the transaction. do may commit
// more than once.
func (r *Room[T]) Locked(ctx context.Context, do func(T) error) error {
	return r.store.Locked(ctx, func(t *Tx) error { return do(r.Begin(t)) })
}

// Do is Locked for what returns something.
func Do[T, R any](ctx context.Context, r *Room[T], do func(T) (R, error)) (out R, err error) {
	err = r.Locked(ctx, func(t T) error {
		out, err = do(t)
		return err
	})
	return out, err
}

// LockedWith is Store.LockedWith, with the room's part of the transaction.
func (r *Room[T]) LockedWith(
	ctx context.Context, raws []format.Raw, do func(t T, put func() error) error,
) error {
	return r.store.LockedWith(ctx, raws,
		func(t *Tx, put func() error) error { return do(r.Begin(t), put) })
}

// TakeForest is Store.TakeForest.
func (r *Room[T]) TakeForest(view *refs.View, name string) (*forest.State, error) {
	return r.store.TakeForest(view, name)
}

// GiveForest is Store.GiveForest.
func (r *Room[T]) GiveForest(view *refs.View, name string, st *forest.State) {
	r.store.GiveForest(view, name, st)
}

// Participant keeps something beside a transaction, such as a cache. It takes part in every commit.
type Participant interface {
	// Prepare is called before an operation is recorded.
	Prepare(op *format.Operation) error
	// Committed is called after an operation was recorded. decided are the decisions about the
	// main forest that the operation holds.
	Committed(decided []format.Decision)
}

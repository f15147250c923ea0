package store

import (
	"context"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

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

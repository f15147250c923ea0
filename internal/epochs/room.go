// Package epochs records what a model was told about its surroundings. An observation compares
// values with those that the model of a branch knows, and tells it the difference in an update.
// What the model knows is an epoch object, which a ref names and epoch entries on the branch name
// too.
//
// Begin to read at Writer.Observe (observe.go). inforce.go keeps the ref of the epoch with the
// branch through undo, forks and folds; updates.go shows the updates among the messages. The pure
// rules are in the package epoch.
package epochs

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads epochs. It has no way to write.
type Reader struct {
	*history.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader) *Reader {
	return &Reader{Reader: h}
}

// Writer has the verbs of epochs. Each takes the lock of the store.
type Writer struct {
	*Reader
	store *store.Store
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store) *Writer {
	return &Writer{Reader: r, store: s}
}

// Tx is the part of a transaction that changes epochs. It exists only while the store is locked.
type Tx struct {
	*Reader
	store *store.Tx
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return &Tx{Reader: w.Reader, store: t}
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

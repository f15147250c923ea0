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
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads epochs. It has no way to write.
type Reader struct {
	*history.Reader
}

// Writer has the verbs of epochs. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes epochs. It exists only while the store is locked.
type Tx struct {
	*Reader
	store *store.Tx
}

// New returns the verbs over the rooms below.
func New(s *store.Store) *Writer {
	r := &Reader{Reader: s.Reader}
	return &Writer{Reader: r,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx { return &Tx{Reader: r, store: t} })}
}

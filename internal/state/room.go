// Package state holds small values that programs and people keep in a store beside what was said:
// the state of sessions, apps and users, and refs under user/. Each verb is one operation.
package state

import (
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads values. It has no way to write.
type Reader struct{ *history.Reader }

// Writer changes values. Each verb takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes values.
type Tx struct {
	*Reader
	store *store.Tx
}

// New returns the verbs over a store.
func New(s *store.Store) *Writer {
	r := &Reader{Reader: s.Reader}
	return &Writer{Reader: r,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx { return &Tx{Reader: r, store: t} })}
}

// Package conversation changes what a session says: it appends, forks, joins, rewinds, undoes and
// graduates.
//
// A branch is a chain of entries. Its ref holds the tip, the frontier (messages up to it are in
// clusters of the forest) and the pin (the forest that it renders, and through which message).
// Entries never change: an append adds some, a rewind adds one that the branch continues from, an
// undo moves the ref. Each verb is one operation of the log, but Graduate, which commits in
// batches.
//
// Begin with append.go and appender.go, then adopt.go for the pin, rewind.go and undo.go.
package conversation

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Reader reads conversations. It has no way to write.
type Reader struct {
	*history.Reader
	clusters *clusters.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader, clusters *clusters.Reader) *Reader {
	return &Reader{Reader: h, clusters: clusters}
}

// Writer changes conversations. Each method takes the lock of the store.
type Writer struct {
	*Reader
	store     *store.Store
	clusters  *clusters.Writer
	epochs    *epochs.Writer
	summaries *summaries.Writer
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store, clusters *clusters.Writer, epochs *epochs.Writer, summaries *summaries.Writer) *Writer {
	return &Writer{Reader: r, store: s, clusters: clusters, epochs: epochs, summaries: summaries}
}

// Tx is the part of a transaction that changes conversations. It exists only under the lock.
type Tx struct {
	*Reader
	store     *store.Tx
	clusters  *clusters.Tx
	epochs    *epochs.Tx
	summaries *summaries.Tx
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return &Tx{Reader: w.Reader, store: t, clusters: w.clusters.Begin(t), epochs: w.epochs.Begin(t), summaries: w.summaries.Begin(t)}
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

// Package summaries makes the summaries of clusters: claims (claim.go, pieces.go, inputs.go),
// answers and their decisions (answers.go), the built-in summarizer (extractive.go), eviction
// (evict.go, tombstone.go), and labels (label.go).
package summaries

import (
	"context"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads summaries. It has no way to write.
type Reader struct {
	*history.Reader
	clusters *clusters.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader, clusters *clusters.Reader) *Reader {
	return &Reader{Reader: h, clusters: clusters}
}

// Writer has the verbs of summaries. Each takes the lock of the store.
type Writer struct {
	*Reader
	store    *store.Store
	clusters *clusters.Writer
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store, clusters *clusters.Writer) *Writer {
	return &Writer{Reader: r, store: s, clusters: clusters}
}

// Tx is the part of a transaction that changes summaries. It exists only while the store is locked.
type Tx struct {
	*Reader
	store    *store.Tx
	clusters *clusters.Tx

	others *summarize.Others // what clusters are about; nil until one is evicted
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return &Tx{Reader: w.Reader, store: t, clusters: w.clusters.Begin(t)}
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

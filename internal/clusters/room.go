// Package clusters has the rules of the forest in a store: which messages graduate into which
// cluster (graduate.go, candidates.go), the strategies (strategy.go, flat.go), and the ways to find
// and list clusters and to name objects (lookup.go, list.go, members.go, revision.go,
// forest_at.go).
package clusters

import (
	"context"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads clusters. It has no way to write.
type Reader struct {
	*history.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader) *Reader {
	return &Reader{Reader: h}
}

// Writer has the verbs of clusters. Each takes the lock of the store.
type Writer struct {
	*Reader
	store *store.Store
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store) *Writer {
	return &Writer{Reader: r, store: s}
}

// Tx is the part of a transaction that changes clusters. It exists only while the store is locked.
type Tx struct {
	*Reader
	store *store.Tx

	cands *Candidates // nil until asked for
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return store.Part(t, func() *Tx { return &Tx{Reader: w.Reader, store: t} })
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

// Prepare has the candidates at hand before an operation is recorded.
func (t *Tx) Prepare(op *format.Operation) error { return t.carryCandidates(op) }

// Committed drops the candidates if members were taken out or put back, because the candidates
// hold words of removed members. The stamp tells the next command that the cached ones do not
// fit.
func (t *Tx) Committed(decided []format.Decision) {
	if someLeft(decided) {
		t.cands = nil
	}
	t.saveCandidates()
}

// Forget drops the candidates: they are made of words.
func (t *Tx) Forget() { t.cands = nil }

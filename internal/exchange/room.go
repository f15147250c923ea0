package exchange

import (
	"context"
	"sync"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads sessions for an export. It has no way to write.
type Reader struct {
	*history.Reader
	clusters     *clusters.Reader
	conversation *conversation.Reader
	edits        *edits.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader, clusters *clusters.Reader, conversation *conversation.Reader, edits *edits.Reader) *Reader {
	return &Reader{Reader: h, clusters: clusters, conversation: conversation, edits: edits}
}

// Writer has the verbs of sessions for an export. Each takes the lock of the store.
type Writer struct {
	*Reader
	store        *store.Store
	clusters     *clusters.Writer
	conversation *conversation.Writer
	epochs       *epochs.Writer

	copying sync.Mutex
	copies  map[string]string
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store, clusters *clusters.Writer, conversation *conversation.Writer, epochs *epochs.Writer) *Writer {
	return &Writer{Reader: r, store: s, clusters: clusters, conversation: conversation, epochs: epochs}
}

// Tx is the part of a transaction that changes sessions for an export. It exists only while the
// store is locked.
type Tx struct {
	*Reader
	store        *store.Tx
	clusters     *clusters.Tx
	conversation *conversation.Tx
	epochs       *epochs.Tx
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return &Tx{Reader: w.Reader, store: t, clusters: w.clusters.Begin(t), conversation: w.conversation.Begin(t), epochs: w.epochs.Begin(t)}
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

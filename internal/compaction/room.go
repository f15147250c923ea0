// Package compaction runs a compaction: it graduates due messages, asks for summaries
// (summarize.go), settles the answers of workers (workers.go), and lets branches adopt the forest
// (adopt.go). redo.go makes a summary again or reverts it.
package compaction

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Reader reads compactions. It has no way to write.
type Reader struct {
	*history.Reader
	recall    *recall.Reader
	summaries *summaries.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader, recall *recall.Reader, summaries *summaries.Reader) *Reader {
	return &Reader{Reader: h, recall: recall, summaries: summaries}
}

// Writer has the verbs of compactions. Each takes the lock of the store.
type Writer struct {
	*Reader
	store        *store.Store
	clusters     *clusters.Writer
	conversation *conversation.Writer
	epochs       *epochs.Writer
	summaries    *summaries.Writer
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store, clusters *clusters.Writer, conversation *conversation.Writer, epochs *epochs.Writer, summaries *summaries.Writer) *Writer {
	return &Writer{Reader: r, store: s, clusters: clusters, conversation: conversation, epochs: epochs, summaries: summaries}
}

// Tx is the part of a transaction that compacts. It exists only while the store is locked.
type Tx struct {
	*Reader
	store        *store.Tx
	clusters     *clusters.Tx
	conversation *conversation.Tx
	epochs       *epochs.Tx
	summaries    *summaries.Tx
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return &Tx{Reader: w.Reader, store: t, clusters: w.clusters.Begin(t), conversation: w.conversation.Begin(t), epochs: w.epochs.Begin(t), summaries: w.summaries.Begin(t)}
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

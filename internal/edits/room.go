// Package edits changes how messages are shown, never the messages: it masks long tool outputs,
// puts texts in the place of messages (replacements) and keeps outputs that are too long.
//
// An edit is a control entry on a branch. It holds until the message is amended. Each change is
// prepared without the lock and committed under it (retry.go); a claim of a replacement reserves
// nothing, so that a commit compares it with the branch as it is then.
//
// Begin with edits.go and show.go, then mask.go or replace.go. The rule of masks is package mask.
package edits

import (
	"context"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Reader reads edits. It has no way to write.
type Reader struct {
	*history.Reader
	clusters  *clusters.Reader
	epochs    *epochs.Reader
	summaries *summaries.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader, clusters *clusters.Reader, epochs *epochs.Reader, summaries *summaries.Reader) *Reader {
	return &Reader{Reader: h, clusters: clusters, epochs: epochs, summaries: summaries}
}

// Writer changes edits. Each method takes the lock of the store.
type Writer struct {
	*Reader
	store        *store.Store
	conversation *conversation.Writer
	summaries    *summaries.Writer
	clusters     *clusters.Writer
}

// NewWriter returns the verbs over the rooms below.
func NewWriter(r *Reader, s *store.Store, conversation *conversation.Writer, summaries *summaries.Writer, clusters *clusters.Writer) *Writer {
	return &Writer{Reader: r, store: s, conversation: conversation, summaries: summaries, clusters: clusters}
}

// Tx is the part of a transaction that changes edits. It exists only while the store is locked.
type Tx struct {
	*Reader
	store     *store.Tx
	summaries *summaries.Tx
	clusters  *clusters.Tx
}

// Begin returns the part of this room in a transaction.
func (w *Writer) Begin(t *store.Tx) *Tx {
	return &Tx{Reader: w.Reader, store: t, summaries: w.summaries.Begin(t), clusters: w.clusters.Begin(t)}
}

// locked runs do under the store's lock. do may commit more than once.
func (w *Writer) locked(ctx context.Context, do func(*Tx) error) error {
	return w.store.Locked(ctx, func(t *store.Tx) error { return do(w.Begin(t)) })
}

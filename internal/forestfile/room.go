// Package forestfile writes the shared forest of a store into one union-find-json file, and takes
// such a file into a store: messages, clusters, summaries and tombstones. docs/format has the
// format, document.go its form, decode.go and encode.go its codec.
package forestfile

import (
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads the forest for an export. It has no way to write.
type Reader struct {
	*history.Reader
	clusters *clusters.Reader
}

// Writer imports files. It takes the lock of the store for each step of an import.
type Writer struct {
	*Reader
	*store.Room[*Tx]
	conversation *conversation.Writer
	store        *store.Store
}

// Tx is the part of a transaction that imports. It exists only while the store is locked.
type Tx struct {
	*Reader
	store        *store.Tx
	clusters     *clusters.Tx
	conversation *conversation.Tx
	epochs       *epochs.Tx
}

// New returns the verbs over the rooms below.
func New(
	s *store.Store, clusters *clusters.Writer, epochs *epochs.Writer,
	conversation *conversation.Writer,
) *Writer {
	r := &Reader{Reader: s.Reader, clusters: clusters.Reader}
	return &Writer{Reader: r, conversation: conversation, store: s,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx {
			return &Tx{
				Reader: r, store: t,
				clusters: clusters.Begin(t), conversation: conversation.Begin(t),
				epochs: epochs.Begin(t),
			}
		})}
}

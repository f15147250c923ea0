package importer

import (
	"sync"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/state"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads what an import has to know. It has no way to write.
type Reader struct {
	*history.Reader
	exporter     *exporter.Reader
	clusters     *clusters.Reader
	conversation *conversation.Reader
	edits        *edits.Reader
}

// Writer has the verbs of imports and exports. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
	conversation *conversation.Writer
	state        *state.Writer
	store        *store.Store

	copying sync.Mutex
	copies  map[string]string
	firsts  map[string]history.Entry // the first messages of sessions, by their names
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
	conversation *conversation.Writer, edits *edits.Writer, out *exporter.Reader,
	state *state.Writer,
) *Writer {
	r := &Reader{Reader: s.Reader, exporter: out, clusters: clusters.Reader,
		conversation: conversation.Reader, edits: edits.Reader}
	return &Writer{Reader: r, conversation: conversation, state: state, store: s,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx {
			return &Tx{
				Reader: r, store: t,
				clusters: clusters.Begin(t), conversation: conversation.Begin(t),
				epochs: epochs.Begin(t),
			}
		})}
}

// Package edits changes how messages are shown, never the messages: it masks long tool outputs
// and puts texts in the place of messages (replacements).
//
// An edit is a control entry on a branch. It holds until the message is amended. Each change is
// prepared without the lock and committed under it (retry.go); a claim of a replacement reserves
// nothing, so that a commit compares it with the branch as it is then.
//
// Begin with edits.go and show.go, then mask.go or replace.go. The rule of masks is package mask.
package edits

import (
	"github.com/gemini-ctx/ctx/internal/clusters"
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

// Writer has the verbs of edits. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes edits. It exists only while the store is locked.
type Tx struct {
	*Reader
	store     *store.Tx
	clusters  *clusters.Tx
	summaries *summaries.Tx
}

// New returns the verbs over the rooms below.
func New(
	s *store.Store, clusters *clusters.Writer, epochs *epochs.Writer, summaries *summaries.Writer,
) *Writer {
	r := &Reader{Reader: s.Reader, clusters: clusters.Reader, epochs: epochs.Reader,
		summaries: summaries.Reader}
	return &Writer{Reader: r,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx {
			return &Tx{
				Reader: r, store: t,
				clusters: clusters.Begin(t), summaries: summaries.Begin(t),
			}
		})}
}

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

// Writer has the verbs of conversations. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
	clusters *clusters.Writer

	// Follow, if not nil, is told what Append appended, after the lock is released. It is set before
	// the first Append.
	Follow func(*history.Batch)
}

// Tx is the part of a transaction that changes conversations. It exists only while the store is
// locked.
type Tx struct {
	*Reader
	store     *store.Tx
	follow    bool // somebody follows appends
	clusters  *clusters.Tx
	epochs    *epochs.Tx
	summaries *summaries.Tx
	extracts  *extracts // made before the lock was taken; nil for none
}

// New returns the verbs over the rooms below.
func New(
	s *store.Store, clusters *clusters.Writer, epochs *epochs.Writer, summaries *summaries.Writer,
) *Writer {
	r := &Reader{Reader: s.Reader, clusters: clusters.Reader}
	w := &Writer{Reader: r, clusters: clusters}
	w.Room = store.NewRoom(s, func(t *store.Tx) *Tx {
		return &Tx{
			Reader: r, store: t, follow: w.Follow != nil,
			clusters: clusters.Begin(t), epochs: epochs.Begin(t), summaries: summaries.Begin(t),
		}
	})
	return w
}

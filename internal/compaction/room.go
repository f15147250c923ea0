// Package compaction runs a compaction: it graduates due messages, asks for summaries
// (summarize.go), settles the answers of workers (workers.go), and lets branches adopt the forest
// (adopt.go). redo.go makes a summary again or reverts it.
package compaction

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/summaries"
	"github.com/gemini-ctx/ctx/refs"
)

// Reader reads compactions. It has no way to write.
type Reader struct {
	*history.Reader
	tokens    Tokens
	summaries *summaries.Reader
}

// Writer has the verbs of compactions. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
	clusters *clusters.Writer
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

// Tokens returns how many tokens a branch renders to at each of some values of it, and what went
// wrong with each.
type Tokens func(v *refs.View, session, branch string, values ...format.Value) ([]int, []error)

// New returns the verbs over the rooms below.
func New(
	s *store.Store, clusters *clusters.Writer, epochs *epochs.Writer, summaries *summaries.Writer,
	conversation *conversation.Writer, tokens Tokens,
) *Writer {
	r := &Reader{Reader: s.Reader, tokens: tokens, summaries: summaries.Reader}
	return &Writer{Reader: r, clusters: clusters, Room: store.NewRoom(s, func(t *store.Tx) *Tx {
		return &Tx{
			Reader: r, store: t,
			clusters: clusters.Begin(t), conversation: conversation.Begin(t),
			epochs: epochs.Begin(t), summaries: summaries.Begin(t),
		}
	})}
}

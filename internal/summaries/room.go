// Package summaries makes the summaries of clusters: claims (claim.go, pieces.go, inputs.go),
// answers and their decisions (answers.go), the built-in summarizer (extractive.go), eviction
// (evict.go, tombstone.go), and labels (label.go).
package summaries

import (
	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads summaries. It has no way to write.
type Reader struct {
	*history.Reader
	clusters *clusters.Reader

	nothingGone bool // see lookOnce
}

// Writer has the verbs of summaries. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes summaries. It exists only while the store is locked.
type Tx struct {
	*Reader
	store    *store.Tx
	clusters *clusters.Tx

	others *summarize.Others // what clusters are about; nil until one is evicted
}

// New returns the verbs over the rooms below.
func New(s *store.Store, clusters *clusters.Writer) *Writer {
	r := &Reader{Reader: s.Reader, clusters: clusters.Reader}
	return &Writer{Reader: r, Room: store.NewRoom(s, func(t *store.Tx) *Tx {
		return &Tx{
			Reader: r, store: t,
			clusters: clusters.Begin(t),
		}
	})}
}

// Package clusters has the rules of the forest in a store: into which cluster a message graduates
// (graduate.go, candidates.go; package window says which messages are due), the strategies
// (strategy.go, flat.go), and the ways to find and list clusters and to name objects (lookup.go,
// list.go, members.go, revision.go, forest_at.go).
package clusters

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
)

// Reader reads clusters. It has no way to write.
type Reader struct {
	*history.Reader
}

// Writer has the verbs of clusters. Each takes the lock of the store.
type Writer struct {
	*Reader
	*store.Room[*Tx]
}

// Tx is the part of a transaction that changes clusters. It exists only while the store is locked.
type Tx struct {
	*Reader
	store *store.Tx

	cands  *candidates                        // nil until asked for
	amends map[string]map[format.ID]format.ID // see newAmends, by session
}

// New returns the verbs over the rooms below.
func New(s *store.Store) *Writer {
	r := &Reader{Reader: s.Reader}
	return &Writer{Reader: r,
		Room: store.NewRoom(s, func(t *store.Tx) *Tx { return &Tx{Reader: r, store: t} })}
}

// Prepare has the candidates at hand before an operation is recorded.
func (t *Tx) Prepare(op *format.Operation) error { return t.carryCandidates(op) }

// Committed drops the candidates if members were taken out or put back, because the candidates
// hold words of removed members. The stamp tells the next command that the cached ones do not
// fit.
func (t *Tx) Committed(decided []format.Decision) {
	t.amends = nil
	if someLeft(decided) {
		t.cands = nil
	}
	t.saveCandidates()
}

// DropCandidates drops the candidates: they are made of words.
func (t *Tx) DropCandidates() { t.cands, t.amends = nil, nil }

// Package recall reads back what a store holds: the log of a branch, the messages that a cluster
// stands for, what a branch renders for a model, the brief of an agent's work, and searches.
//
// It promises that a Reader never writes to the store. Two things that it computes are kept in the
// cache, which may be deleted at any time: the search index and the digest of a branch. What a call
// returns depends on the view of the refs that the caller passes, not on the cache.
//
// Begin with Reader.LogEach, Reader.Expand, Reader.RenderInput and Reader.Search, each in the file
// of its name. Files named render*.go read the parts of a rendering, files named search*.go keep
// and ask the index. The bytes of a rendering are made in package view, the ranking in package
// search, the lines of a brief in package brief.
package recall

import (
	"sync"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Reader reads messages, clusters and renderings. It has no way to write.
type Reader struct {
	*history.Reader
	clusters  *clusters.Reader
	edits     *edits.Reader
	epochs    *epochs.Reader
	summaries *summaries.Reader

	searching sync.Mutex
	index     *searchIndex // nil before the first search

	learning sync.Mutex
	learned  map[string]*overviewRow // by session
}

// NewReader returns a reader over the rooms below.
func NewReader(
	h *history.Reader, clusters *clusters.Reader, edits *edits.Reader, epochs *epochs.Reader,
	summaries *summaries.Reader,
) *Reader {
	r := &Reader{Reader: h, clusters: clusters, edits: edits, epochs: epochs, summaries: summaries}
	h.OnForget(r.dropSearch)
	h.OnForget(r.dropLearned)
	return r
}

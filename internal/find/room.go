// Package find answers what somebody asks a store: which messages have these words (Reader.Search,
// Reader.Grep), which turns tell of it (Reader.Answers), what was decided about a file
// (Reader.About), and how it was done before (Reader.Outcomes).
//
// It promises that a Reader never writes to the store. The index is kept in the cache, which may be
// deleted at any time: what a call returns depends on the view of the refs that the caller passes.
//
// Files named search*.go keep and ask the index. The ranking is made in package search.
package find

import (
	"sync"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Reader finds messages, turns and sessions. It has no way to write.
type Reader struct {
	*sessions.Reader
	clusters  *clusters.Reader
	summaries *summaries.Reader

	searching sync.Mutex
	index     *searchIndex // nil before the first search
}

// NewReader returns a reader over the rooms below.
func NewReader(
	h *history.Reader, clusters *clusters.Reader, summaries *summaries.Reader,
) *Reader {
	r := &Reader{Reader: sessions.NewReader(h, clusters), clusters: clusters,
		summaries: summaries}
	h.OnForget(r.dropSearch)
	return r
}

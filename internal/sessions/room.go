// Package sessions knows of each session what it is: its name and title, its agent, where its tip
// is, what came of it, and its turns, with the facts of its messages as a digest.
//
// It promises that a Reader never writes to the store. Two things that it computes are kept in the
// cache, which may be deleted at any time: what is known of all sessions, and the digest of a
// branch. What a call returns depends on the view of the refs that the caller passes, not on the
// cache.
//
// Begin with Reader.Overviews, Reader.Named, Reader.Head and Reader.Turns, each in the file of its
// name. The facts are made in package digest.
package sessions

import (
	"sync"

	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
)

// Reader reads what is known of sessions. It has no way to write.
type Reader struct {
	*history.Reader
	clusters *clusters.Reader

	learning sync.Mutex
	learned  map[string]*overviewRow // by session
}

// NewReader returns a reader over the rooms below.
func NewReader(h *history.Reader, clusters *clusters.Reader) *Reader {
	r := &Reader{Reader: h, clusters: clusters}
	h.OnForget(r.dropLearned)
	return r
}

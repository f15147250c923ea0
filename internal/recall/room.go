// Package recall reads back what a store holds: the log of a branch, the messages that a cluster
// stands for, what a branch renders for a model, and the brief of an agent's work. What is known of
// sessions, and what finds something, its Reader has from packages sessions and find.
//
// It promises that a Reader never writes to the store. What a call returns depends on the view of
// the refs that the caller passes, not on the cache.
//
// Begin with Reader.LogEach, Reader.Expand and Reader.RenderInput, each in the file of its name.
// Files named render*.go read the parts of a rendering. The bytes of a rendering are made in
// package view, the lines of a brief in package brief.
package recall

import (
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/epochs"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/summaries"
)

// Reader reads messages, clusters and renderings. It has no way to write.
type Reader struct {
	*find.Reader
	clusters  *clusters.Reader
	edits     *edits.Reader
	epochs    *epochs.Reader
	summaries *summaries.Reader
}

// NewReader returns a reader over the rooms below.
func NewReader(
	h *history.Reader, clusters *clusters.Reader, edits *edits.Reader, epochs *epochs.Reader,
	summaries *summaries.Reader,
) *Reader {
	return &Reader{Reader: find.NewReader(h, clusters, summaries), clusters: clusters,
		edits: edits, epochs: epochs, summaries: summaries}
}

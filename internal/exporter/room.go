// Package exporter reads a branch as the conversation that it is, and writes it as the transcript
// of an agent or as a session of ADK. It has no way to write to the store.
package exporter

import (
	"github.com/gemini-ctx/ctx/internal/edits"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/state"
)

// Reader reads sessions for an export.
type Reader struct {
	*history.Reader
	state *state.Reader
	edits *edits.Reader
}

// New returns the verbs over the rooms below.
func New(h *history.Reader, st *state.Reader, e *edits.Reader) *Reader {
	return &Reader{Reader: h, state: st, edits: e}
}

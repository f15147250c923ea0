// Package blame finds the calls that changed a file, in all sessions of a store, and says which of
// them wrote each of its lines.
//
// Begin with Reader.Calls (calls.go), which reads the calls, then Lines (lines.go), which decides.
// What a call does to a file, and the replay of many of them, are in package replay.
package blame

import "github.com/gemini-ctx/ctx/internal/history"

// Reader reads calls. It has no way to write.
type Reader struct{ *history.Reader }

// NewReader returns a reader of a store.
func NewReader(h *history.Reader) *Reader { return &Reader{h} }

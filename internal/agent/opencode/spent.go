package opencode

import (
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Spent reads what a call took from what is kept of its message.
func Spent(of jsonvalue.Object) []transcript.Spent {
	info := of.Object("info")
	u := info.Object("tokens")
	if len(u) == 0 {
		return nil
	}
	return []transcript.Spent{{Call: info.Text("id"), Model: info.Text("modelID"),
		Input: u.Number("input"), CacheRead: u.Object("cache").Number("read"),
		CacheWrite: u.Object("cache").Number("write"),
		Output:     u.Number("output") + u.Number("reasoning")}}
}

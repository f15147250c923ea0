package claudecode

import (
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Spent reads what a call took from what is kept of one of its records. Each block of an answer is
// a record with the usage of the whole answer.
func Spent(of jsonvalue.Object) []transcript.Spent {
	answer := of.Object("message")
	u := answer.Object("usage")
	if len(u) == 0 {
		return nil
	}
	written := u.Number("cache_creation_input_tokens")
	hour := min(written, u.Object("cache_creation").Number("ephemeral_1h_input_tokens"))
	return []transcript.Spent{{Call: answer.Text("id"), Input: u.Number("input_tokens"),
		CacheRead: u.Number("cache_read_input_tokens"), CacheWrite: written - hour,
		CacheHour: hour, Output: u.Number("output_tokens")}}
}

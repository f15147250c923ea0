package codex

import (
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Spent reads the events token_count that are kept before a message. Codex writes one after each
// call, writes it again with new limits, and copies it into the rollout of a fork: the sums of the
// session name the call.
func Spent(of jsonvalue.Object) []transcript.Spent {
	return transcript.SpentBefore(of, func(record jsonvalue.Object) []transcript.Spent {
		info := record.Object("payload").Object("info")
		u := info.Object("last_token_usage")
		if len(u) == 0 {
			return nil
		}
		cached := min(u.Number("cached_input_tokens"), u.Number("input_tokens"))
		return []transcript.Spent{{Call: string(info["total_token_usage"]),
			Input:     u.Number("input_tokens") - cached,
			CacheRead: cached, Output: u.Number("output_tokens")}}
	})
}

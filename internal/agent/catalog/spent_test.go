package catalog

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// What is kept of a record, in the form of each agent, and what its calls took.
func TestSpent(t *testing.T) {
	tests := []struct {
		agent, kept string
		want        []transcript.Spent
	}{
		{"claude-code", `{"message":{"id":"m","usage":{"input_tokens":1,"output_tokens":2,` +
			`"cache_read_input_tokens":3,"cache_creation_input_tokens":9,` +
			`"cache_creation":{"ephemeral_1h_input_tokens":4}}}}`,
			[]transcript.Spent{{Call: "m", Input: 1, Output: 2, CacheRead: 3, CacheWrite: 5,
				CacheHour: 4}}},
		{"claude-code", `{"message":{"id":"m","usage":{"input_tokens":1,` +
			`"cache_creation_input_tokens":9}}}`,
			[]transcript.Spent{{Call: "m", Input: 1, CacheWrite: 9}}},
		{"claude-code", `{"message":{"id":"m"}}`, nil},
		{"claude-code", `{"message":{"usage":{"input_tokens":"many"}}}`, []transcript.Spent{{}}},
		{"codex", `{"before":[{"payload":{"type":"token_count","info":{"last_token_usage":` +
			`{"input_tokens":10,"cached_input_tokens":7,"output_tokens":5},` +
			`"total_token_usage":{"x":1}}}},{"payload":{"type":"token_count","info":null}},{"payload":{"type":"task_started"}}]}`,
			[]transcript.Spent{{Call: `{"x":1}`, Sums: true, Input: 3, CacheRead: 7, Output: 5}}},
		{"codex", `{"before":[{"payload":{"info":{"last_token_usage":{"input_tokens":1,` +
			`"cached_input_tokens":7}}}}]}`, []transcript.Spent{{Sums: true, CacheRead: 1}}},
		{"codex", `{"before":"none"}`, nil},
		{"opencode", `{"info":{"id":"msg_1","modelID":"big-1","tokens":{"input":1,"output":2,` +
			`"reasoning":3,"cache":{"read":4,"write":5}}}}`, []transcript.Spent{{Call: "msg_1",
			Model: "big-1", Input: 1, Output: 5, CacheRead: 4, CacheWrite: 5}}},
		{"opencode", `{"part":{"tokens":{"input":1}}}`, nil},
		{"pi", `{"message":{"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4}}}`,
			[]transcript.Spent{{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}}},
		{"openclaw", `{"message":{"stopReason":"stop"}}`, nil},
		{"cline", `{"metrics":{"tokens":{"prompt":7,"completion":2,"cached":5}}}`,
			[]transcript.Spent{{Input: 7, Output: 2, CacheRead: 5}}},
		{"amp", `{"usage":{"model":"harbour","inputTokens":1,"outputTokens":2,` +
			`"cacheReadInputTokens":3,"cacheCreationInputTokens":4}}`,
			[]transcript.Spent{{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}}},
		{"amp", `{"usage":{"model":"gpt-9","inputTokens":0,"cacheCreationInputTokens":4}}`,
			[]transcript.Spent{{Input: 4}}},
		{"amp", `{}`, nil},
		{"qwen", `{"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,` +
			`"candidatesTokenCount":3,"thoughtsTokenCount":2}}`,
			[]transcript.Spent{{Input: 6, CacheRead: 4, Output: 5}}},
	}
	for _, tt := range tests {
		got := SpentOf(tt.agent)(jsonvalue.AsObject([]byte(tt.kept)))
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %s\n%+v, want\n%+v", tt.agent, tt.kept, got, tt.want)
		}
	}
	if SpentOf("gemini-cli") != nil || SpentOf("nobody") != nil {
		t.Error("a reader for an agent that keeps no record of calls")
	}
}

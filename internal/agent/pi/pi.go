// Package pi reads the transcripts of Pi, and of OpenClaw, which is made of it: JSON lines, the
// first one about the session, then a tree of entries. It is a shape.Form. docs/agents/pi.md lists
// what becomes of an entry.
package pi

import (
	"encoding/json"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The agents in the source of a message, and the members of a part with the fields that only these
// have.
const (
	Agent         = "pi"
	OpenClawAgent = "openclaw"
)

// Form is that of a transcript of either.
func Form() *shape.Form {
	return &shape.Form{
		Starts: []string{`{"type":"`},
		Kinds: []shape.Kind{
			{Type: "session", Does: shape.Heads},
			{Type: "message", Does: shape.Says},
			{Type: "compaction", Does: shape.Tells, Text: []string{"summary"}},
			{Type: "branch_summary", Does: shape.Tells, Text: []string{"summary"}},
			{Type: "custom_message", Does: shape.Tells, Text: []string{"content"}},
			{Type: "model_change", Does: shape.Waits},
			{Type: "thinking_level_change", Does: shape.Waits},
			{Type: "session_info", Does: shape.Waits},
			{Type: "label", Does: shape.Waits},
			{Type: "custom", Does: shape.Waits},
		},
		Adapt: adapt,
	}
}

// adapt reads the roles and the blocks that Pi has and Anthropic's API has not.
func adapt(o jsonvalue.Object, _ []shape.Call) shape.Message {
	said := shape.Plain(o)
	for i, raw := range said.Content {
		said.Content[i] = block(raw)
	}
	switch o.Text("role") {
	case "toolResult":
		result := jsonvalue.NewObject("type", "tool_result", "tool_use_id", o.Text("toolCallId"),
			"content", jsonvalue.Array(said.Content))
		if o.True("isError") {
			result.Set("is_error", true)
		}
		said.Role, said.Unknown = transcript.RoleTool, false
		said.Content = []json.RawMessage{jsonvalue.Encode(result)}
		said.Taken = append(said.Taken, "toolCallId", "isError")
	case "bashExecution": // a command that the person ran, and what it printed
		said.Content = []json.RawMessage{o["command"], o["output"]}
		said.Unknown, said.Taken = false, []string{"command", "output"}
	case "custom", "hookMessage": // of an extension
		said.Unknown = false
	}
	return said
}

// block returns a block of content as Anthropic's API has it.
func block(raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	switch {
	case b.Text("type") == "toolCall":
		call := b.Without("arguments")
		call.Set("type", "tool_use")
		call["input"] = b["arguments"]
		return jsonvalue.Encode(call)
	case b.Text("type") == "image" && b.Text("data") != "":
		image := b.Without("data", "mimeType")
		image.Set("source", jsonvalue.NewObject("type", "base64", "media_type", b.Text("mimeType"),
			"data", b.Text("data")))
		return jsonvalue.Encode(image)
	}
	return raw
}

// Spent reads what a call of the model took, from what is kept of its message.
func Spent(of jsonvalue.Object) []transcript.Spent {
	u := of.Object("message").Object("usage")
	if len(u) == 0 {
		return nil
	}
	return []transcript.Spent{{Input: u.Number("input"), CacheRead: u.Number("cacheRead"),
		CacheWrite: u.Number("cacheWrite"), Output: u.Number("output")}}
}

// Package goose reads the sessions of Goose: JSON lines of versions before 1.10, the first one
// about the session, and the document that `goose session export --format json` writes of newer
// ones. It is a shape.Form. docs/agents/goose.md lists what becomes of a message.
package goose

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/agent/voice"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message, and the member of a part with the fields that only
// this agent has.
const Agent = "goose"

// exportHead is how many bytes of a file tell an export from lines.
const exportHead = 64 << 10

// Form is that of a session: lines, or an export.
func Form() *shape.Form {
	return &shape.Form{Head: "working_dir", Time: "created", Adapt: adapt,
		Starts: []string{`{"id":"`, `{"role":"`, `{"working_dir":"`},
		Hidden: hidden, Marks: marks, Recast: recast, Open: open}
}

// open tells an export from lines.
func open(f *shape.Form, r io.Reader) (io.Reader, map[string]int, error) {
	head, r, err := transcript.Peek(r, exportHead)
	if bytes.Contains(head, []byte(`"conversation"`)) {
		f.Unfold = unfold
	}
	return r, nil, err
}

// unfold takes the messages out of an export.
func unfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("conversation")
	if !ok || !doc.Has("working_dir") {
		return nil
	}
	if id := doc.Text("id"); id != "" {
		stats.Session = id
	}
	list := []jsonvalue.Object{doc.Without("conversation")}
	for _, raw := range messages {
		list = append(list, jsonvalue.AsObject(raw))
	}
	return list
}

// recast leaves out of the record of the session what changes with each message.
func recast(o jsonvalue.Object) jsonvalue.Object {
	if o.Has("role") {
		return o
	}
	return o.Without("updated_at", "message_count", "total_tokens", "input_tokens",
		"output_tokens", "accumulated_total_tokens", "accumulated_input_tokens",
		"accumulated_output_tokens", "accumulated_cost")
}

// marks are what the client writes in the name of the user.
func marks() *voice.Table { return &voice.Table{Elements: []string{"info-msg"}} }

// hidden reports whether the person does not see a message in the user's name: the client has
// written a summary of what was said before.
func hidden(_, message jsonvalue.Object) bool {
	return string(message.Object("metadata")["userVisible"]) == "false"
}

// adapt reads the blocks that Goose has and Anthropic's API has not.
func adapt(o jsonvalue.Object, _ []shape.Call) shape.Message {
	said := shape.Plain(o)
	for i, raw := range said.Content {
		said.Content[i] = block(raw)
	}
	return said
}

// block returns a block of content as Anthropic's API has it.
func block(raw json.RawMessage) json.RawMessage {
	b := jsonvalue.AsObject(raw)
	switch b.Text("type") {
	case "toolRequest":
		if value := b.Object("toolCall").Object("value"); value.Has("name") {
			rest := b.Without("toolCall")
			rest.Set("type", "tool_use")
			rest["name"], rest["input"] = value["name"], value["arguments"]
			if !rest.Has("input") {
				rest.Set("input", jsonvalue.Object{})
			}
			return jsonvalue.Encode(rest)
		}
	case "toolResponse":
		result := b.Object("toolResult")
		rest := b.Without("toolResult", "id")
		rest.Set("type", "tool_result")
		rest["tool_use_id"] = b["id"]
		value := result.Object("value") // older ones have a list
		switch {
		case result.Has("error"):
			rest["content"] = result["error"]
			rest.Set("is_error", true)
		case value.Has("content"):
			rest["content"] = value["content"]
			if value.True("isError") {
				rest.Set("is_error", true)
			}
		default:
			rest["content"] = result["value"]
		}
		return jsonvalue.Encode(rest)
	case "image":
		if b.Text("data") != "" {
			image := b.Without("data", "mimeType")
			image.Set("source", jsonvalue.NewObject("type", "base64", "media_type",
				b.Text("mimeType"), "data", b.Text("data")))
			return jsonvalue.Encode(image)
		}
	}
	return raw
}

package shape

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the sessions of Goose: JSON lines of versions before 1.10, the first one
// about the session, and the document that `goose session export --format json` writes of newer
// ones. docs/agents/goose.md lists what becomes of a message.

// gooseHead is how many bytes of a file tell an export from lines.
const gooseHead = 64 << 10

// Goose is the Form of a session: lines, or an export.
func Goose() *Form {
	return &Form{Head: "working_dir", Time: "created", Block: gooseBlock,
		Starts: []string{`{"id":"`, `{"role":"`, `{"working_dir":"`},
		Hidden: gooseHidden, Marks: gooseMarks, Recast: gooseRecast, Open: gooseOpen}
}

// gooseOpen tells an export from lines.
func gooseOpen(f *Form, r io.Reader) (io.Reader, map[string]int, error) {
	head, r, err := transcript.Peek(r, gooseHead)
	if bytes.Contains(head, []byte(`"conversation"`)) {
		f.Unfold = gooseUnfold
	}
	return r, nil, err
}

// gooseUnfold takes the messages out of an export.
func gooseUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("conversation")
	if !ok || !doc.Has("working_dir") {
		return nil
	}
	stats.Session = cmp.Or(doc.Text("id"), stats.Session)
	list := []jsonvalue.Object{doc.Without("conversation")}
	for _, raw := range messages {
		list = append(list, jsonvalue.AsObject(raw))
	}
	return list
}

// gooseRecast leaves out of the record of the session what changes with each message.
func gooseRecast(o jsonvalue.Object) jsonvalue.Object {
	if o.Has("role") {
		return o
	}
	return o.Without("updated_at", "message_count", "total_tokens", "input_tokens",
		"output_tokens", "accumulated_total_tokens", "accumulated_input_tokens",
		"accumulated_output_tokens", "accumulated_cost")
}

// gooseMarks are what the client writes in the name of the user.
func gooseMarks() *transcript.Voices { return &transcript.Voices{Elements: []string{"info-msg"}} }

// gooseHidden reports whether the person does not see a message in the user's name: the client has
// written a summary of what was said before.
func gooseHidden(_, message jsonvalue.Object) bool {
	return string(message.Object("metadata")["userVisible"]) == "false"
}

// gooseBlock returns a block of content as Anthropic's API has it.
func gooseBlock(raw json.RawMessage) json.RawMessage {
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
			return inlineImage(b)
		}
	}
	return raw
}

// Package continuedev reads the sessions of Continue, and of editors that are made of it: one JSON
// object with a list of items. It is a shape.Form. docs/agents/continue.md lists what
// becomes of an item.
package continuedev

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/shape"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Agent is the agent in the source of a message, and the member of a part with the fields that only
// this agent has.
const Agent = "continue"

// Form is that of a session of Continue, or of an agent that is made of it.
func Form() *shape.Form { return &shape.Form{Head: "workspaceDirectory", Unfold: unfold} }

// unfold makes a record of each item, and one of its results. An item without an id is named by its
// place: the client writes it again while it grows.
func unfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	items, ok := doc.Array("history")
	if !ok || !doc.Has("workspaceDirectory") {
		return nil
	}
	if id := doc.Text("sessionId"); id != "" {
		stats.Session = id
	}
	head := doc.Without("history", "sessionId", "usage", "chatModelTitle")
	if title := head.Text("title"); title == "New Session" || title == "Untitled Session" {
		delete(head, "title") // nobody has named it yet
	}
	answered := map[string]bool{} // calls whose results are items of their own
	for _, raw := range items {
		answered[jsonvalue.AsObject(raw).Object("message").Text("toolCallId")] = true
	}
	list := []jsonvalue.Object{head}
	for i, raw := range items {
		it := item{Object: jsonvalue.AsObject(raw), model: doc.Text("chatModelTitle"),
			answered: answered}
		record, results := it.records(stats)
		id := cmp.Or(record.Text("id"), "item-"+strconv.Itoa(i))
		record.Set("id", id)
		if list = append(list, record); results != nil {
			list = append(list,
				jsonvalue.NewObject("id", id+":results", "role", "user", "content", results))
		}
	}
	return list
}

// item is one of the history.
type item struct {
	jsonvalue.Object
	model    string
	answered map[string]bool
}

// records makes a record of the message of an item, and blocks of the results that stand in it.
func (it *item) records(
	stats *transcript.Stats,
) (record jsonvalue.Object, results []json.RawMessage) {
	said := it.Object.Object("message")
	record = it.Without("message", "promptLogs", "editorState", "toolCallStates", "reasoning")
	for name, value := range said.Without("role", "content", "toolCalls", "toolCallId") {
		record[name] = value
	}
	logs, _ := it.Array("promptLogs") // each has all that was said before
	stats.PassN("prompt log", len(logs))
	role, content := said.Text("role"), contentOf(said["content"])
	switch role {
	case "thinking":
		role, content = "assistant", []json.RawMessage{thought(textOf(said["content"]))}
	case "tool":
		role = "user"
		content = []json.RawMessage{
			result(said.Text("toolCallId"), textOf(said["content"]), false)}
	case "assistant":
		content, results = it.answer(content, said, logs)
		if it.model != "" {
			record.Set("model", it.model)
		}
	}
	record.Set("role", role)
	record.Set("content", content)
	return record, results
}

// answer adds to what the model said its thought, its calls and their results.
func (it *item) answer(
	content []json.RawMessage, said jsonvalue.Object, logs []json.RawMessage,
) (_, results []json.RawMessage) {
	for _, raw := range logs {
		log := jsonvalue.AsObject(raw)
		if title := log.Text("modelTitle"); title != "" {
			it.model = title
		}
		if words := log.Text("completion"); len(content) == 0 && words != "" { // of Kiro
			content = []json.RawMessage{jsonvalue.Encode(words)}
		}
	}
	if text := it.Object.Object("reasoning").Text("text"); text != "" {
		content = append([]json.RawMessage{thought(text)}, content...)
	}
	calls, _ := said.Array("toolCalls")
	for _, raw := range calls {
		content = append(content, call(jsonvalue.AsObject(raw)))
	}
	states, _ := it.Array("toolCallStates")
	for _, raw := range states {
		state := jsonvalue.AsObject(raw)
		id := state.Text("toolCallId")
		if calls == nil {
			content = append(content, call(state.Object("toolCall")))
		}
		outputs, ended := state.Array("output")
		if it.answered[id] || !ended {
			continue
		}
		var texts []string
		for _, output := range outputs {
			texts = append(texts, jsonvalue.AsObject(output).Text("content"))
		}
		results = append(results,
			result(id, strings.Join(texts, "\n"), state.Text("status") == "errored"))
	}
	return content, results
}

// contentOf returns the blocks of a content, which is a text or a list of parts.
func contentOf(raw json.RawMessage) []json.RawMessage {
	if text, ok := jsonvalue.Text(raw); ok {
		if text == "" {
			return nil
		}
		return []json.RawMessage{raw}
	}
	list, _ := jsonvalue.Elements(raw)
	for i, part := range list {
		url := jsonvalue.AsObject(part).Object("imageUrl").Text("url")
		if mime, data, ok := transcript.DataURL(url); ok {
			list[i] = jsonvalue.Encode(jsonvalue.NewObject("type", "image", "source",
				jsonvalue.NewObject("type", "base64", "media_type", mime, "data", data)))
		}
	}
	return list
}

func textOf(raw json.RawMessage) string {
	var texts []string
	for _, part := range contentOf(raw) {
		text, ok := jsonvalue.Text(part)
		if !ok {
			text = jsonvalue.AsObject(part).Text("text")
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

func thought(text string) json.RawMessage {
	return jsonvalue.Encode(jsonvalue.NewObject("type", "thinking", "thinking", text))
}

func result(id, output string, failed bool) json.RawMessage {
	o := jsonvalue.NewObject("type", "tool_result", "tool_use_id", id, "content", output)
	if failed {
		o.Set("is_error", true)
	}
	return jsonvalue.Encode(o)
}

// call makes a block of a call, whose arguments are a text with JSON.
func call(o jsonvalue.Object) json.RawMessage {
	function := o.Object("function")
	input := json.RawMessage(function.Text("arguments"))
	if _, ok := jsonvalue.ParseObject(input); !ok { // it is not whole
		input = jsonvalue.Encode(map[string]string{"arguments": string(input)})
	}
	return jsonvalue.Encode(jsonvalue.NewObject("type", "tool_use", "id", o.Text("id"), "name",
		function.Text("name"), "input", input))
}

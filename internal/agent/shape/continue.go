package shape

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// This file reads the sessions of Continue, and of editors that are made of it: one JSON
// object with a list of items. docs/agents/continue.md lists what
// becomes of an item.

// Continue is the Form of a session of Continue, or of an agent that is made of it.
func Continue() *Form { return &Form{Head: "workspaceDirectory", Unfold: continueUnfold} }

// continueUnfold makes a record of each item, and one of its results. An item without an id is
// named by its place: the client writes it again while it grows.
func continueUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	items, ok := doc.Array("history")
	if !ok || !doc.Has("workspaceDirectory") {
		return nil
	}
	stats.Session = cmp.Or(doc.Text("sessionId"), stats.Session)
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
		it := continueItem{Object: jsonvalue.AsObject(raw), model: doc.Text("chatModelTitle"),
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

// continueItem is one of the history.
type continueItem struct {
	jsonvalue.Object
	model    string
	answered map[string]bool
}

// records makes a record of the message of an item, and blocks of the results that stand in it.
func (it *continueItem) records(
	stats *transcript.Stats,
) (record jsonvalue.Object, results []json.RawMessage) {
	said := it.Object.Object("message")
	record = it.Without("message", "promptLogs", "editorState", "toolCallStates", "reasoning")
	for name, value := range said.Without("role", "content", "toolCalls", "toolCallId") {
		record[name] = value
	}
	logs, _ := it.Array("promptLogs") // each has all that was said before
	stats.PassN("prompt log", len(logs))
	role, content := said.Text("role"), continueContent(said["content"])
	switch role {
	case "thinking":
		role, content = "assistant", []json.RawMessage{thought(continueText(said["content"]))}
	case "tool":
		role = "user"
		content = []json.RawMessage{
			result(said.Text("toolCallId"), continueText(said["content"]), false)}
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
func (it *continueItem) answer(
	content []json.RawMessage, said jsonvalue.Object, logs []json.RawMessage,
) (_, results []json.RawMessage) {
	for _, raw := range logs {
		log := jsonvalue.AsObject(raw)
		it.model = cmp.Or(log.Text("modelTitle"), it.model)
		if words := log.Text("completion"); len(content) == 0 && words != "" { // of Kiro
			content = []json.RawMessage{jsonvalue.Encode(words)}
		}
	}
	if text := it.Object.Object("reasoning").Text("text"); text != "" {
		content = append([]json.RawMessage{thought(text)}, content...)
	}
	calls, _ := said.Array("toolCalls")
	for _, raw := range calls {
		content = append(content, continueCall(jsonvalue.AsObject(raw)))
	}
	states, _ := it.Array("toolCallStates")
	for _, raw := range states {
		state := jsonvalue.AsObject(raw)
		id := state.Text("toolCallId")
		if calls == nil {
			content = append(content, continueCall(state.Object("toolCall")))
		}
		outputs, ended := state.Array("output")
		if it.answered[id] || !ended {
			continue
		}
		texts := lists.Map(outputs, func(output json.RawMessage) string {
			return jsonvalue.AsObject(output).Text("content")
		})
		results = append(results,
			result(id, strings.Join(texts, "\n"), state.Text("status") == "errored"))
	}
	return content, results
}

// continueContent returns the blocks of a content, which is a text or a list of parts.
func continueContent(raw json.RawMessage) []json.RawMessage {
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
			list[i] = image(mime, data)
		}
	}
	return list
}

func continueText(raw json.RawMessage) string {
	return strings.Join(lists.Map(continueContent(raw), textIn), "\n")
}

// continueCall makes a block of a call.
func continueCall(o jsonvalue.Object) json.RawMessage {
	function := o.Object("function")
	return jsonvalue.Encode(jsonvalue.NewObject("type", "tool_use", "id", o.Text("id"), "name",
		function.Text("name"), "input", arguments(function.Text("arguments"))))
}

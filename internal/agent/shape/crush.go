package shape

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// This file reads the sessions of Crush: the rows of its database, as one document.
// docs/agents/crush.md lists what becomes of a part.

// Crush is the Form of a session.
func Crush() *Form {
	return &Form{Head: "title", Time: "created_at", Unfold: crushUnfold}
}

// crushUnfold makes a record of each message.
func crushUnfold(doc jsonvalue.Object, stats *transcript.Stats) []jsonvalue.Object {
	messages, ok := doc.Array("messages")
	if !ok || !doc.Has("title") {
		return nil
	}
	stats.Session, stats.Parent = doc.Text("id"), doc.Text("parent")
	children, _ := doc.Array("children")
	for _, raw := range children {
		child, _ := jsonvalue.Text(raw)
		if _, call, ok := strings.Cut(child, "$$"); ok {
			stats.Spawned = append(stats.Spawned, transcript.Spawn{Call: call, Thread: child})
		}
	}
	list := []jsonvalue.Object{jsonvalue.NewObject("title", doc.Text("title"))}
	for _, raw := range messages {
		m := jsonvalue.AsObject(raw)
		record := m.Without("parts", "is_summary_message", "model")
		record.Set("content", crushContent(m))
		switch m.Text("role") {
		case "tool":
			record.Set("role", "user") // as Anthropic's API has it
		case "assistant":
			if record["model"] = m["model"]; string(m["is_summary_message"]) == "1" {
				record.Set("role", "system") // it stands for what was said before
			}
		}
		list = append(list, record)
	}
	return list
}

// crushContent returns the parts of a message as blocks that Anthropic's API has.
func crushContent(m jsonvalue.Object) (list []json.RawMessage) {
	parts, _ := m.Array("parts")
	for _, raw := range parts {
		part := jsonvalue.AsObject(raw)
		data := part.Object("data")
		block := data.Without("data", "mime_type", "name", "finished", "provider_executed")
		maps.DeleteFunc(block, func(_ string, v json.RawMessage) bool { return string(v) == `""` })
		switch part.Text("type") {
		case "text":
			block.Set("type", "text")
		case "reasoning":
			block.Set("type", "thinking")
			block["thinking"] = data["thinking"]
		case "tool_call":
			block.Set("type", "tool_use")
			block["name"] = data["name"]
			input, ok := jsonvalue.ParseObject([]byte(data.Text("input")))
			if !ok { // it was cut off
				input = jsonvalue.NewObject("input", data.Text("input"))
			}
			block.Set("input", input)
		case "tool_result":
			block.Set("type", "tool_result")
			block["tool_use_id"] = data["tool_call_id"]
			block.Set("content", crushResult(data))
			delete(block, "tool_call_id")
		case "binary":
			if mime := data.Text("MIMEType"); strings.HasPrefix(mime, "image/") {
				block.Set("type", "image")
				block.Set("source", imageSource(mime, data.Text("Data")))
				delete(block, "MIMEType")
				delete(block, "Data")
			}
		case "shell_command": // the person ran it
			block.Set("type", "text")
			block.Set("text", "! "+data.Text("command"))
			delete(block, "command")
		case "finish":
			if data.Text("message")+data.Text("details") == "" {
				continue // when the answer ended
			}
		}
		if !block.Has("type") {
			list = append(list, raw)
			continue
		}
		list = append(list, jsonvalue.Encode(block))
	}
	return list
}

// crushResult returns the content of a result: a text, with an image after it if there is one.
func crushResult(data jsonvalue.Object) any {
	mime := data.Text("mime_type")
	if data.Text("data") != "" && strings.HasPrefix(mime, "image/") {
		return []jsonvalue.Object{
			jsonvalue.NewObject("type", "text", "text", data.Text("content")),
			jsonvalue.NewObject("type", "image", "source", imageSource(mime, data.Text("data")))}
	}
	return data.Text("content")
}

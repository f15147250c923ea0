package claudecode

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// partOf makes a part of a block of content, and keeps the members that parts do not have. tool
// names the tool of a call.
func partOf(raw json.RawMessage, tool func(id string) string) json.RawMessage {
	if s, ok := jsonvalue.Text(raw); ok {
		return transcript.TextPart(s, transcript.Extra(Agent, jsonvalue.Object{"bare": json.RawMessage("true")}))
	}
	b := jsonvalue.AsObject(raw)
	switch b.Text("type") {
	case "text":
		if s, ok := jsonvalue.Text(b["text"]); ok {
			return transcript.TextPart(s, transcript.Extra(Agent, b.Without("type", "text")))
		}
	case "thinking":
		if s, ok := jsonvalue.Text(b["thinking"]); ok {
			return transcript.ThoughtPart(s, jsonvalue.Object{Agent: jsonvalue.Encode(b.Without("type", "thinking"))})
		}
	case "tool_use":
		if b.Text("id") != "" && b.Text("name") != "" && b.Object("input") != nil {
			rest := b.Without("type", "id", "name", "input")
			return transcript.CallPart(b.Text("id"), b.Text("name"), b["input"], transcript.Extra(Agent, rest))
		}
	case "tool_result":
		if id := b.Text("tool_use_id"); id != "" {
			return resultPart(b, id, tool(id))
		}
	case "image", "document":
		if part := mediaPart(b); part != nil {
			return part
		}
	}
	return transcript.HiddenPart(jsonvalue.Object{Agent: jsonvalue.Encode(jsonvalue.Object{"block": raw})})
}

func resultPart(b jsonvalue.Object, id, tool string) json.RawMessage {
	rest := b.Without("type", "tool_use_id", "content")
	text, isText := jsonvalue.Text(b["content"])
	list, isList := b.Array("content")
	switch {
	case isText:
	case isList:
		var texts []string
		for _, raw := range list {
			if s, ok := jsonvalue.Text(jsonvalue.AsObject(raw)["text"]); ok {
				texts = append(texts, s)
			}
		}
		text = strings.Join(texts, "\n")
		if len(list) == 1 && len(texts) == 1 && jsonvalue.Same(list[0], textBlock(text)) {
			rest["listed"] = json.RawMessage("true")
		} else {
			rest["content"] = b["content"]
		}
	case b.Has("content"):
		text, rest["content"] = string(b["content"]), b["content"]
	default:
		rest["content"] = json.RawMessage("null")
	}
	member := "output"
	if b.True("is_error") {
		member = "error"
		delete(rest, "is_error")
	}
	return transcript.ResultPart(id, tool, jsonvalue.Encode(map[string]string{member: text}), transcript.Extra(Agent, rest))
}

func mediaPart(b jsonvalue.Object) json.RawMessage {
	source := b.Object("source")
	rest := b.Without("type", "source")
	isImage := strings.HasPrefix(source.Text("media_type"), "image/")
	switch {
	case source.Text("type") == "base64" && len(source) == 3 && source.Text("data") != "" && source.Text("media_type") != "" &&
		isImage == (b.Text("type") == "image"):
		return transcript.MediaPart(source.Text("media_type"), source.Text("data"), "", transcript.Extra(Agent, rest))
	case source.Text("type") == "url" && len(source) == 2 && source.Text("url") != "":
		rest["type"] = b["type"]
		return transcript.MediaPart("", "", source.Text("url"), transcript.Extra(Agent, rest))
	}
	return nil
}

func textBlock(s string) json.RawMessage {
	return jsonvalue.Encode(jsonvalue.Object{"type": jsonvalue.Encode("text"), "text": jsonvalue.Encode(s)})
}

// blockOf returns a part as a block; ok is false if the API has no block for it.
func blockOf(p transcript.Part) (block json.RawMessage, ok bool) {
	kept := p.Body.Object(Agent)
	out := kept.Without()
	switch p.Kind {
	case transcript.PartText:
		if kept.True("bare") {
			return jsonvalue.Encode(p.Text), true
		}
		out.Set("type", "text")
		out.Set("text", p.Text)
	case transcript.PartHidden:
		if kept.Has("block") {
			return kept["block"], true
		}
		if _, isThought := jsonvalue.Text(p.Body["text"]); !isThought || p.Body[Agent] == nil {
			return nil, false // the thoughts of another model have no signature that this one would take
		}
		out.Set("type", "thinking")
		out.Set("thinking", p.Text)
	case transcript.PartCall:
		out.Set("type", "tool_use")
		out.Set("id", wire(p.ID))
		out.Set("name", wire(p.Tool))
		out["input"] = p.Args
	case transcript.PartResult:
		return resultBlock(p, kept), true
	case transcript.PartMedia:
		return mediaBlock(p, out), true
	default:
		return nil, false
	}
	return jsonvalue.Encode(out), true
}

func resultBlock(p transcript.Part, kept jsonvalue.Object) json.RawMessage {
	out := kept.Without("listed", "content")
	out.Set("type", "tool_result")
	out.Set("tool_use_id", wire(p.ID))
	text, failed := p.Said()
	switch {
	case string(kept["content"]) == "null":
	case kept["content"] != nil:
		out["content"] = kept["content"]
	case kept.True("listed"):
		out["content"] = jsonvalue.Array([]json.RawMessage{textBlock(text)})
	default:
		out.Set("content", text)
	}
	if failed {
		out.Set("is_error", true)
	}
	return jsonvalue.Encode(out)
}

func mediaBlock(p transcript.Part, out jsonvalue.Object) json.RawMessage {
	if out["type"] == nil {
		out.Set("type", "document")
		if strings.HasPrefix(p.Mime, "image/") {
			out.Set("type", "image")
		}
	}
	source := map[string]string{"type": "base64", "media_type": p.Mime, "data": p.Data}
	if p.URI != "" {
		source = map[string]string{"type": "url", "url": p.URI}
	}
	out.Set("source", source)
	return jsonvalue.Encode(out)
}

// wire returns an id or a tool's name in letters that the API takes.
func wire(s string) string {
	plain := s != "" && len(s) <= 64
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "ctx_" + transcript.Derive(24, s)
}

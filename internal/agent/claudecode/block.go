package claudecode

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// part is a part of a message, with what ReadPart says of it. It has one content.
type part struct {
	raw      json.RawMessage
	kind     transcript.PartKind
	id, tool string // of a call or a result
	plain    bool   // a text and nothing else
}

// textPart makes a part of a text. rest are members to keep.
func textPart(s string, rest jsonvalue.Object) part {
	return part{raw: transcript.TextPart(s, transcript.Extra(Agent, rest)), kind: transcript.PartText, plain: len(rest) == 0}
}

// setParts does what transcript.SetParts does, for parts that need not be read.
func setParts(m *transcript.Message, parts []part) {
	list := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		list[i] = p.raw
	}
	if len(parts) == 1 && parts[0].plain {
		m.SetParts(list)
		return
	}
	m.Parts = jsonvalue.Array(list)
	for _, p := range parts {
		switch p.kind {
		case transcript.PartCall:
			m.Calls = append(m.Calls, format.Call{ID: transcript.Fit(p.id), Tool: transcript.Fit(p.tool)})
		case transcript.PartResult:
			m.Results = append(m.Results, transcript.Fit(p.id))
		}
	}
}

// partOf makes a part of a block of content, and keeps the members that parts do not have. tool
// names the tool of a call.
func partOf(raw json.RawMessage, tool func(id string) string) part {
	if s, ok := jsonvalue.Text(raw); ok {
		return textPart(s, jsonvalue.Object{"bare": json.RawMessage("true")})
	}
	b := jsonvalue.AsObject(raw)
	switch b.Text("type") {
	case "text":
		if s, ok := jsonvalue.Text(b["text"]); ok {
			return textPart(s, b.Without("type", "text"))
		}
	case "thinking":
		if s, ok := jsonvalue.Text(b["thinking"]); ok {
			made := transcript.ThoughtPart(s, jsonvalue.Object{Agent: jsonvalue.Encode(b.Without("type", "thinking"))})
			return part{raw: made, kind: transcript.PartHidden}
		}
	case "tool_use":
		if id, name := b.Text("id"), b.Text("name"); id != "" && name != "" && isObject(b["input"]) {
			rest := b.Without("type", "id", "name", "input")
			made := transcript.CallPart(id, name, b["input"], transcript.Extra(Agent, rest))
			return part{raw: made, kind: transcript.PartCall, id: id, tool: name}
		}
	case "tool_result":
		if id := b.Text("tool_use_id"); id != "" {
			return part{raw: resultPart(b, id, tool(id)), kind: transcript.PartResult, id: id}
		}
	case "image", "document":
		if made := mediaPart(b); made != nil {
			return part{raw: made, kind: transcript.PartMedia}
		}
	}
	return part{raw: transcript.HiddenPart(jsonvalue.Object{Agent: jsonvalue.Encode(jsonvalue.Object{"block": raw})}), kind: transcript.PartHidden}
}

func resultPart(b jsonvalue.Object, id, tool string) json.RawMessage {
	rest := b.Without("type", "tool_use_id", "content")
	text, isText := jsonvalue.Text(b["content"])
	list, isList := b.Array("content")
	switch {
	case isText:
	case isList:
		var texts []string
		alone := false // the only block is a text and nothing else
		for _, raw := range list {
			block := jsonvalue.AsObject(raw)
			if s, ok := jsonvalue.Text(block["text"]); ok {
				texts = append(texts, s)
				alone = len(list) == 1 && len(block) == 2 && block.Text("type") == "text"
			}
		}
		text = strings.Join(texts, "\n")
		if alone {
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

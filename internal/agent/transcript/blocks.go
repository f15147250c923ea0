// Blocks reads the content of messages in the form of the Anthropic API, which several agents write
// into their transcripts: a list of blocks, each with a type.

package transcript

import (
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// The members in which a part keeps how the content of a result was written.
const (
	Listed  = "listed"  // a list with one text
	Content = "content" // as it is; null for none
	Notes   = "notes"   // what the client wrote behind the output
)

// Agent is the agent whose blocks are read: the member of a part with the fields that only its
// blocks have.
type Blocks string

// TextPart makes a part of a text. rest are members to keep.
func (a Blocks) TextPart(s string, rest jsonvalue.Object) Part {
	return Part{Raw: TextPart(s, Extra(string(a), rest)), Kind: PartText}
}

// PartOf makes a part of a block of content, and keeps the members that parts do not have. tool
// names the tool of a call. The part has Raw, Kind, ID and Tool alone: the others need not be read.
func (a Blocks) PartOf(raw json.RawMessage, tool func(id string) string) Part {
	if s, ok := jsonvalue.Text(raw); ok {
		return a.TextPart(s, jsonvalue.Object{"bare": json.RawMessage("true")})
	}
	b := jsonvalue.AsObject(raw)
	kind := b.Text("type")
	if strings.HasSuffix(kind, "_tool_result") { // of a call that the provider carried out
		kind = typeResult
	}
	switch kind {
	case "text":
		if s, ok := jsonvalue.Text(b["text"]); ok {
			return a.TextPart(s, b.Without("type", "text"))
		}
	case "thinking":
		if s, ok := jsonvalue.Text(b["thinking"]); ok {
			made := ThoughtPart(s,
				jsonvalue.Object{string(a): jsonvalue.Encode(b.Without("type", "thinking"))})
			return Part{Raw: made, Kind: PartHidden}
		}
	case typeCall, "server_tool_use", "mcp_tool_use":
		if id, name := b.Text("id"), b.Text("name"); id != "" && name != "" &&
			isObject(b["input"]) {
			rest := withoutKind(b.Without("id", "name", "input"), typeCall)
			made := CallPart(id, name, b["input"], Extra(string(a), rest))
			return Part{Raw: made, Kind: PartCall, ID: id, Tool: name}
		}
	case typeResult:
		if id := b.Text("tool_use_id"); id != "" {
			return Part{Raw: a.resultPart(b, id, tool(id)), Kind: PartResult, ID: id}
		}
	case "image", "document":
		if made := a.mediaPart(b); made != nil {
			return Part{Raw: made, Kind: PartMedia}
		}
	}
	return Part{Raw: Hidden(string(a), jsonvalue.Object{"block": raw}), Kind: PartHidden}
}

func (a Blocks) resultPart(b jsonvalue.Object, id, tool string) json.RawMessage {
	rest := withoutKind(b.Without("tool_use_id", "content"), typeResult)
	text, isText := jsonvalue.Text(b["content"])
	list, isList := b.Array("content")
	switch {
	case isText:
	case isList:
		var texts []string
		alone := false // the only block is a text and nothing else
		for _, raw := range list {
			block := jsonvalue.AsObject(raw)
			if s, ok := jsonvalue.Text(block["text"]); !ok {
				for _, name := range [...]string{"tool_name", "title", "url"} {
					if s := block.Text(name); s != "" {
						texts = append(texts, s)
					}
				}
			} else {
				texts = append(texts, s)
				alone = len(list) == 1 && len(block) == 2 && block.Text("type") == "text"
			}
		}
		text = strings.Join(texts, "\n")
		if alone {
			rest[Listed] = json.RawMessage("true")
		} else {
			rest[Content] = b["content"]
		}
	case b.Has("content"):
		text, rest[Content] = string(b["content"]), b["content"]
	default:
		rest[Content] = json.RawMessage("null")
	}
	if end := OutputEnd(tool, text); end < len(text) {
		if rest[Content] == nil {
			rest[Notes] = jsonvalue.Encode(text[end:])
		}
		text = text[:end]
	}
	member := "output"
	if b.True("is_error") {
		member = "error"
		delete(rest, "is_error")
	}
	return ResultPart(id, tool, jsonvalue.Encode(map[string]string{member: text}),
		Extra(string(a), rest))
}

func (a Blocks) mediaPart(b jsonvalue.Object) json.RawMessage {
	source := b.Object("source")
	rest := b.Without("type", "source")
	isImage := strings.HasPrefix(source.Text("media_type"), "image/")
	switch {
	case source.Text("type") == "base64" && len(source) == 3 && source.Text("data") != "" &&
		source.Text("media_type") != "" &&
		isImage == (b.Text("type") == "image"):
		return MediaPart(source.Text("media_type"), source.Text("data"), "",
			Extra(string(a), rest))
	case source.Text("type") == "url" && len(source) == 2 && source.Text("url") != "":
		rest["type"] = b["type"]
		return MediaPart("", "", source.Text("url"), Extra(string(a), rest))
	}
	return nil
}

// The types of the blocks of a call and of its result. What the provider carries out itself has
// others, which are kept.
const (
	typeCall   = "tool_use"
	typeResult = "tool_result"
)

// withoutKind removes the type of a block if it is that one.
func withoutKind(b jsonvalue.Object, kind string) jsonvalue.Object {
	if b.Text("type") == kind {
		delete(b, "type")
	}
	return b
}

// isObject reports whether a value, which is JSON, is an object.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

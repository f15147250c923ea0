package geminicli

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

type partKind int

const (
	partText partKind = iota
	partThought
	partCall
	partResponse
	partOther // media, executable code, and what is not known yet
)

// part is one part of a message's content.
type part struct {
	kind partKind
	text string         // for partText and partThought
	body map[string]any // the part as decoded

	// For partCall and partResponse.
	callID string
	tool   string
}

// parseContent reads content in any of its shapes: a string, a part, or a list of both. Empty
// texts, and what is neither a string nor an object, are left out. A part that says several things
// becomes several, as message.Split has them.
func parseContent(raw []byte) (parts []part) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return appendPart(nil, raw)
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, element := range list {
		if element[0] == '[' {
			parts = appendNested(parts, jsonvalue.Decode(element))
		} else {
			parts = appendPart(parts, element)
		}
	}
	return parts
}

// appendNested reads lists in a list. They are decoded once, however deep they are nested.
func appendNested(dst []part, v any) []part {
	list, ok := v.([]any)
	if !ok {
		return appendPart(dst, jsonvalue.Encode(v))
	}
	for _, element := range list {
		dst = appendNested(dst, element)
	}
	return dst
}

// appendPart reads a part, or a string.
func appendPart(dst []part, raw json.RawMessage) []part {
	if len(raw) == 0 || raw[0] != '"' && raw[0] != '{' {
		return dst
	}
	said, err := message.ParsePart(raw)
	if err != nil { // of two members with one name the agent reads the last
		if said, err = message.ParsePart(jsonvalue.Encode(jsonvalue.Decode(raw))); err != nil {
			return dst
		}
	}
	for _, piece := range message.Split([]message.Part{said}) {
		if p := newPart(&piece); !p.blank() {
			dst = append(dst, p)
		}
	}
	return dst
}

func textPart(s string) part {
	return part{kind: partText, text: s, body: map[string]any{"text": s}}
}

func thoughtPart(s string) part {
	return part{kind: partThought, text: s, body: map[string]any{"text": s, "thought": true}}
}

func callPart(id, tool string, args any) part {
	if args == nil {
		args = map[string]any{}
	}
	call := map[string]any{"id": id, "name": tool, "args": args}
	return part{kind: partCall, callID: id, tool: tool, body: map[string]any{"functionCall": call}}
}

func responsePart(id, tool string, response any) part {
	answer := map[string]any{"id": id, "name": tool, "response": response}
	return part{kind: partResponse, callID: id, tool: tool,
		body: map[string]any{"functionResponse": answer}}
}

// newPart converts a part that says one thing.
func newPart(said *message.Part) part {
	if said.Raw[0] == '"' {
		return textPart(said.Text)
	}
	body, _ := jsonvalue.Decode(said.Raw).(map[string]any)
	p := part{kind: partOther, body: body}
	switch {
	case said.Call != nil:
		p.kind, p.callID, p.tool = partCall, said.Call.ID, said.Call.Name
		if call, ok := body["functionCall"].(map[string]any); ok && call["args"] == nil {
			call["args"] = map[string]any{}
		}
	case said.Result != nil:
		p.kind, p.callID, p.tool = partResponse, said.Result.ID, said.Result.Name
	case said.HasText && said.Thought:
		p.kind, p.text = partThought, said.Text
	case said.HasText && said.Media == nil:
		p.kind, p.text = partText, said.Text
	}
	return p
}

// blank reports whether p says nothing: an empty text, perhaps with a signature.
func (p part) blank() bool {
	if p.kind != partOther && p.text != "" || p.kind == partCall || p.kind == partResponse {
		return false
	}
	for name, value := range p.body {
		switch name {
		case "thought", "thoughtSignature":
		case "text":
			if _, ok := value.(string); !ok {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// plain reports whether p is a text and nothing else.
func (p part) plain() bool { return p.kind == partText && len(p.body) == 1 }

// withCallID returns p, a call or a response, under the given id, and the tool's name if it had
// none.
func (p part) withCallID(id, tool string) part {
	field := "functionCall"
	if p.kind == partResponse {
		field = "functionResponse"
	}
	inner, _ := p.body[field].(map[string]any)
	body, copied := clone(p.body), clone(inner)
	copied["id"] = id
	if p.tool == "" && tool != "" {
		copied["name"], p.tool = tool, tool
	}
	body[field] = copied
	p.body, p.callID = body, id
	return p
}

// identity is equal for two parts that say the same thing: a call by its id, a thought whatever its
// white space.
func (p part) identity() string {
	switch p.kind {
	case partText:
		return "text " + p.text
	case partThought:
		return "thought " + strings.Join(strings.Fields(p.text), " ")
	case partCall:
		return "call " + p.callID
	}
	return "part " + string(jsonvalue.Encode(transcript.Normalise(p.body)))
}

func clone(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	return out
}

// joinText returns the plain and annotated texts of parts, joined as they stand; thoughts are left
// out.
func joinText(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.kind == partText {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// bodies are parts as they were decoded.
func bodies(parts []part) []any {
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p.body
	}
	return list
}

// printParts returns parts as a JSON array.
func printParts(parts []part) []byte { return jsonvalue.Encode(bodies(parts)) }

// normalParts returns parts in one spelling, to compare them.
func normalParts(parts []part) []byte {
	return jsonvalue.Encode(transcript.NormalParts(bodies(parts)))
}

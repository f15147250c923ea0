package claudecode

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// isBlank reports whether parts are nothing but texts without a word.
func isBlank(parts []json.RawMessage) bool {
	return !slices.ContainsFunc(transcript.ReadParts(parts), func(p transcript.Part) bool {
		return p.Kind != transcript.PartText || strings.TrimSpace(p.Text) != ""
	})
}

// withWords returns blocks without the texts that have no word, also in results: the API refuses
// them, and Claude Code sends what is in a session that it goes on with.
func withWords(list []json.RawMessage) (out []json.RawMessage) {
	for _, raw := range list {
		if s, ok := textOf(raw); ok && strings.TrimSpace(s) == "" {
			continue
		}
		block := jsonvalue.AsObject(raw)
		if said, ok := block.Array("content"); ok && block.Has("tool_use_id") {
			if left := withWords(said); len(left) < len(said) {
				block["content"] = jsonvalue.Array(left)
				raw = jsonvalue.Encode(block)
			}
		}
		out = append(out, raw)
	}
	return out
}

func textBlock(s string) json.RawMessage {
	return jsonvalue.Encode(jsonvalue.Object{"type": jsonvalue.Encode("text"),
		"text": jsonvalue.Encode(s)})
}

// blocksOf returns the blocks of parts. Pieces of one text are one block again.
func blocksOf(parts []json.RawMessage) (list []json.RawMessage) {
	for _, p := range transcript.ReadParts(parts) {
		block, ok := blockOf(p)
		if !ok {
			continue
		}
		if n := len(list); n > 0 && p.Body.Object(Agent).True(pieceJoins) {
			whole := jsonvalue.AsObject(list[n-1])
			whole.Set("text", whole.Text("text")+jsonvalue.AsObject(block).Text("text"))
			list[n-1] = jsonvalue.Encode(whole)
			continue
		}
		list = append(list, block)
	}
	return list
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
		delete(out, pieceJoins)
		out.Set("type", "text")
		out.Set("text", p.Text)
	case transcript.PartHidden:
		if kept.Has("block") {
			return kept["block"], true
		}
		if s, ok := jsonvalue.Text(kept[pieceText]); ok {
			out.Set("type", "text")
			out.Set("text", s)
			delete(out, "member")
			return jsonvalue.Encode(out.Without(pieceJoins)), true
		}
		if _, isThought := jsonvalue.Text(p.Body["text"]); !isThought || p.Body[Agent] == nil {
			// The thoughts of another model have no signature that this one would take
			return nil, false
		}
		out.Set("type", "thinking")
		out.Set("thinking", p.Text)
	case transcript.PartCall:
		setKind(out, "tool_use")
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
	out := kept.Without(transcript.Listed, transcript.Content, transcript.Notes)
	setKind(out, "tool_result")
	out.Set("tool_use_id", wire(p.ID))
	text, failed := p.Said()
	text += kept.Text(transcript.Notes)
	switch {
	case string(kept[transcript.Content]) == "null":
	case kept[transcript.Content] != nil:
		out["content"] = kept[transcript.Content]
	case kept.True(transcript.Listed):
		out["content"] = jsonvalue.Array([]json.RawMessage{textBlock(text)})
	default:
		out.Set("content", text)
	}
	if failed {
		out.Set("is_error", true)
	}
	return jsonvalue.Encode(out)
}

// setKind sets the type of a block that has kept no other.
func setKind(block jsonvalue.Object, kind string) {
	if block["type"] == nil {
		block.Set("type", kind)
	}
}

func mediaBlock(p transcript.Part, out jsonvalue.Object) json.RawMessage {
	kind := "document"
	if strings.HasPrefix(p.Mime, "image/") {
		kind = "image"
	}
	setKind(out, kind)
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
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') &&
			c != '_' && c != '-' {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "ctx_" + transcript.Derive(24, s)
}

package geminicli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// part is one part of a message's content, in one spelling. Of the kinds, PartHidden is a thought
// if it has a text.
type part = transcript.Part

// parseContent reads content in any of its shapes: a string, a part, or a list of both. Empty
// texts, and what is neither a string nor an object, are left out. A part that says several things
// becomes several, as message.Split has them.
func parseContent(raw []byte) (parts []part) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return appendPart(nil, raw)
	}
	list, _ := jsonvalue.Elements(raw)
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

// appendPart reads a part, or a string. Of two members with one name the agent reads the last.
func appendPart(dst []part, raw json.RawMessage) []part {
	if len(raw) == 0 || raw[0] != '"' && raw[0] != '{' {
		return dst
	}
	if s, ok := jsonvalue.Text(raw); ok {
		raw = transcript.TextPart(s, nil)
	}
	for _, p := range transcript.ReadParts([]json.RawMessage{jsonvalue.Canonical(raw)}) {
		call := p.Body.Object("functionCall")
		if p.Kind == transcript.PartCall && call != nil && !call.Has("args") {
			call.Set("args", jsonvalue.Object{})
			p = with(p, "functionCall", call)
		}
		if p.Body != nil && !blank(p) {
			dst = append(dst, p)
		}
	}
	return dst
}

// with returns a part with another value of a member.
func with(p part, name string, value jsonvalue.Object) part {
	body := p.Body.Without()
	body.Set(name, value)
	return transcript.ReadPart(jsonvalue.Encode(body))
}

func textPart(s string) part { return transcript.ReadPart(transcript.TextPart(s, nil)) }

func callPart(id, tool string, args json.RawMessage) part {
	if args = jsonvalue.Canonical(args); string(args) == "null" {
		args = json.RawMessage("{}")
	}
	return transcript.ReadPart(transcript.CallPart(id, tool, args, nil))
}

// blank reports whether a part says nothing: an empty text, perhaps with a signature.
func blank(p part) bool {
	if p.Text != "" || p.Kind == transcript.PartCall || p.Kind == transcript.PartResult {
		return false
	}
	for name, value := range p.Body {
		switch name {
		case "thought", "thoughtSignature":
		case "text":
			if value[0] != '"' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isThought(p part) bool { return p.Kind == transcript.PartHidden && p.Text != "" }

func isText(p part) bool { return p.Kind == transcript.PartText }

// isOther reports whether a part is media, executable code, or what is not known yet.
func isOther(p part) bool {
	switch p.Kind {
	case transcript.PartText, transcript.PartCall, transcript.PartResult:
		return false
	}
	return !isThought(p)
}

// withCallID returns a call or a response under the given id, and the tool's name if it had none.
func withCallID(p part, id, tool string) part {
	field := "functionCall"
	if p.Kind == transcript.PartResult {
		field = "functionResponse"
	}
	inner := p.Body.Object(field).Without()
	inner.Set("id", id)
	if p.Tool == "" && tool != "" {
		inner.Set("name", tool)
	}
	return with(p, field, inner)
}

// identity is equal for two parts that say the same thing: a call by its id, a thought whatever its
// white space.
func identity(p part) string {
	switch {
	case isText(p):
		return "text " + p.Text
	case isThought(p):
		return "thought " + strings.Join(strings.Fields(p.Text), " ")
	case p.Kind == transcript.PartCall:
		return "call " + p.ID
	}
	return "part " + string(transcript.Normal(p.Raw))
}

// split returns the parts for which is says yes, and the others.
func split(parts []part, is func(part) bool) (matching, others []part) {
	for _, p := range parts {
		if is(p) {
			matching = append(matching, p)
		} else {
			others = append(others, p)
		}
	}
	return matching, others
}

// joinText returns the plain and annotated texts of parts, joined as they stand; thoughts are left
// out.
func joinText(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		if isText(p) {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// printParts returns parts as a JSON array.
func printParts(parts []part) json.RawMessage { return jsonvalue.Array(transcript.RawOf(parts)) }

// normalParts returns parts in one spelling, to compare them.
func normalParts(parts []part) []byte { return transcript.NormalJSON(printParts(parts)) }

func identities(parts []part) map[string]bool {
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		seen[identity(p)] = true
	}
	return seen
}

// contains reports whether everything that some says is in all.
func contains(all, some []part) bool {
	seen := identities(all)
	return !slices.ContainsFunc(some, func(p part) bool { return !seen[identity(p)] })
}

// merge returns what a message says after the agent wrote it again in a list of its own. Such a
// copy may lack thoughts, calls and media, and may have shortened texts and arguments. It can add,
// and it can change a text for one at least as long; it takes nothing away. The known parts come
// back as they are if the copy says nothing new.
func merge(known, copied []part) []part {
	seen := identities(known)
	var added []part
	for _, p := range copied {
		if !isText(p) && !seen[identity(p)] {
			seen[identity(p)] = true
			added = append(added, p)
		}
	}
	oldText, newText := joinText(known), joinText(copied)
	if newText == oldText || len(newText) < len(oldText) || contains(known, copied) {
		return slices.Concat(known, added)
	}
	_, known = split(known, isText)
	texts, _ := split(copied, isText)
	thoughts, others := split(slices.Concat(known, added), isThought)
	return slices.Concat(thoughts, texts, others)
}

// Package opencode reads and writes the sessions of opencode: as the one JSON document that
// `opencode export` prints and `opencode import` takes, and, for reading, as the files of its
// storage directory, which it kept until it had a database. It is pure: bytes in, values out; files
// only through fs.FS.
//
// Words, calls and results become parts in the shape of the Gemini API. The other members of a
// message or a part stay with it, and no model is shown them. docs/agents/opencode.md lists them.
package opencode

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// Agent is the agent in the source of a message that opencode wrote, and the member of a part with
// the fields that only opencode has.
const Agent = "opencode"

// NewID makes an id for a session out of strings that identify it.
func NewID(of ...string) string { return idBegins + transcript.Derive(idDigits, of...) }

// isDerived reports whether an id has the form of a NewID. What follows idBegins in those of
// opencode are letters of either case.
func isDerived(id string) bool {
	digits, ok := strings.CutPrefix(id, idBegins)
	_, err := hex.DecodeString(digits)
	return ok && len(digits) == idDigits && err == nil && digits == strings.ToLower(digits)
}

// The ids of sessions.
const (
	idBegins = "ses_"
	idDigits = 26
)

// clientMarks are what opencode writes into texts of the user. Most of them it marks as synthetic
// instead. docs/agents/opencode.md has the table.
var clientMarks = transcript.Voices{Elements: []string{"system-reminder"},
	Whole: []string{"Continue if you have next steps", "Continue if you have next steps, or stop " +
		"and ask for clarification if you are unsure how to proceed."}}

// aroundName keeps in a result what stands around the words of the person who refused the call.
const aroundName = "around"

// hidden keeps a part that no part of a message stands for.
func hidden(part jsonvalue.Object) json.RawMessage {
	return transcript.Hidden(Agent, jsonvalue.Object{"part": jsonvalue.Encode(part)})
}

func extra(rest jsonvalue.Object) jsonvalue.Object {
	return jsonvalue.Object{Agent: jsonvalue.Encode(rest)}
}

// hintsOf returns the hints in the metadata of a part, or of the state of a tool; nil for none.
func hintsOf(o jsonvalue.Object) *transcript.Hints {
	return transcript.ReadHints(o.Object("metadata")[transcript.HintName])
}

// subtask is the type of the part with what a command of the user asks a subagent.
const subtask = "subtask"

// partOf makes a part of an opencode part, other than one of a tool.
func partOf(o jsonvalue.Object) json.RawMessage {
	rest := o.Without("sessionID", "messageID")
	switch o.Text("type") {
	case "text":
		if s, ok := jsonvalue.Text(o["text"]); ok {
			return transcript.TextPart(s, extra(rest.Without("text", "type")))
		}
	case subtask:
		if s, ok := jsonvalue.Text(o["prompt"]); ok {
			return transcript.TextPart(s, extra(rest.Without("prompt")))
		}
	case "reasoning":
		if s, ok := jsonvalue.Text(o["text"]); ok {
			return transcript.ThoughtPart(s, extra(rest.Without("text", "type")))
		}
	case "file":
		url, mime := o.Text("url"), o.Text("mime")
		if m, data, ok := transcript.DataURL(url); ok && m == mime {
			return transcript.MediaPart(mime, data, "", extra(rest.Without("url", "mime", "type")))
		} else if url != "" && mime != "" {
			return transcript.MediaPart(mime, "", url, extra(rest.Without("url", "mime", "type")))
		}
	}
	return hidden(rest)
}

// ownPart undoes partOf; ok is false for a part that opencode did not write.
func ownPart(p transcript.Part) (o jsonvalue.Object, ok bool) {
	if p.Body[Agent] == nil {
		return nil, false
	}
	kept := p.Body.Object(Agent)
	switch p.Kind {
	case transcript.PartHidden:
		if kept.Has("part") {
			return kept.Object("part"), true
		}
		if _, isThought := jsonvalue.Text(p.Body["text"]); !isThought {
			return nil, false
		}
		o = kept.Without()
		o.Set("type", "reasoning")
		o.Set("text", p.Text)
	case transcript.PartText, transcript.PartMedia:
		return plainPart(p, kept), true
	default:
		return nil, false
	}
	return o, true
}

// plainPart returns a text or a file, with the members that were kept.
func plainPart(p transcript.Part, kept jsonvalue.Object) jsonvalue.Object {
	o := kept.Without()
	if p.Kind == transcript.PartText {
		if o.Text("type") == subtask {
			o.Set("prompt", p.Text)
			return o
		}
		o.Set("type", "text")
		o.Set("text", p.Text)
		return o
	}
	o.Set("type", "file")
	mime := cmp.Or(p.Mime, "application/octet-stream")
	o.Set("mime", mime)
	o.Set("url", p.URI)
	if p.URI == "" {
		o.Set("url", "data:"+mime+";base64,"+p.Data)
	}
	return o
}

// toolPart makes a call of a tool's part, and a result if the part has one. typed is what the
// person said when refusing the call; aroundName keeps what stands around it.
func toolPart(o jsonvalue.Object) (call, result json.RawMessage, typed string) {
	id, tool, state := o.Text("callID"), o.Text("tool"), o.Object("state")
	if id == "" || tool == "" || state.Object("input") == nil {
		return hidden(o.Without("sessionID", "messageID")), nil, ""
	}
	rest := o.Without("sessionID", "messageID", "type", "callID", "tool", "state")
	left := state.Without("input")
	member, from := "", ""
	switch state.Text("status") {
	case "completed":
		member, from = "output", "output"
	case "error":
		member, from = "error", "error"
	}
	said, isText := jsonvalue.Text(state[from])
	if isText {
		delete(left, from)
		if meta := state.Object("metadata"); meta != nil && member == "output" {
			// Copies of the output, which a forget of the result would not reach.
			left["metadata"] = jsonvalue.Encode(meta.Without("output", "preview"))
		}
		var more jsonvalue.Object
		if member == "error" {
			var around []string
			if said, typed, around = message.Typed(said); typed != "" {
				more = extra(jsonvalue.NewObject(aroundName, around))
			}
		}
		result = transcript.ResultPart(id, tool, jsonvalue.Encode(map[string]string{member: said}),
			more)
	}
	if h := hintsOf(state); h != nil && h.Added {
		result, typed = nil, ""
	}
	rest["state"] = jsonvalue.Encode(left)
	return transcript.CallPart(id, tool, state["input"], extra(rest)), result, typed
}

// Spent reads what a call took from what is kept of its message.
func Spent(of jsonvalue.Object) []transcript.Spent {
	info := of.Object("info")
	u := info.Object("tokens")
	if len(u) == 0 {
		return nil
	}
	return []transcript.Spent{{Call: info.Text("id"), Model: info.Text("modelID"),
		Input: u.Number("input"), CacheRead: u.Object("cache").Number("read"),
		CacheWrite: u.Object("cache").Number("write"),
		Output:     u.Number("output") + u.Number("reasoning")}}
}

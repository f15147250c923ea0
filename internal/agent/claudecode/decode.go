package claudecode

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// decoder makes messages of records. It knows what it needs of the records before.
type decoder struct {
	tools map[string]string // the tool of each call
	usage map[string]uint64 // output tokens counted so far, by the id of the answer
}

func newDecoder() *decoder {
	return &decoder{tools: map[string]string{}, usage: map[string]uint64{}}
}

// decode makes a message of a record with an id. parent is its parentUuid; nil if that is the
// record of the message before it. before are the records that are kept with it.
func (d *decoder) decode(
	o jsonvalue.Object, parent json.RawMessage, before []json.RawMessage,
) transcript.Message {
	m := transcript.Message{Origin: transcript.Origin{Agent: Agent,
		Session: transcript.Fit(o.Text("sessionId")), Message: transcript.Fit(o.Text("uuid"))}}
	rest := o.Without("uuid", "sessionId", "type", "parentUuid", "message", transcript.HintName)
	if o.Text("type") == kindSummary && o["timestamp"] == nil {
		rest.Set("untimed", true)
	}
	var exact bool
	if m.Time, exact = transcript.TimeOf(o["timestamp"]); exact {
		delete(rest, "timestamp")
	}
	var parts []transcript.Part
	switch kind := o.Text("type"); kind {
	case kindUser, kindAssistant:
		parts = d.said(o, &m, rest)
	case kindQueue, kindAttachment:
		rest["type"] = o["type"]
		parts = d.prompted(o, &m, rest)
	default:
		m.Note, m.Role = true, transcript.RoleSystem
		rest["type"] = o["type"]
		if o.Has("message") {
			rest["message"] = o["message"]
		}
		for _, name := range []string{"content", "summary"} {
			if s, ok := jsonvalue.Text(o[name]); ok && s != "" && len(parts) == 0 {
				parts = append(parts,
					anthropic.TextPart(s, jsonvalue.Object{"member": jsonvalue.Encode(name)}))
				delete(rest, name)
			}
		}
	}
	if parent != nil {
		rest["parentUuid"] = parent
	}
	if len(before) > 0 {
		rest[transcript.BeforeName] = jsonvalue.Array(before)
	}
	hints := transcript.ReadHints(o[transcript.HintName])
	if len(rest) > 0 && (hints == nil || !hints.Alone) {
		parts = append(parts,
			transcript.Part{Raw: transcript.Kept(Agent, rest), Kind: transcript.PartHidden})
	}
	m.SetRead(parts)
	if hints != nil {
		hints.Apply(&m)
	}
	return m
}

// prompted reads a prompt that the user typed while the agent worked: a record of the queue, or an
// attachment. A prompt that the agent itself queued, and any other attachment, is a note.
func (d *decoder) prompted(
	o jsonvalue.Object, m *transcript.Message, rest jsonvalue.Object,
) (parts []transcript.Part) {
	from, member := o, "content"
	if o.Text("type") == kindAttachment {
		from, member = o.Object(kindAttachment), "prompt"
	}
	m.Note, m.Role = true, transcript.RoleSystem
	if from == nil || o.Text("type") == kindAttachment && from.Text("type") != queuedCommand {
		delete(rest, "rendered") // what the client made of it for the model
		clean := jsonvalue.AsObject(transcript.WithoutAccount(jsonvalue.Encode(rest)))
		clear(rest)
		maps.Copy(rest, clean)
		return nil
	}
	left := from.Without(member)
	mode := from.Text("commandMode")
	by := speakerOf(o, []string{promptText(from[member])})
	if by == byPerson && mode != "" && mode != "prompt" || by == byModel || from.Has("origin") &&
		speakerOf(from, nil) == byClient {
		by = byClient
	}
	if s, ok := jsonvalue.Text(from[member]); ok {
		parts = pieceParts(pieces(by, false, s),
			jsonvalue.Object{"member": jsonvalue.Encode(member)})
	} else if list, ok := from.Array(member); ok {
		for _, raw := range list {
			if s, ok := textOf(raw); ok {
				rest := jsonvalue.AsObject(raw).Without("type", "text")
				parts = append(parts, pieceParts(pieces(by, false, s), rest)...)
				continue
			}
			parts = append(parts, anthropic.PartOf(raw, func(string) string { return "" }))
		}
		left.Set("listed", true)
	}
	if len(parts) == 0 {
		return nil
	}
	if by == byPerson {
		m.Note, m.Role = false, transcript.RoleUser
	}
	if o.Text("type") == kindAttachment {
		rest[kindAttachment] = jsonvalue.Encode(left)
	} else {
		delete(rest, member)
		if left.True("listed") {
			rest.Set("listed", true)
		}
	}
	return parts
}

// said reads the record of a user or of the model.
func (d *decoder) said(
	o jsonvalue.Object, m *transcript.Message, rest jsonvalue.Object,
) (parts []transcript.Part) {
	inner := o.Object("message")
	left := inner.Without("role", "content")
	if role := inner.Text("role"); role != o.Text("type") {
		left["role"] = inner["role"]
		if left["role"] == nil {
			left["role"] = json.RawMessage("null")
		}
	}
	isModel := o.Text("type") == kindAssistant
	from := byPerson
	if !isModel {
		from = speakerOf(o, textsOf(inner))
	}
	texts := func(s string, rest jsonvalue.Object) []transcript.Part {
		if isModel {
			return []transcript.Part{anthropic.TextPart(s, rest)}
		}
		return pieceParts(pieces(from, o.True("isCompactSummary"), s), rest)
	}
	text, isText := jsonvalue.Text(inner["content"])
	list, isList := inner.Array("content")
	bare := isText // the words are one text, and nothing else
	switch {
	case isText:
		parts = texts(text, nil)
	case isList:
		for _, raw := range list {
			if s, ok := textOf(raw); ok {
				rest := jsonvalue.AsObject(raw).Without("type", "text")
				bare = len(list) == 1 && len(rest) == 0
				parts = append(parts, texts(s, rest)...)
				continue
			}
			p := anthropic.PartOf(raw, func(id string) string { return d.tools[id] })
			if p.Kind == transcript.PartCall {
				d.tools[p.ID] = p.Tool
			}
			parts = append(parts, p)
		}
	case inner.Has("content"):
		left["content"] = inner["content"]
	default:
		left["content"] = json.RawMessage("null")
	}
	m.Role = transcript.RoleUser
	if isModel {
		m.Role = transcript.RoleModel
		if name := inner.Text("model"); name != "" && transcript.Fit(name) == name {
			m.Author = name
			delete(left, "model")
		}
		m.Tokens = d.tokens(inner)
	}
	if isText == isModel && bare {
		rest["listed"] = jsonvalue.Encode(isList)
	}
	if len(left) > 0 {
		rest["message"] = jsonvalue.Encode(left)
	}
	if !isModel && slices.ContainsFunc(parts,
		func(p transcript.Part) bool { return p.Kind == transcript.PartResult }) {
		m.Role = transcript.RoleTool
	}
	switch {
	case from == byClient && m.Role != transcript.RoleTool, from == byClient && hasClientMember(o),
		isModel && (o.True("isMeta") || o.True("isCompactSummary") ||
			o.True("isApiErrorMessage") || m.Author == "<synthetic>"):
		m.Note = true
		if m.Role != transcript.RoleTool {
			rest["type"], m.Role = o["type"], transcript.RoleSystem
			if m.Author != "" {
				left["model"], m.Author = inner["model"], ""
				rest["message"] = jsonvalue.Encode(left)
			}
		}
	case from == byModel && m.Role != transcript.RoleTool:
		rest["type"], m.Role = o["type"], transcript.RoleModel
	}
	return parts
}

// tokens returns the output tokens that no earlier record of the same answer has counted.
func (d *decoder) tokens(inner jsonvalue.Object) uint64 {
	all, id := inner.Object("usage").Number("output_tokens"), inner.Text("id")
	if id == "" {
		return all
	}
	told := d.usage[id]
	d.usage[id] = max(all, told)
	return max(all, told) - told
}

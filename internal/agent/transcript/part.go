package transcript

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/message"
)

// PartKind says what a part of a message is.
type PartKind int

// The kinds of part.
const (
	PartText   PartKind = iota
	PartHidden          // a thought, or what is kept with a message: no model is shown it
	PartCall
	PartResult
	PartMedia
	PartOther
)

// Part is a part of a message, taken apart.
type Part struct {
	Kind     PartKind
	Raw      json.RawMessage
	Body     jsonvalue.Object
	Text     string // of a text, or of a thought
	ID, Tool string
	Args     json.RawMessage // of a call
	Response json.RawMessage // of a result
	Mime     string          // of media
	Data     string          // base64
	URI      string
}

// PartsOf returns the parts of a message, split as by message.Split. If the message has a text
// instead, its calls and results become parts, too.
func PartsOf(m *Message) []Part {
	if m.Parts == nil {
		var parts []Part
		said := m.Text
		for i, id := range m.Results {
			words := ""
			if i == 0 {
				words, said = said, ""
			}
			parts = append(parts,
				ReadPart(
					ResultPart(id, "", jsonvalue.Encode(map[string]string{"output": words}), nil)))
		}
		if said != "" || len(m.Results) == 0 {
			parts = append([]Part{ReadPart(TextPart(said, nil))}, parts...)
		}
		for _, c := range m.Calls {
			parts = append(parts, ReadPart(CallPart(c.ID, c.Tool, json.RawMessage("{}"), nil)))
		}
		return parts
	}
	list, _ := jsonvalue.Elements(m.Parts)
	return ReadParts(list)
}

// ReadParts reads parts, split as by message.Split.
func ReadParts(list []json.RawMessage) []Part {
	parts := make([]Part, 0, len(list))
	for _, raw := range list {
		p, err := message.ParsePart(raw)
		if err != nil {
			parts = append(parts, Part{Kind: PartOther, Raw: raw})
			continue
		}
		for _, piece := range message.Split([]message.Part{p}) {
			parts = append(parts, partOf(&piece))
		}
	}
	return parts
}

// ReadPart reads a part without splitting it. If it has several contents, the call counts, or else
// the result.
func ReadPart(raw json.RawMessage) Part {
	p, err := message.ParsePart(raw)
	if err != nil {
		return Part{Kind: PartOther, Raw: raw}
	}
	return partOf(&p)
}

func partOf(of *message.Part) Part {
	p := Part{Kind: PartOther, Raw: of.Raw, Text: of.Text}
	p.Body = jsonvalue.AsObject(of.Raw)
	switch {
	case of.Call != nil:
		p.Kind, p.ID, p.Tool, p.Args = PartCall, of.Call.ID, of.Call.Name, of.Call.Args
		if p.Args == nil {
			p.Args = json.RawMessage("{}")
		}
	case of.Result != nil:
		p.Kind, p.ID, p.Tool, p.Response = PartResult, of.Result.ID, of.Result.Name,
			of.Result.Response
	case of.Thought:
		p.Kind = PartHidden
	case of.Media != nil:
		p.Kind, p.Mime, p.Data, p.URI = PartMedia, of.Media.MimeType, of.Media.Data, of.Media.URI
	case of.HasText:
		p.Kind = PartText
	}
	return p
}

// Said returns the output of a result, and whether it is an error.
func (p *Part) Said() (text string, failed bool) {
	r := message.Result{Response: p.Response}
	return r.Output(), r.Failed()
}

// Extra returns the member of a part that keeps fields of an agent's record; nil for no fields.
func Extra(agent string, rest jsonvalue.Object) jsonvalue.Object {
	if len(rest) == 0 {
		return nil
	}
	return jsonvalue.Object{agent: jsonvalue.Encode(rest)}
}

// with joins a part with some more members. extra may be nil. The values are on one line.
func with(o, extra jsonvalue.Object) json.RawMessage {
	maps.Copy(o, extra)
	return o.Join()
}

// TextPart is a part with a text. extra are more members; nil for none.
func TextPart(s string, extra jsonvalue.Object) json.RawMessage {
	return with(jsonvalue.Object{"text": jsonvalue.Encode(s)}, extra)
}

// ThoughtPart is a part with what the model thought.
func ThoughtPart(s string, extra jsonvalue.Object) json.RawMessage {
	return with(jsonvalue.Object{"text": jsonvalue.Encode(s), "thought": json.RawMessage("true")},
		extra)
}

// HiddenPart keeps something that no model is to be shown.
func HiddenPart(extra jsonvalue.Object) json.RawMessage {
	return with(jsonvalue.Object{"thought": json.RawMessage("true")}, extra)
}

// Hidden is HiddenPart for members that an agent keeps.
func Hidden(agent string, kept jsonvalue.Object) json.RawMessage {
	return HiddenPart(jsonvalue.Object{agent: jsonvalue.Encode(kept)})
}

// CallPart is a part with a call.
func CallPart(id, tool string, args json.RawMessage, extra jsonvalue.Object) json.RawMessage {
	return with(jsonvalue.NewObject("functionCall",
		jsonvalue.NewObject("id", id, "name", tool, "args", args)), extra)
}

// ResultPart is a part with the result of a call.
func ResultPart(id, tool string, response json.RawMessage, extra jsonvalue.Object) json.RawMessage {
	answer := jsonvalue.Object{"id": jsonvalue.Encode(id), "response": response}
	if tool != "" {
		answer["name"] = jsonvalue.Encode(tool)
	}
	return with(jsonvalue.Object{"functionResponse": jsonvalue.Encode(answer)}, extra)
}

// MediaPart is a part with bytes, as base64, or with the address of some.
func MediaPart(mime, data, uri string, extra jsonvalue.Object) json.RawMessage {
	if uri != "" {
		return with(
			jsonvalue.NewObject("fileData", jsonvalue.NewObject("mimeType", mime, "fileUri", uri)),
			extra)
	}
	return with(jsonvalue.NewObject("inlineData",
		jsonvalue.NewObject("mimeType", mime, "data", data)), extra)
}

// SetParts gives a message its parts, or a text where they are one plain text; calls and results
// are listed.
func (m *Message) SetParts(list []json.RawMessage) {
	m.set(list, func() []Part { return ReadParts(list) })
}

// SetRead is SetParts for parts that were read, with one content each.
func (m *Message) SetRead(parts []Part) {
	m.set(RawOf(parts), func() []Part { return parts })
}

func (m *Message) set(list []json.RawMessage, read func() []Part) {
	m.Text, m.Parts, m.Calls, m.Results = "", nil, nil, nil
	if len(list) == 1 {
		if p := ReadPart(list[0]); p.Kind == PartText && len(p.Body) == 1 {
			m.Text = p.Text
			return
		}
	}
	m.Parts = jsonvalue.Array(list)
	for _, p := range read() {
		switch {
		case p.Kind == PartCall && p.ID != "" && p.Tool != "":
			m.Calls = append(m.Calls, format.Call{ID: Fit(p.ID), Tool: Fit(p.Tool)})
		case p.Kind == PartResult && p.ID != "":
			m.Results = append(m.Results, Fit(p.ID))
		}
	}
}

// RawOf returns parts as JSON.
func RawOf(parts []Part) []json.RawMessage {
	return lists.Map(parts, func(p Part) json.RawMessage { return p.Raw })
}

// Kept returns the last part of a message, which keeps the members of its record that are not in
// the other parts, under the agent's name. Members that name the account of the person are left
// out: nobody said them.
func Kept(agent string, rest jsonvalue.Object) json.RawMessage {
	return HiddenPart(jsonvalue.Object{agent: WithoutAccount(jsonvalue.Encode(rest))})
}

// CutKept splits the parts of a message into what was said and the members in the part of Kept; nil
// if it has none.
func CutKept(
	agent string, parts []json.RawMessage,
) (said []json.RawMessage, kept jsonvalue.Object) {
	if n := len(parts) - 1; n >= 0 {
		o := jsonvalue.AsObject(parts[n])
		if kept = o.Object(agent); len(o) == 2 && o.True("thought") && kept != nil {
			return parts[:n], kept
		}
	}
	return parts, nil
}

// KeptIn returns the members in the part of Kept; nil if a message has none.
func KeptIn(agent string, m *Message) jsonvalue.Object {
	list, _ := jsonvalue.Elements(m.Parts)
	_, kept := CutKept(agent, list)
	return kept
}

// Texts that writers put where an agent's format demands words and there are none.
const (
	GoneText  = "[forgotten]"
	EmptyText = "(nothing that can be shown here)"
	NoResult  = "no result was recorded" // of a call, where the format wants one
)

// Words returns what a message says and what its tools said, as one text with a line feed between
// two; "" where there are no words.
func Words(m *Message) string {
	var said []string
	for _, p := range PartsOf(m) {
		text := ""
		switch p.Kind {
		case PartText:
			text = p.Text
		case PartResult:
			text, _ = p.Said()
		}
		if text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n")
}

// WordsOr is Words, or a stand-in for them.
func WordsOr(m *Message) string {
	if m.Gone != "" {
		return GoneText
	}
	if text := Words(m); text != "" {
		return text
	}
	return EmptyText
}

// DataURL returns the type and the base64 content of a data: URL.
func DataURL(url string) (mime, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	mime, data, ok = strings.Cut(rest, ";base64,")
	return mime, data, ok && mime != "" && data != "" && !strings.ContainsAny(mime, ";,")
}

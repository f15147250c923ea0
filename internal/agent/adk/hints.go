package adk

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// hints are the fields of a message that an event has no field for, in customMetadata.ctx. A
// message that ADK said first needs none.
type hints struct {
	V int `json:"v,omitempty"`
	// The fields that do not follow from the event
	From       *transcript.Origin `json:"from,omitempty"`
	Note       bool               `json:"note,omitempty"`
	Role       string             `json:"role,omitempty"`       // if it does not follow
	Author     *string            `json:"author,omitempty"`     // if it does not follow
	Invocation bool               `json:"invocation,omitempty"` // the message itself names it
	// By another name than the event has for it
	Named string `json:"named,omitempty"`
	// Milliseconds, if the event has that of another message
	Time     *int64              `json:"time,omitempty"`
	Listed   bool                `json:"listed,omitempty"` // one plain text, but as a part
	Thoughts []transcript.Placed `json:"thoughts,omitempty"`
	// Results whose response was no object
	Wrapped []int           `json:"wrapped,omitempty"`
	Text    *string         `json:"text,omitempty"` // instead of the content of the event
	Parts   json.RawMessage `json:"parts,omitempty"`
	Calls   []format.Call   `json:"calls,omitempty"` // if they are not those of the parts
	Results []string        `json:"results,omitempty"`
	Tokens  uint64          `json:"tokens,omitempty"`
	Gone    string          `json:"gone,omitempty"`
	Set     []uint64        `json:"branchTokens,omitempty"` // derived: not read

	// Of an event that has the results of several messages.
	Of    []segment `json:"of,omitempty"`
	Stand []int     `json:"standIn,omitempty"` // parts that stand for a result that never came
}

// segment is one message of an event that has several: some of its parts, in a row.
type segment struct {
	At    int `json:"at"`
	Count int `json:"count"`
	hints
}

func readHints(raw json.RawMessage) (h hints, ok bool) {
	if _, ok = parseObject(raw); !ok || json.Unmarshal(raw, &h) != nil || h.V != 1 ||
		h.size() > maxParts {
		return hints{}, false
	}
	for _, s := range h.Of {
		if s.At < 0 || s.Count < 0 || s.Of != nil || s.Stand != nil {
			return hints{}, false
		}
	}
	return h, true
}

// size returns the number of elements of all lists in hints.
func (h *hints) size() int {
	list, _ := jsonvalue.Elements(h.Parts)
	n := len(h.Thoughts) + len(h.Wrapped) + len(h.Calls) + len(h.Results) + len(h.Stand) +
		len(h.Of) + len(list)
	for i := range h.Of {
		n += h.Of[i].size()
	}
	return n
}

// MarshalJSON writes a segment as one object, with At and Count first.
func (s segment) MarshalJSON() ([]byte, error) {
	o, _ := parseObject(jsonvalue.Encode(s.hints))
	return append(object{{"at", jsonvalue.Encode(s.At)}, {"count", jsonvalue.Encode(s.Count)}},
		o...).encode(), nil
}

// content returns the parts of the event of a message, and adds the hints with which they are read
// back.
func (h *hints) content(
	m *transcript.Message, tool func(id string) string,
) (parts []json.RawMessage) {
	said, rest := wordsOf(m)
	if m.Parts == nil {
		parts = plain(m, tool)
	} else {
		for i, raw := range said {
			switch {
			case transcript.ReadPart(raw).Kind == transcript.PartHidden:
				h.Thoughts = append(h.Thoughts, transcript.Placed{At: i, Part: raw})
			default:
				parts = append(parts, h.part(len(parts), raw))
			}
		}
	}
	if m.Parts != nil && len(said) == 1 && len(rest) == 0 {
		_, h.Listed = plainText(said[0])
	}
	back := transcript.Message{}
	h.say(&back, parts, rest)
	if back.Text != m.Text || string(back.Parts) != string(m.Parts) {
		h.Thoughts, h.Wrapped, h.Listed = nil, nil, false
		h.Text, h.Parts = nil, jsonvalue.Array(said)
		if m.Parts == nil {
			h.Text, h.Parts = &m.Text, nil
		}
	}
	return parts
}

// plain returns the parts of a message that has none. Its calls and results become parts, because
// ADK pairs the parts.
func plain(m *transcript.Message, tool func(id string) string) (parts []json.RawMessage) {
	words := m.Text
	for i, id := range m.Results {
		said := ""
		if i == 0 {
			said, words = words, ""
		}
		parts = append(parts, answerPart(id, tool(id), "output", said))
	}
	if words != "" || len(m.Results) == 0 {
		parts = append([]json.RawMessage{transcript.TextPart(words, nil)}, parts...)
	}
	for _, c := range m.Calls {
		call := object{{"id", jsonvalue.Encode(c.ID)}, {"name", jsonvalue.Encode(c.Tool)},
			{"args", json.RawMessage("{}")}}
		parts = append(parts, object{{callMember, call.encode()}}.encode())
	}
	return parts
}

// part returns a part in the form that ADK takes: an object, and in a result an object as the
// response.
func (h *hints) part(at int, raw json.RawMessage) json.RawMessage {
	o, ok := parseObject(raw)
	if !ok {
		if s, isText := jsonvalue.Text(raw); isText {
			return transcript.TextPart(s, nil)
		}
		return transcript.TextPart(string(raw), nil)
	}
	inner, ok := parseObject(o.get(resultMember))
	if !ok {
		return raw
	}
	response := inner.get("response")
	if response == nil || response[0] == '{' {
		return raw
	}
	h.Wrapped = append(h.Wrapped, at)
	inner = inner.with("response", object{{"result", response}}.encode())
	return o.with(resultMember, inner.encode()).encode()
}

// unwrap undoes the change of part to a response.
func unwrap(raw json.RawMessage) json.RawMessage {
	o, _ := parseObject(raw)
	inner, ok := parseObject(o.get(resultMember))
	response, isObject := parseObject(inner.get("response"))
	if !ok || !isObject || len(response) != 1 || response[0].Name != "result" {
		return raw
	}
	return o.with(resultMember, inner.with("response", response[0].Value).encode()).encode()
}

// say sets the text or the parts of a message: those in the hints, or else those of the event. rest
// are the fields that are kept with them.
func (h *hints) say(m *transcript.Message, parts []json.RawMessage, rest object) {
	switch list, err := jsonvalue.Elements(h.Parts); {
	case h.Text != nil:
		m.Text, m.Parts = *h.Text, nil
		if len(rest) > 0 {
			m.Text, m.Parts =
				"", jsonvalue.Array([]json.RawMessage{transcript.TextPart(*h.Text, nil),
					carried(rest)})
		}
		return
	case err == nil:
		list = transcript.CompactAll(list)
		if len(rest) > 0 {
			list = append(list, carried(rest))
		}
		m.Text, m.Parts = "", jsonvalue.Array(list)
		return
	}
	parts = slices.Clone(parts)
	for _, i := range h.Wrapped {
		if i >= 0 && i < len(parts) {
			parts[i] = unwrap(parts[i])
		}
	}
	for _, t := range h.Thoughts {
		at := min(max(t.At, 0), len(parts))
		parts = slices.Insert(parts, at, jsonvalue.Compact(t.Part))
	}
	setParts(m, parts, rest, h.Listed)
}

// setParts sets the parts of a message, or its text if they are one plain text and listed is false.
func setParts(m *transcript.Message, parts []json.RawMessage, rest object, listed bool) {
	if _, _, looksCarried := cutCarried(parts); looksCarried || len(rest) > 0 {
		parts = append(slices.Clip(parts), carried(rest))
	} else if len(parts) == 1 && !listed {
		if s, ok := plainText(parts[0]); ok {
			m.Text, m.Parts = s, nil
			return
		}
	}
	m.Text, m.Parts = "", jsonvalue.Array(parts)
}

// wordsOf returns the parts of a message, and the fields that are kept with them.
func wordsOf(m *transcript.Message) (said []json.RawMessage, rest object) {
	if m.Parts == nil {
		return []json.RawMessage{transcript.TextPart(m.Text, nil)}, nil
	}
	list, _ := jsonvalue.Elements(m.Parts)
	said, rest, _ = cutCarried(list)
	return said, rest
}

// whole puts the words of a message into the hints.
func (h *hints) whole(m *transcript.Message) {
	h.Thoughts, h.Wrapped, h.Listed = nil, nil, false
	if h.Text, h.Parts = nil, m.Parts; m.Parts == nil {
		h.Text = &m.Text
	}
}

// answerPart is a result that says one thing, under the name output or error.
func answerPart(id, tool, member, said string) json.RawMessage {
	return transcript.ResultPart(id, tool, jsonvalue.Encode(map[string]string{member: said}), nil)
}

package adk

import (
	"encoding/json"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// hints are the fields of a message that an event has no field for, in customMetadata.ctx. A
// message that ADK said first needs none.
type hints struct {
	transcript.Hints
	Set []uint64 `json:"branchTokens,omitempty"` // derived: not read

	// Of an event that has the results of several messages.
	Of    []segment `json:"of,omitempty"`
	Stand []int     `json:"standIn,omitempty"` // parts that stand for a result that never came
}

// segment is one message of an event that has several: some of its parts, in a row.
type segment struct {
	At    int `json:"at"`
	Count int `json:"count"`
	transcript.Hints
}

func readHints(raw json.RawMessage) (h hints, ok bool) {
	if ok = jsonvalue.AsObject(raw) != nil; !ok || json.Unmarshal(raw, &h) != nil || h.V != 1 {
		return hints{}, false
	}
	most := transcript.MaxListed - len(h.Of) - len(h.Stand)
	ok = h.Usable(&most)
	for i := range h.Of {
		s := &h.Of[i]
		ok = ok && s.Usable(&most) && s.At >= 0 && s.Count >= 0
	}
	return h, ok
}

// content returns the parts of the event of a message. Calls and results of one that has none
// become parts, because ADK pairs the parts.
func content(m *transcript.Message, tool func(id string) string) (parts []json.RawMessage) {
	if m.Parts == nil {
		for _, p := range transcript.PartsOf(m) {
			if p.Kind == transcript.PartResult {
				said, _ := p.Said()
				p.Raw = answerPart(p.ID, tool(p.ID), "output", said)
			}
			parts = append(parts, p.Raw)
		}
		return parts
	}
	said, _ := wordsOf(m)
	for _, raw := range said {
		if transcript.ReadPart(raw).Kind != transcript.PartHidden {
			parts = append(parts, fitted(raw))
		}
	}
	return parts
}

// fitted returns a part in the form that ADK takes: an object, and in a result an object as the
// response.
func fitted(raw json.RawMessage) json.RawMessage {
	o, ok := jsonvalue.ParseObject(raw)
	if !ok {
		if s, isText := jsonvalue.Text(raw); isText {
			return transcript.TextPart(s, nil)
		}
		return transcript.TextPart(string(raw), nil)
	}
	inner := o.Object("functionResponse")
	response := get(inner, "response")
	if response == nil || response[0] == '{' {
		return raw
	}
	inner.Set("response", jsonvalue.NewObject("result", response))
	o.Set("functionResponse", inner)
	return jsonvalue.Encode(o)
}

// setParts sets the parts of a message, or its text, and the fields that are kept with them.
func setParts(m *transcript.Message, parts []json.RawMessage, rest jsonvalue.Object) {
	if _, looks := transcript.CutKept(carriedName, parts); looks != nil || len(rest) > 0 {
		parts = append(slices.Clip(parts), carried(rest))
	}
	m.SetParts(parts)
}

// wordsOf returns the parts of a message, and the fields that are kept with them.
func wordsOf(m *transcript.Message) (said []json.RawMessage, rest jsonvalue.Object) {
	if m.Parts == nil {
		return []json.RawMessage{transcript.TextPart(m.Text, nil)}, nil
	}
	list, _ := jsonvalue.Elements(m.Parts)
	return transcript.CutKept(carriedName, list)
}

// alone returns a message without the fields that are kept with its words.
func alone(m *transcript.Message) *transcript.Message {
	out := *m
	if said, rest := wordsOf(m); len(rest) > 0 {
		out.Text, out.Parts = "", jsonvalue.Array(said)
	}
	return &out
}

// answerPart is a result that says one thing, under the name output or error.
func answerPart(id, tool, member, said string) json.RawMessage {
	return transcript.ResultPart(id, tool, jsonvalue.Encode(map[string]string{member: said}), nil)
}

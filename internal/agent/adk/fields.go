package adk

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// The member of customMetadata that ctx writes, and the member of a part with the other fields of
// an event.
const (
	ownMetadata = "ctx"
	carriedName = "adk"
)

// fieldOrder is the order in which the fields of an event are written. Other fields come before
// customMetadata.
func fieldOrder() []string {
	return []string{
		"id", "invocationId", "author", "content", "actions", "longRunningToolIds", "branch",
		"timestamp", "partial", "turnComplete", "interrupted",
		"errorCode", "errorMessage", "finishReason", "usageMetadata", "groundingMetadata",
		"inputTranscription", "outputTranscription",
		"liveSessionResumptionUpdate", "isolationScope", "customMetadata",
	}
}

// inOrder writes fields of an event as fieldOrder says, the others by name.
func inOrder(o jsonvalue.Object) json.RawMessage {
	names := fieldOrder()
	last := len(names) - 1 // customMetadata
	return ordered(o, names[:last], names[last])
}

// ordered writes an object with some members first and some last; the others are sorted by name.
func ordered(o jsonvalue.Object, first []string, last ...string) json.RawMessage {
	others := slices.Sorted(maps.Keys(o.Without(slices.Concat(first, last)...)))
	return o.Ordered(slices.Concat(first, others, last)...)
}

// get returns the value of a member; nil if it is absent or null.
func get(o jsonvalue.Object, name string) json.RawMessage {
	if !o.Has(name) {
		return nil
	}
	return o[name]
}

// isEmpty reports whether raw is null, an empty array or an empty object, or absent.
func isEmpty(raw json.RawMessage) bool {
	return slices.Contains([]string{"", "null", "[]", "{}"}, string(raw))
}

// isField reports whether an event is known to have a field.
func isField(name string) bool { return slices.Contains(fieldOrder(), name) }

// fits reports whether the value of a known field is of the right kind.
func fits(name string, value json.RawMessage) bool {
	first := byte(0)
	if len(value) > 0 {
		first = value[0]
	}
	switch name {
	case "id", "invocationId", "author", "branch", "isolationScope", "errorCode", "errorMessage",
		"finishReason":
		return first == '"'
	case "content", "actions", "usageMetadata", "groundingMetadata", "customMetadata",
		"inputTranscription", "outputTranscription",
		"liveSessionResumptionUpdate":
		return first == '{'
	case "longRunningToolIds":
		return first == '['
	case "partial", "turnComplete", "interrupted":
		return first == 't' || first == 'f'
	}
	return true
}

// carried returns the part with the fields of an event that a message has no field for. It is
// marked as a thought, which no model is shown.
func carried(rest jsonvalue.Object) json.RawMessage {
	return transcript.HiddenPart(jsonvalue.Object{carriedName: inOrder(rest)})
}

// readPart parses a part. It returns an empty one if message.ParsePart refuses it.
func readPart(raw json.RawMessage) message.Part {
	p, err := message.ParsePart(raw)
	if err != nil {
		return message.Part{}
	}
	return p
}

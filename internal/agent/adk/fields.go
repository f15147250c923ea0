package adk

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

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

// inOrder sorts fields as fieldOrder says, the others by name.
func inOrder(o object) object {
	order := fieldOrder()
	last := len(order) - 1 // customMetadata
	rank := func(name string) int {
		switch i := slices.Index(order, name); {
		case i < 0:
			return last
		case i == last:
			return last + 1
		default:
			return i
		}
	}
	slices.SortStableFunc(o, func(a, b field) int {
		return cmp.Or(rank(a.Name)-rank(b.Name), strings.Compare(a.Name, b.Name))
	})
	return o
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
	case "id", "invocationId", "author", "branch", "isolationScope", "errorCode", "errorMessage", "finishReason":
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
func carried(rest object) json.RawMessage {
	return transcript.HiddenPart(jsonvalue.Object{carriedName: rest.encode()})
}

// cutCarried splits the parts of a message into what was said and the fields of carried; has is
// false if there are none.
func cutCarried(parts []json.RawMessage) (said []json.RawMessage, rest object, has bool) {
	if len(parts) == 0 {
		return parts, nil, false
	}
	last := parts[len(parts)-1]
	o, ok := parseObject(last)
	if !ok || len(o) != 2 || string(o.get("thought")) != "true" {
		return parts, nil, false
	}
	if rest, ok = parseObject(o.get(carriedName)); !ok {
		return parts, nil, false
	}
	return parts[:len(parts)-1], rest, true
}

// plainText returns the text of a part that is a text and nothing else.
func plainText(raw json.RawMessage) (string, bool) {
	o, ok := parseObject(raw)
	if !ok || len(o) != 1 || o[0].Name != "text" {
		return "", false
	}
	return jsonvalue.Text(o[0].Value)
}

// readPart parses a part. It returns an empty one if message.ParsePart refuses it.
func readPart(raw json.RawMessage) message.Part {
	p, err := message.ParsePart(raw)
	if err != nil {
		return message.Part{}
	}
	return p
}

// The members of a part that make it a call or a result.
const (
	callMember   = "functionCall"
	resultMember = "functionResponse"
)

package mask

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/message"
)

// readPart reads a part. It returns the empty part for one that is not valid.
func readPart(raw json.RawMessage) message.Part {
	p, err := message.ParsePart(raw)
	if err != nil {
		return message.Part{}
	}
	return p
}

// Kind is the kind of a part of a message.
type Kind int

// The kinds. A part that is both a result and something else is a result.
const (
	Other Kind = iota
	Text
	Call
	Result
)

// KindOf returns the kind of a part. Of a result it also returns the id of the call and the name of
// the tool, "" if the part has none.
func KindOf(raw json.RawMessage) (k Kind, call, tool string) {
	p := readPart(raw)
	switch {
	case p.Result != nil:
		return Result, p.Result.ID, p.Result.Name
	case p.Call != nil:
		return Call, "", ""
	case p.HasText && !p.Thought:
		return Text, "", ""
	}
	return Other, "", ""
}

// Split returns the elements of an array of parts, or nil if parts is no array.
func Split(parts []byte) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(parts, &list) != nil {
		return nil
	}
	return list
}

// isEmpty reports whether the output of a tool is empty.
func (p Part) isEmpty() bool {
	if p.Raw == nil {
		return p.Text == ""
	}
	r := readPart(p.Raw).Result
	if r == nil {
		return false
	}
	s := strings.TrimSpace(string(r.Response))
	return s == "" || s == "null" || s == `""`
}

// Replace returns a result with text in place of its response, or a text part with another text.
// Attachments and all other members stay, in their order. Parts of other kinds stay as they are.
func Replace(raw json.RawMessage, text string) json.RawMessage {
	p := readPart(raw)
	switch {
	case p.Result != nil:
		output := json.RawMessage(`{"output":` + string(jsonvalue.Encode(text)) + `}`)
		return setMember(raw, "functionResponse", func(in json.RawMessage) json.RawMessage {
			return setMember(in, "response",
				func(json.RawMessage) json.RawMessage { return output })
		})
	case p.HasText && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)):
		return jsonvalue.Encode(text)
	case p.HasText:
		return setMember(raw, "text",
			func(json.RawMessage) json.RawMessage { return jsonvalue.Encode(text) })
	}
	return raw
}

// setMember returns an object with the value of a member changed, or added at its end. The object
// is JSON in UTF-8.
func setMember(
	object json.RawMessage, name string, change func(json.RawMessage) json.RawMessage,
) json.RawMessage {
	members, _ := jsonvalue.Members(object)
	isIt := func(m jsonvalue.Member) bool { return m.Name == name }
	if !slices.ContainsFunc(members, isIt) {
		members = append(members, jsonvalue.Member{Name: name, Value: json.RawMessage("{}")})
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		if isIt(m) {
			m.Value = change(m.Value)
		}
		out = append(append(append(out, jsonvalue.Encode(m.Name)...), ':'), m.Value...)
	}
	return append(out, '}')
}

// plain writes JSON without white space and without needless escapes, members in their order. What
// is not JSON is returned as it is.
func plain(raw json.RawMessage) json.RawMessage {
	out, err := jsonvalue.Rewrite(jsonvalue.Compact(raw), func(scalar []byte) ([]byte, error) {
		if bytes.IndexByte(scalar, '\\') < 0 {
			return scalar, nil
		}
		text, _ := jsonvalue.Text(scalar) // only a string has a backslash
		return jsonvalue.Encode(text), nil
	})
	if err != nil {
		return raw
	}
	return out
}

// pretty writes JSON for reading, two spaces a level.
func pretty(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, plain(raw), "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

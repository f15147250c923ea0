package message

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Text returns what was said to people: the texts that are no thoughts, joined by line feeds. Empty
// texts, calls and results are left out.
func Text(parts []Part) string {
	var said []string
	for i := range parts {
		if p := &parts[i]; p.Text != "" && !p.Thought {
			said = append(said, p.Text)
		}
	}
	return strings.Join(said, "\n")
}

// Words returns everything that parts say, for search and summaries, joined by line feeds in the
// order of the parts: texts as they are, calls as "[call NAME] ARGS", and results as their output.
// A part that says several things says them in the order that Split has. Thoughts, empty texts and
// media are left out.
func Words(parts []Part) string {
	var said []string
	for _, p := range Split(parts) {
		switch {
		case p.Call != nil:
			said = append(said, "[call "+p.Call.Name+"] "+plain(p.Call.Args))
		case p.Result != nil:
			said = append(said, p.Result.Output())
		case p.Text != "" && !p.Thought:
			said = append(said, p.Text)
		}
	}
	return strings.Join(said, "\n")
}

// Output returns what the tool printed, as text. A response that is a string is that text, and so
// is the string of an object that has no other member ("output", "error", "content", "result" or
// any other name). Any other response is returned as JSON without white space and without escapes
// that JSON does not ask for, its members in their order. It is "" where there is no response.
func (r *Result) Output() string { return plain(r.Response) }

// plain is the text of a value, as Output describes it.
func plain(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		return unquote(raw)
	}
	if only, ok := onlyText(raw); ok {
		return only
	}
	v := jsontext.Value(bytes.Clone(raw))
	if v.Format(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return string(raw) // not JSON, so not from Parse
	}
	return string(v)
}

// onlyText returns the string of an object with one member, if that is one.
func onlyText(raw json.RawMessage) (text string, ok bool) {
	members := 0
	err := eachMember(raw, func(_ string, value json.RawMessage) bool {
		members++
		if ok = members == 1 && value[0] == '"'; ok {
			text = unquote(value)
		}
		return ok
	})
	return text, ok && err == nil
}

// eachMember calls member for the members of an object, until it returns false. It does nothing for
// any other value.
func eachMember(raw json.RawMessage, member func(name string, value json.RawMessage) bool) error {
	d := newDecoder(raw)
	if d.PeekKind() != '{' {
		return nil
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if !member(text, json.RawMessage(value)) {
			return nil
		}
	}
	return nil
}

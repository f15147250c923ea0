package mask

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gemini-ctx/ctx/internal/message"
)

// readPart reads a part. Of one that cannot be read nothing is known.
func readPart(raw json.RawMessage) message.Part {
	p, err := message.ParsePart(raw)
	if err != nil {
		return message.Part{}
	}
	return p
}

// Kind is what a part of a message is.
type Kind int

// The kinds. A part that is both a result and something else is a result.
const (
	Other Kind = iota
	Text
	Call
	Result
)

// KindOf says what a part is, and of a result whose it is: the call's id and the tool's name, "" where the part does not say.
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

// Split takes an array of parts apart; nil where it is none.
func Split(parts []byte) []json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(parts, &list) != nil {
		return nil
	}
	return list
}

// isEmpty reports whether a tool printed nothing at all.
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

// Replace returns a part with text in the place of what it says: of a result its response, of a text the text. What is attached to a result stays, and
// so does every other member, in its order. Any other part is returned as it is.
func Replace(raw json.RawMessage, text string) json.RawMessage {
	p := readPart(raw)
	switch {
	case p.Result != nil:
		output := json.RawMessage(`{"output":` + string(quote(text)) + `}`)
		return setMember(raw, "functionResponse", func(in json.RawMessage) json.RawMessage {
			return setMember(in, "response", func(json.RawMessage) json.RawMessage { return output })
		})
	case p.HasText && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)):
		return quote(text)
	case p.HasText:
		return setMember(raw, "text", func(json.RawMessage) json.RawMessage { return quote(text) })
	}
	return raw
}

// setMember returns an object with the value of a member changed, or added at its end.
func setMember(object json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	found := false
	write := func(key string, value json.RawMessage) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(quote(key))
		b.WriteByte(':')
		b.Write(value)
	}
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err == nil && t == json.Delim('{') {
		for d.More() {
			key, err := d.Token()
			var value json.RawMessage
			if err != nil || d.Decode(&value) != nil {
				break
			}
			k, _ := key.(string)
			if k == name {
				found, value = true, change(value)
			}
			write(k, value)
		}
	}
	if !found {
		write(name, change(json.RawMessage("{}")))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// quote writes s as a JSON string; characters of HTML stay as they are.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// plain writes JSON without white space and without escapes that were not needed, members in their order. What is not JSON is returned as it is.
func plain(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	in, out := b.Bytes(), make([]byte, 0, b.Len())
	for i := 0; i < len(in); {
		if in[i] != '"' {
			out = append(out, in[i])
			i++
			continue
		}
		end := i + 1
		for in[end] != '"' {
			if in[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		if bytes.IndexByte(in[i:end], '\\') < 0 || json.Unmarshal(in[i:end+1], &s) != nil {
			out = append(out, in[i:end+1]...)
		} else {
			out = append(out, quote(s)...)
		}
		i = end + 1
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

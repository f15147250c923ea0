package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// Parse parses a JSON array of parts. An element that is a string is a text. Of an element that is
// neither a string nor an object, only Raw and Malformed are set.
//
// Parse refuses anything but a JSON array. It also refuses a part, a call or a result with two
// members of the same name, because readers in other languages choose between the two differently.
// It does not examine arguments and responses, which may be any JSON. Invalid UTF-8 in a text
// becomes U+FFFD.
//
// The raw values in the result share memory with parts.
func Parse(parts []byte) ([]Part, error) {
	raws, err := jsonvalue.Elements(parts)
	if err != nil {
		return nil, refusal(parts)
	}
	return parseAll(raws)
}

// ParseClean is Parse for parts that package sanitize has cleaned, or a store has kept: strings are
// not checked again.
func ParseClean(parts []byte) ([]Part, error) {
	raws, err := jsonvalue.ElementsWithin(parts)
	if err != nil {
		return nil, refusal(parts)
	}
	return parseAll(raws)
}

func parseAll(raws []json.RawMessage) (list []Part, err error) {
	list = make([]Part, len(raws))
	for i, raw := range raws {
		if list[i], err = parsePart(raw); err != nil {
			return nil, fmt.Errorf("part %d: %w", i+1, err)
		}
	}
	return list, nil
}

// refusal says why parts are no array of parts. A bad part before the place where the input stops
// being JSON counts.
func refusal(parts []byte) error {
	d := decoder(parts)
	if d.PeekKind() != '[' {
		if _, err := d.ReadValue(); err != nil {
			return syntax(parts)
		}
		return errors.New("the parts of a message are a JSON array")
	}
	_, _ = d.ReadToken() // the bracket
	for n := 1; d.PeekKind() != ']'; n++ {
		raw, err := d.ReadValue()
		if err != nil {
			return syntax(parts)
		}
		if _, err := parsePart(json.RawMessage(raw)); err != nil {
			return fmt.Errorf("part %d: %w", n, err)
		}
	}
	_, _ = d.ReadToken() // the other bracket
	return end(d)
}

// ParsePart parses one part, like an element of the array for Parse.
func ParsePart(part []byte) (Part, error) {
	trimmed := bytes.Trim(part, " \t\r\n")
	if n := jsonvalue.Skip(trimmed); n < 0 || n < len(trimmed) {
		return Part{}, refusalOfOne(part)
	}
	p, err := parsePart(trimmed[:len(trimmed):len(trimmed)])
	if err != nil {
		return Part{}, fmt.Errorf("part 1: %w", err)
	}
	return p, nil
}

// decoder reads what jsonvalue takes, and knows where something else begins.
func decoder(in []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(in), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
}

// refusalOfOne says why an input is no part.
func refusalOfOne(part []byte) error {
	d := decoder(part)
	if _, err := d.ReadValue(); err != nil {
		return syntax(part)
	}
	return end(d)
}

// end refuses further input.
func end(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != io.EOF {
		return syntaxAt(d.InputOffset())
	}
	return nil
}

// syntax tells in one line for people where an input stops being JSON.
func syntax(in []byte) error {
	d := decoder(in)
	for {
		_, err := d.ReadToken()
		if at := (*jsontext.SyntacticError)(nil); errors.As(err, &at) {
			return syntaxAt(at.ByteOffset)
		} else if err != nil {
			return syntaxAt(int64(len(in))) // it ends too early
		}
	}
}

func syntaxAt(offset int64) error {
	return fmt.Errorf("the parts of a message are not valid JSON at byte %d", offset)
}

// parsePart parses valid JSON.
func parsePart(raw json.RawMessage) (Part, error) {
	p := Part{Raw: raw}
	if raw[0] != '{' {
		p.HasText = p.string(raw, &p.Text)
		return p, nil
	}
	list, err := members(raw)
	for _, m := range list {
		if err == nil {
			err = p.member(m.Name, m.Value)
		}
	}
	return p, err
}

// members returns the members of an object. Two with the same name are an error.
func members(object json.RawMessage) ([]jsonvalue.Member, error) {
	list, err := jsonvalue.MembersWithin(object)
	if name, twice := repeated(list); twice {
		return nil, fmt.Errorf("the member %s is there twice", strconv.QuoteToASCII(clip(name)))
	}
	return list, err
}

// repeated returns the first name that came before.
func repeated(list []jsonvalue.Member) (name string, twice bool) {
	if len(list) <= 16 { // faster than a map
		for i := range list {
			for j := range i {
				if list[j].Name == list[i].Name {
					return list[i].Name, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]bool, len(list))
	for _, m := range list {
		if seen[m.Name] {
			return m.Name, true
		}
		seen[m.Name] = true
	}
	return "", false
}

// clip shortens a name for an error message.
func clip(s string) string {
	const most = 60 // runes, so that the error stays one line
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// member takes one member of a part.
func (p *Part) member(name string, value json.RawMessage) (err error) {
	switch name {
	case nameText:
		p.HasText = p.string(value, &p.Text)
	case nameThought:
		p.Thought = marksThought(value)
	case nameCall, nameResult, nameInline, nameFile:
		if value[0] != '{' || p.Media != nil && (name == nameInline || name == nameFile) {
			p.odd(value)
			return nil
		}
		var list []jsonvalue.Member
		list, err = members(value)
		switch name {
		case nameCall:
			p.call(list)
		case nameResult:
			p.result(list)
		default:
			p.media(list)
		}
	}
	return err
}

// marksThought reports whether a value of "thought" marks a thought: true, or the text of the
// thought.
func marksThought(value json.RawMessage) bool {
	s := string(value)
	return s != "false" && s != "null" && s != `""`
}

// odd notes a value where a value of another kind belongs. Any value except null marks the part as
// malformed.
func (p *Part) odd(value json.RawMessage) {
	p.Malformed = p.Malformed || string(value) != "null"
}

// string sets to to a string. Any other value is odd.
func (p *Part) string(value json.RawMessage, to *string) bool {
	s, ok := jsonvalue.Text(value)
	if ok {
		*to = s
	} else {
		p.odd(value)
	}
	return ok
}

// orNil returns a value, or nil for null.
func orNil(value json.RawMessage) json.RawMessage {
	if string(value) == "null" {
		return nil
	}
	return value
}

func (p *Part) call(list []jsonvalue.Member) {
	p.Call = &Call{}
	for _, m := range list {
		switch m.Name {
		case "id":
			p.string(m.Value, &p.Call.ID)
		case "name":
			p.string(m.Value, &p.Call.Name)
		case "args":
			p.Call.Args = orNil(m.Value)
		}
	}
}

func (p *Part) result(list []jsonvalue.Member) {
	p.Result = &Result{}
	for _, m := range list {
		switch m.Name {
		case "id":
			p.string(m.Value, &p.Result.ID)
		case "name":
			p.string(m.Value, &p.Result.Name)
		case "response":
			p.Result.Response = orNil(m.Value)
		case "parts":
			parts, err := jsonvalue.ElementsWithin(m.Value)
			if err != nil {
				p.odd(m.Value)
			} else if len(parts) > 0 {
				p.Result.Parts = parts
			}
		}
	}
}

func (p *Part) media(list []jsonvalue.Member) {
	p.Media = &Media{}
	for _, m := range list {
		switch m.Name {
		case "mimeType":
			p.string(m.Value, &p.Media.MimeType)
		case "data":
			p.string(m.Value, &p.Media.Data)
		case "fileUri":
			p.string(m.Value, &p.Media.URI)
		}
	}
}

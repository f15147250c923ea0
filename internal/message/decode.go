package message

import (
	"encoding/json"
	"strconv"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// raw reads the next value and returns its bytes as written.
func (p *parser) raw() (json.RawMessage, error) { return jsonvalue.Next(p.dec, p.in) }

// since returns the input from start to the position of the decoder.
func (p *parser) since(start int) json.RawMessage {
	end := int(p.dec.InputOffset())
	return json.RawMessage(p.in[start:end:end])
}

// value is raw, but returns nil for null.
func (p *parser) value() (json.RawMessage, error) {
	v, err := p.raw()
	if string(v) == "null" {
		v = nil
	}
	return v, err
}

// odd reads the next value where a value of another kind belongs. Any value except null marks the
// part as malformed.
func (p *parser) odd() (json.RawMessage, error) {
	v, err := p.raw()
	p.malformed = p.malformed || string(v) != "null"
	return v, err
}

// text reads the next value into s if it is a string. Any other value is odd.
func (p *parser) text(s *string) (json.RawMessage, error) {
	if p.dec.PeekKind() != '"' {
		return p.odd()
	}
	v, err := p.raw()
	if err == nil {
		*s, _ = jsonvalue.Text(v)
	}
	return v, err
}

// object reads an object. It calls member for each name, and member must read the value.
func (p *parser) object(member func(name string) error) (json.RawMessage, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	start := int(p.dec.InputOffset()) - 1
	seen := map[string]bool{}
	for p.dec.PeekKind() != '}' {
		token, err := p.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if seen[name] {
			return nil, &duplicateError{name}
		}
		seen[name] = true
		if err := member(name); err != nil {
			return nil, err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	return p.since(start), nil
}

// array reads an array. It calls element for each element, and element must read it.
func (p *parser) array(element func() error) (json.RawMessage, error) {
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	start := int(p.dec.InputOffset()) - 1
	for p.dec.PeekKind() != ']' {
		if err := element(); err != nil {
			return nil, err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	return p.since(start), nil
}

// duplicateError says that an object has two members with the same name.
type duplicateError struct{ name string }

func (e *duplicateError) Error() string {
	return "the member " + strconv.QuoteToASCII(clip(e.name)) + " is there twice"
}

// clip shortens a name for an error message.
func clip(s string) string {
	const most = 60 // runes, so that the error stays one line
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

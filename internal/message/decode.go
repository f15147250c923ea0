package message

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// newDecoder reads any JSON. Names that occur twice are told by object, at the levels where they
// matter.
func newDecoder(in []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(in),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// raw reads the next value, as it was written.
func (p *parser) raw() (json.RawMessage, error) {
	v, err := p.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	return p.since(int(p.dec.InputOffset()) - len(v)), nil
}

// since returns the input from start up to where the decoder is.
func (p *parser) since(start int) json.RawMessage {
	end := int(p.dec.InputOffset())
	return json.RawMessage(p.in[start:end:end])
}

// value is raw, with nil for null.
func (p *parser) value() (json.RawMessage, error) {
	v, err := p.raw()
	if string(v) == "null" {
		v = nil
	}
	return v, err
}

// odd reads the next value in a place that wants one of another kind. Only null may stand there.
func (p *parser) odd() (json.RawMessage, error) {
	v, err := p.raw()
	p.malformed = p.malformed || string(v) != "null"
	return v, err
}

// text reads the next value into s if it is a string, and passes over it if it is not.
func (p *parser) text(s *string) (json.RawMessage, error) {
	if p.dec.PeekKind() != '"' {
		return p.odd()
	}
	v, err := p.raw()
	if err == nil {
		*s = unquote(v)
	}
	return v, err
}

// unquote returns what a valid JSON string says.
func unquote(v json.RawMessage) string {
	b, _ := jsontext.AppendUnquote(nil, v) // its only error is invalid UTF-8, which it replaces
	return string(b)
}

// object reads an object and calls member for each name in it, which has to read the value.
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

// array reads an array and calls element for each of its elements, which has to read it.
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

// duplicateError says that an object has two members of one name.
type duplicateError struct{ name string }

func (e *duplicateError) Error() string {
	return "the member " + strconv.QuoteToASCII(clip(e.name)) + " is there twice"
}

// clip shortens a name for an error.
func clip(s string) string {
	const most = 60 // runes, so that the error stays one line
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

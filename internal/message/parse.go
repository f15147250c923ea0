package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
	p := newParser(parts)
	list, err := p.parts()
	if err != nil {
		return nil, p.explain(err, len(list))
	}
	return list, nil
}

// ParsePart parses one part, like an element of the array for Parse.
func ParsePart(raw []byte) (Part, error) {
	p := newParser(raw)
	part, err := p.part()
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return Part{}, p.explain(err, 0)
	}
	return part, nil
}

func newParser(in []byte) *parser {
	return &parser{in: in, dec: jsonvalue.NewDecoder(in)}
}

var errNoArray = errors.New("the parts of a message are a JSON array")

// parser parses one array of parts in one pass. Duplicate names are an error only in the objects
// whose members this package reads.
type parser struct {
	in        []byte
	dec       *jsontext.Decoder
	malformed bool // of the part that is being parsed
}

// explain turns an error of the decoder, after n complete parts, into one line for people.
func (p *parser) explain(err error, n int) error {
	var syntax *jsontext.SyntacticError
	var twice *duplicateError
	switch {
	case errors.As(err, &twice):
		return fmt.Errorf("part %d: %w", n+1, err)
	case errors.As(err, &syntax):
		return fmt.Errorf("the parts of a message are not valid JSON at byte %d", syntax.ByteOffset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the parts of a message are not valid JSON at byte %d", len(p.in))
	}
	return err
}

// parts parses the whole input. With an error it returns the parts before the one with the error.
func (p *parser) parts() ([]Part, error) {
	if p.dec.PeekKind() != '[' {
		if _, err := p.raw(); err != nil {
			return nil, err
		}
		return nil, errNoArray
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	list := []Part{}
	for p.dec.PeekKind() != ']' {
		part, err := p.part()
		if err != nil {
			return list, err
		}
		list = append(list, part)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return list, err
	}
	return list, p.end()
}

// end refuses further input.
func (p *parser) end() error {
	if _, err := p.dec.ReadToken(); err != io.EOF {
		return &jsontext.SyntacticError{ByteOffset: p.dec.InputOffset()}
	}
	return nil
}

func (p *parser) part() (part Part, err error) {
	p.malformed = false
	switch p.dec.PeekKind() {
	case '"':
		part.HasText = true
		part.Raw, err = p.text(&part.Text)
	case '{':
		part.Raw, err = p.object(func(name string) error { return p.member(&part, name) })
	default:
		part.Raw, err = p.odd()
	}
	part.Malformed = p.malformed
	return part, err
}

// member reads the value of one member of a part.
func (p *parser) member(part *Part, name string) error {
	kind := p.dec.PeekKind()
	var err error
	switch {
	case name == nameText && kind == '"':
		part.HasText = true
		_, err = p.text(&part.Text)
	case name == nameThought:
		var v json.RawMessage
		v, err = p.raw()
		part.Thought = marksThought(v)
	case name == nameCall && kind == '{':
		part.Call = &Call{}
		_, err = p.object(func(name string) error { return p.call(part.Call, name) })
	case name == nameResult && kind == '{':
		part.Result = &Result{}
		_, err = p.object(func(name string) error { return p.result(part.Result, name) })
	case (name == nameInline || name == nameFile) && kind == '{' && part.Media == nil:
		part.Media = &Media{}
		_, err = p.object(func(name string) error { return p.media(part.Media, name) })
	case isKnown(name):
		_, err = p.odd()
	default:
		_, err = p.raw()
	}
	return err
}

// isKnown reports whether a member with this name must have a value of a certain kind.
func isKnown(name string) bool {
	switch name {
	case nameText, nameCall, nameResult, nameInline, nameFile:
		return true
	}
	return false
}

// marksThought reports whether a value of "thought" marks a thought: true, or the text of the
// thought.
func marksThought(v json.RawMessage) bool {
	s := string(v)
	return s != "false" && s != "null" && s != `""`
}

func (p *parser) call(c *Call, name string) (err error) {
	switch name {
	case "id":
		_, err = p.text(&c.ID)
	case "name":
		_, err = p.text(&c.Name)
	case "args":
		c.Args, err = p.value()
	default:
		_, err = p.raw()
	}
	return err
}

func (p *parser) result(r *Result, name string) (err error) {
	switch name {
	case "id":
		_, err = p.text(&r.ID)
	case "name":
		_, err = p.text(&r.Name)
	case "response":
		r.Response, err = p.value()
	case "parts":
		if p.dec.PeekKind() == '[' {
			_, err = p.array(func() error {
				v, err := p.raw()
				r.Parts = append(r.Parts, v)
				return err
			})
		} else {
			_, err = p.odd()
		}
	default:
		_, err = p.raw()
	}
	return err
}

func (p *parser) media(m *Media, name string) (err error) {
	switch name {
	case "mimeType":
		_, err = p.text(&m.MimeType)
	case "data":
		_, err = p.text(&m.Data)
	case "fileUri":
		_, err = p.text(&m.URI)
	default:
		_, err = p.raw()
	}
	return err
}

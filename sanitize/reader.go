package sanitize

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// maxDepth is the largest nesting depth of arrays and objects. Message parts are shallow. The limit
// keeps hostile input from growing the stack.
const maxDepth = 200

var (
	errNotJSON = errors.New("not one valid JSON value")
	errDeep    = errors.New("nested more than 200 deep") // maxDepth
)

// token is a bracket, a string, a number or a literal of a JSON value.
type token struct {
	kind       jsontext.Kind // its first byte, or '0' for a number; 0 after an error
	start, end int           // its place in the input, quotes included
}

// reader returns the tokens of one JSON value. After an error it returns no more tokens.
type reader struct {
	in  []byte
	dec *jsontext.Decoder
	err error
}

func newReader(in []byte) reader { return reader{in: in, dec: jsonvalue.NewDecoder(in)} }

// next returns the next token. After an error it is the zero token.
func (r *reader) next() token {
	if r.err != nil {
		return token{}
	}
	t := token{kind: r.dec.PeekKind()}
	size := 1
	var err error
	switch t.kind {
	case '{', '[', '}', ']':
		_, err = r.dec.ReadToken()
	default:
		var v jsontext.Value
		v, err = r.dec.ReadValue()
		size = len(v)
	}
	if err != nil {
		r.err = errNotJSON
		return token{}
	}
	t.end = int(r.dec.InputOffset())
	t.start = t.end - size
	return t
}

// more reports whether the open array or object has another element. If it has none, more reads the
// closing bracket.
func (r *reader) more() bool {
	if r.err != nil {
		return false
	}
	switch r.dec.PeekKind() {
	case '}', ']':
		r.next()
		return false
	}
	if r.dec.StackDepth() > maxDepth {
		r.err = errDeep
	}
	return r.err == nil
}

// end returns the first error. Anything after the value is an error too.
func (r *reader) end() error {
	if r.err == nil {
		if _, err := r.dec.ReadToken(); err != io.EOF {
			r.err = errNotJSON
		}
	}
	return r.err
}

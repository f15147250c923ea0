package sanitize

import (
	"errors"

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
	kind       byte // its first byte
	start, end int  // its place in the input, quotes included
}

// reader returns the tokens of one JSON value. There are none if err was set from the beginning.
type reader struct {
	in     []byte
	tokens jsonvalue.Tokens
	err    error
}

func newReader(in []byte) reader {
	r := reader{in: in, tokens: jsonvalue.ReadTokens(in)}
	if !r.tokens.Valid() {
		r.err = errNotJSON
	}
	return r
}

// next returns the next token.
func (r *reader) next() token {
	start, end := r.tokens.Next()
	return token{kind: r.in[start], start: start, end: end}
}

// more reports whether the open array or object has another element. If it has none, more reads the
// closing bracket.
func (r *reader) more() bool {
	if r.err != nil {
		return false
	}
	if c := r.tokens.Peek(); c == '}' || c == ']' {
		r.next()
		return false
	}
	if r.tokens.Depth() > maxDepth {
		r.err = errDeep
	}
	return r.err == nil
}

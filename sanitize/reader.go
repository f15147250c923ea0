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
	kind       byte // its first byte; 0 after an error
	start, end int  // its place in the input, quotes included
}

// reader returns the tokens of one JSON value. After an error it returns no more tokens.
type reader struct {
	in     []byte
	tokens jsonvalue.Tokens
	err    error
}

func newReader(in []byte) reader { return reader{in: in, tokens: jsonvalue.ReadTokens(in)} }

// next returns the next token. After an error it is the zero token.
func (r *reader) next() token {
	if r.err != nil {
		return token{}
	}
	start, end, ok := r.tokens.Next()
	if !ok {
		r.err = errNotJSON
		return token{}
	}
	return token{kind: r.in[start], start: start, end: end}
}

// more reports whether the open array or object has another element. If it has none, more reads the
// closing bracket.
func (r *reader) more() bool {
	if r.err != nil {
		return false
	}
	switch r.tokens.Peek() {
	case '}', ']':
		r.next()
		return false
	}
	if r.tokens.Depth() > maxDepth {
		r.err = errDeep
	}
	return r.err == nil
}

// end returns the first error. Anything after the value is an error too.
func (r *reader) end() error {
	if r.err == nil && !r.tokens.Ended() {
		r.err = errNotJSON
	}
	return r.err
}

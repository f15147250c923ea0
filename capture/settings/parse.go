// Package settings edits an agent's settings as text: what a person wrote, comments, order and indentation included, stays byte for byte, but for
// the entries that are put in or taken out. It is pure: bytes in, bytes out.
package settings

import (
	"encoding/json"
	"fmt"
)

// maxDepth bounds how deep values may be in each other.
const maxDepth = 200

// A node is a JSON value in a text.
type node struct {
	start, end int
	kind       byte     // '{', '[', or 's' for what holds no other value
	members    []member // of an object
	elements   []*node  // of an array
}

// A member is a key of an object with its value.
type member struct {
	start int // of the key
	key   string
	value *node
}

// SyntaxError says that a text is no JSON, comments allowed.
type SyntaxError struct {
	Line int
	Why  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// parse reads a text as the agent does: one JSON value, with // and /* */ comments.
func parse(b []byte) (*node, error) {
	p := &parser{b: b}
	p.space()
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at < len(b) {
		return nil, p.fail("something after the end")
	}
	if n.kind != '{' {
		return nil, p.fail("not an object")
	}
	return n, nil
}

type parser struct {
	b  []byte
	at int
}

func (p *parser) fail(why string) error {
	line := 1
	for _, c := range p.b[:min(p.at, len(p.b))] {
		if c == '\n' {
			line++
		}
	}
	return &SyntaxError{Line: line, Why: why}
}

func (p *parser) next() byte {
	if p.at < len(p.b) {
		return p.b[p.at]
	}
	return 0
}

// space passes over white space and comments, and returns where the last comment ends, or where it began.
func (p *parser) space() (commented int) {
	commented = p.at
	for p.at < len(p.b) {
		switch c := p.b[p.at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			p.at++
		case c == '/' && p.comment():
			commented = p.at
		default:
			return commented
		}
	}
	return commented
}

// comment passes over a comment, the line feed of one that ends with its line excluded.
func (p *parser) comment() bool {
	rest := string(p.b[p.at:min(len(p.b), p.at+2)])
	switch rest {
	case "//":
		for p.at < len(p.b) && p.b[p.at] != '\n' && p.b[p.at] != '\r' {
			p.at++
		}
		return true
	case "/*":
		for i := p.at + 2; i+1 < len(p.b); i++ {
			if p.b[i] == '*' && p.b[i+1] == '/' {
				p.at = i + 2
				return true
			}
		}
	}
	return false
}

func (p *parser) value(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.fail("values too deep in each other")
	}
	switch c := p.next(); c {
	case '{', '[':
		return p.container(c, depth)
	case '"':
		n := &node{start: p.at, kind: 's'}
		_, err := p.str()
		n.end = p.at
		return n, err
	}
	n := &node{start: p.at, kind: 's'}
	for p.at < len(p.b) && isWord(p.b[p.at]) {
		p.at++
	}
	n.end = p.at
	if !json.Valid(p.b[n.start:n.end]) {
		p.at = n.start
		return nil, p.fail("a value is missing or is none")
	}
	return n, nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

// str reads a string.
func (p *parser) str() (string, error) {
	start := p.at
	for p.at++; p.at < len(p.b) && p.b[p.at] != '"' && p.b[p.at] != '\n'; p.at++ {
		if p.b[p.at] == '\\' {
			p.at++
		}
	}
	var s string
	if p.next() != '"' || json.Unmarshal(p.b[start:p.at+1], &s) != nil {
		p.at = start
		return "", p.fail("a string is bad or does not end")
	}
	p.at++
	return s, nil
}

// container reads an object or an array.
func (p *parser) container(open byte, depth int) (*node, error) {
	n := &node{start: p.at, kind: open}
	closing := open + 2 // of [ and of {
	p.at++
	for first := true; ; first = false {
		p.space()
		if p.next() == closing && first {
			break
		}
		if err := p.child(n, depth); err != nil {
			return nil, err
		}
		p.space()
		if p.next() == closing {
			break
		}
		if p.next() != ',' {
			return nil, p.fail("a comma or a closing bracket is missing")
		}
		p.at++
	}
	p.at++
	n.end = p.at
	return n, nil
}

func (p *parser) child(n *node, depth int) error {
	if n.kind == '[' {
		v, err := p.value(depth + 1)
		n.elements = append(n.elements, v)
		return err
	}
	m := member{start: p.at}
	var err error
	if p.next() != '"' {
		return p.fail("a key is missing")
	}
	if m.key, err = p.str(); err != nil {
		return err
	}
	p.space()
	if p.next() != ':' {
		return p.fail("a colon is missing")
	}
	p.at++
	p.space()
	m.value, err = p.value(depth + 1)
	n.members = append(n.members, m)
	return err
}

// get returns the value of a key, nil where there is none. Of a key that is there twice the last one counts, as for the agent.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// text returns the string that a node is, "" for any other.
func (n *node) text(b []byte) string {
	var s string
	if n == nil || n.kind != 's' || json.Unmarshal(b[n.start:n.end], &s) != nil {
		return ""
	}
	return s
}

// spans returns where the children of a container begin and end.
func (n *node) spans() (list [][2]int) {
	for _, m := range n.members {
		list = append(list, [2]int{m.start, m.value.end})
	}
	for _, e := range n.elements {
		list = append(list, [2]int{e.start, e.end})
	}
	return list
}

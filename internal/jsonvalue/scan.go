package jsonvalue

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// maxNesting is the deepest nesting that is accepted: that of encoding/json and of jsontext.
const maxNesting = 10000

// Skip returns the index of the end of the JSON value that b begins with, after white space; -1 if
// there is none. Anything may follow the value.
func Skip(b []byte) int {
	s := scanner{in: b}
	return s.skip(0, 0)
}

// scanner finds the ends of the values in a text. Every index is -1 after an error.
type scanner struct {
	in      []byte
	spaced  bool // there is white space between tokens
	checked bool // in is known to be JSON: strings are not looked into
}

// space returns the index of the next byte at or after i that is not white space.
func (s *scanner) space(i int) int {
	for i < len(s.in) {
		switch s.in[i] {
		case ' ', '\n', '\t', '\r':
			s.spaced = true
			i++
		default:
			return i
		}
	}
	return i
}

// skip returns the end of the value that begins at i, after white space. It is nested depth deep.
func (s *scanner) skip(i, depth int) int {
	var few [32]byte
	open := few[:0] // the brackets around the next value
	for {
		if i = s.space(i); i >= len(s.in) {
			return -1
		}
		switch c := s.in[i]; c {
		case '"':
			i = s.text(i)
		case '{', '[':
			if depth+len(open) == maxNesting {
				return -1
			}
			if i = s.space(i + 1); i < len(s.in) && s.in[i] == c+2 {
				i++
				break
			}
			open = append(open, c)
			if c == '{' {
				i = s.name(i)
			}
			if i < 0 {
				return -1
			}
			continue
		case 't':
			i = s.literal(i, "true")
		case 'f':
			i = s.literal(i, "false")
		case 'n':
			i = s.literal(i, "null")
		default:
			i = s.number(i)
		}
		if i < 0 {
			return -1
		}
		for more := false; !more; {
			if len(open) == 0 {
				return i
			}
			if i = s.space(i); i >= len(s.in) {
				return -1
			}
			last := open[len(open)-1]
			switch s.in[i] {
			case ',':
				more = true
				if i++; last == '{' {
					if i = s.name(s.space(i)); i < 0 {
						return -1
					}
				}
			case last + 2: // the other bracket of the pair
				open = open[:len(open)-1]
				i++
			default:
				return -1
			}
		}
	}
}

// name returns the index after the colon that follows the name at i.
func (s *scanner) name(i int) int {
	if i >= len(s.in) || s.in[i] != '"' {
		return -1
	}
	if i = s.text(i); i < 0 {
		return -1
	}
	if i = s.space(i); i >= len(s.in) || s.in[i] != ':' {
		return -1
	}
	return i + 1
}

func (s *scanner) literal(i int, word string) int {
	if len(s.in)-i < len(word) || string(s.in[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func (s *scanner) number(i int) int {
	if i < len(s.in) && s.in[i] == '-' {
		i++
	}
	if i < len(s.in) && s.in[i] == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if i < len(s.in) && s.in[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(s.in) && s.in[i]|0x20 == 'e' {
		if i++; i < len(s.in) && (s.in[i] == '+' || s.in[i] == '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

// digits returns the end of one digit or more.
func (s *scanner) digits(i int) int {
	start := i
	for i < len(s.in) && s.in[i]-'0' < 10 {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// text returns the end of the string whose quote is at i.
func (s *scanner) text(i int) int {
	b := s.in
	if s.checked {
		return closing(b, i+1)
	}
	for i++; i < len(b); {
		if i+8 <= len(b) {
			at := special(binary.LittleEndian.Uint64(b[i:]))
			if at == 0 {
				i += 8
				continue
			}
			i += firstByte(at)
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			if i+1 >= len(b) {
				return -1
			}
			switch b[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if len(b)-i < 6 || !isHex(b[i+2]) || !isHex(b[i+3]) || !isHex(b[i+4]) ||
					!isHex(b[i+5]) {
					return -1
				}
				i += 6
			default:
				return -1
			}
		case c < ' ':
			return -1
		default:
			i++
		}
	}
	return -1
}

// closing returns the index after the quote that ends the string whose words begin at start.
func closing(b []byte, start int) int {
	for i := start; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n + 1
		slashes := i - 1
		for slashes > start && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-1-slashes)%2 == 0 {
			return i
		}
	}
}

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

// special marks quotes, backslashes and control characters in eight bytes: the first of them has
// its top bit set in the result, and no byte before it.
func special(x uint64) uint64 {
	const space, quote, slash = ' ' * ones, '"' * ones, '\\' * ones
	q, s := x^quote, x^slash
	return ((x-space)&^x | (q-ones)&^q | (s-ones)&^s) & tops
}

// firstByte returns the index of the first byte of which special has set the top bit.
func firstByte(marks uint64) int { return bits.TrailingZeros64(marks) / 8 }

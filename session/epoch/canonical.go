package epoch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the one form of a JSON value in which it is compared and stored: no white space, members by name in UTF-16 order, strings
// with no escape that is not needed, and numbers as RFC 8785 writes them. It differs from that in one point: a number with more digits than a
// double holds keeps them, so that two ids of 19 digits are never taken for one.
//
// It fails on what is not one JSON value in UTF-8, on a name that an object has twice, on half a surrogate pair, and on a number with an
// exponent beyond four digits.
func Canonical(b []byte) ([]byte, error) {
	if !utf8.Valid(b) || !json.Valid(b) {
		return nil, errors.New("not one JSON value in UTF-8")
	}
	c := &canon{in: b}
	c.value()
	if c.err != nil {
		return nil, c.err
	}
	return c.out, nil
}

// canon goes through a value that is known to be valid. Its first error sticks.
type canon struct {
	in  []byte
	at  int
	out []byte
	err error
}

func (c *canon) space() {
	for c.at < len(c.in) && strings.IndexByte(" \t\r\n", c.in[c.at]) >= 0 {
		c.at++
	}
}

func (c *canon) value() {
	c.space()
	switch b := c.in[c.at]; {
	case b == '{':
		c.object()
	case b == '[':
		c.array()
	case b == '"':
		c.out = appendString(c.out, c.text())
	case b == '-' || b >= '0' && b <= '9':
		c.number()
	default:
		start := c.at
		for c.at < len(c.in) && c.in[c.at] >= 'a' && c.in[c.at] <= 'z' {
			c.at++
		}
		c.out = append(c.out, c.in[start:c.at]...)
	}
	c.space()
}

func (c *canon) array() {
	c.out = append(c.out, '[')
	for c.at++; c.in[c.at] != ']'; {
		if c.in[c.at] == ',' {
			c.at++
			c.out = append(c.out, ',')
		}
		c.space()
		if c.in[c.at] != ']' {
			c.value()
		}
	}
	c.at++
	c.out = append(c.out, ']')
}

// member is a name of an object and its value, in canonical form.
type member struct {
	name  string
	units []uint16
	value []byte
}

func (c *canon) object() {
	var list []member
	outer := c.out
	c.at++
	for c.space(); c.in[c.at] != '}'; c.space() {
		if c.in[c.at] == ',' {
			c.at++
			c.space()
		}
		m := member{name: c.text()}
		c.space()
		c.at++ // the colon
		c.out = nil
		c.value()
		m.units, m.value = utf16.Encode([]rune(m.name)), c.out
		list = append(list, m)
	}
	c.at++
	slices.SortFunc(list, func(a, b member) int { return slices.Compare(a.units, b.units) })
	c.out = append(outer, '{')
	for i, m := range list {
		if i > 0 {
			if m.name == list[i-1].name {
				c.fail(fmt.Errorf("name twice in an object: %.80q", m.name))
			}
			c.out = append(c.out, ',')
		}
		c.out = append(append(appendString(c.out, m.name), ':'), m.value...)
	}
	c.out = append(c.out, '}')
}

func (c *canon) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// text reads a string.
func (c *canon) text() string {
	start := c.at
	for c.at++; c.in[c.at] != '"'; c.at++ {
		if c.in[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
	quoted := c.in[start:c.at]
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	if halfPair(quoted) {
		c.fail(errors.New("half a surrogate pair in a string"))
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // it is valid
	return s
}

// halfPair reports whether a string has an escape of a surrogate without the one that belongs to it.
func halfPair(quoted []byte) bool {
	high := false // the escape before was the first half of a pair
	for i := 1; i < len(quoted)-1; i++ {
		unit := rune(-1)
		if quoted[i] == '\\' {
			if i++; quoted[i] == 'u' {
				n, _ := strconv.ParseUint(string(quoted[i+1:i+5]), 16, 16)
				unit = rune(n)
				i += 4
			}
		}
		low := unit >= 0xdc00 && unit < 0xe000
		if high != low {
			return true
		}
		high = unit >= 0xd800 && unit < 0xdc00
	}
	return high
}

// appendString writes a string with the escapes that it cannot be without.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := 0; i < len(s); i++ {
		switch b := s[i]; b {
		case '"', '\\':
			out = append(out, '\\', b)
		case '\b':
			out = append(out, `\b`...)
		case '\t':
			out = append(out, `\t`...)
		case '\n':
			out = append(out, `\n`...)
		case '\f':
			out = append(out, `\f`...)
		case '\r':
			out = append(out, `\r`...)
		default:
			if b < ' ' {
				out = fmt.Appendf(out, `\u%04x`, b)
				continue
			}
			out = append(out, b)
		}
	}
	return append(out, '"')
}

// maxExponent bounds how far from the point the digits of a number may be.
const maxExponent = 9999

func (c *canon) number() {
	start := c.at
	for c.at < len(c.in) && strings.IndexByte("+-.eE0123456789", c.in[c.at]) >= 0 {
		c.at++
	}
	text := string(c.in[start:c.at])
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	e, err := strconv.Atoi(cmp.Or(strings.TrimPrefix(exponent, "+"), "0"))
	digits := strings.TrimLeft(whole+fraction, "0")
	point := len(digits) - len(fraction) + e // the value is 0.digits times ten to the point
	digits = strings.TrimRight(digits, "0")
	switch {
	case err == nil && digits == "" && -maxExponent <= e && e <= maxExponent:
		c.out = append(c.out, '0') // minus zero is the same
		return
	case err != nil || digits == "" || point > maxExponent || point < -maxExponent:
		c.fail(fmt.Errorf("number out of range: %.40q", c.in[start:c.at]))
		return
	case negative:
		c.out = append(c.out, '-')
	}
	c.out = append(c.out, plainNumber(digits, point)...)
}

// plainNumber writes a number as ECMAScript does.
func plainNumber(digits string, point int) string {
	n := len(digits)
	switch {
	case n <= point && point <= 21:
		return digits + strings.Repeat("0", point-n)
	case 0 < point && point <= 21:
		return digits[:point] + "." + digits[point:]
	case -6 < point && point <= 0:
		return "0." + strings.Repeat("0", -point) + digits
	case n == 1:
		return fmt.Sprintf("%se%+d", digits, point-1)
	}
	return fmt.Sprintf("%s.%se%+d", digits[:1], digits[1:], point-1)
}

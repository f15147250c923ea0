package sanitize

import (
	"encoding/binary"
	"fmt"
)

// checkJSON returns an error unless b is one JSON value, as json.Valid tells it, that is nested at
// most maxDepth deep. It is faster than json.Valid: most of a message is text, which it reads eight
// bytes at a time.
func checkJSON(b []byte) error {
	v := validator{b: b}
	ok := v.value(0)
	v.space()
	switch {
	case v.deep:
		return fmt.Errorf("nested more than %d deep", maxDepth)
	case !ok || v.at < len(b):
		return errNotJSON
	}
	return nil
}

// validator steps through what may be JSON.
type validator struct {
	b    []byte
	at   int
	deep bool // it is nested more than maxDepth deep
}

func (v *validator) space() { v.at = runEnd(v.b, v.at, isSpace) }

// next reports whether c is next, and steps over it.
func (v *validator) next(c byte) bool {
	if v.at < len(v.b) && v.b[v.at] == c {
		v.at++
		return true
	}
	return false
}

func (v *validator) value(depth int) bool {
	if depth > maxDepth {
		v.deep = true
		return false
	}
	v.space()
	if v.at == len(v.b) {
		return false
	}
	switch v.b[v.at] {
	case '{':
		return v.list('}', depth)
	case '[':
		return v.list(']', depth)
	case '"':
		return v.text()
	case 't':
		return v.word("true")
	case 'f':
		return v.word("false")
	case 'n':
		return v.word("null")
	}
	return v.number()
}

// list reads an object or an array, which ends in closing.
func (v *validator) list(closing byte, depth int) bool {
	v.at++
	v.space()
	if v.next(closing) {
		return true
	}
	for {
		if closing == '}' {
			v.space()
			if !v.text() {
				return false
			}
			v.space()
			if !v.next(':') {
				return false
			}
		}
		if !v.value(depth + 1) {
			return false
		}
		v.space()
		if v.next(closing) {
			return true
		}
		if !v.next(',') {
			return false
		}
	}
}

func (v *validator) word(w string) bool {
	if len(v.b)-v.at < len(w) || string(v.b[v.at:v.at+len(w)]) != w {
		return false
	}
	v.at += len(w)
	return true
}

// text reads a string.
func (v *validator) text() bool {
	if !v.next('"') {
		return false
	}
	for v.at < len(v.b) {
		if v.at+8 <= len(v.b) && isInside(binary.LittleEndian.Uint64(v.b[v.at:])) {
			v.at += 8
			continue
		}
		c := v.b[v.at]
		v.at++
		switch {
		case c == '\\':
			if v.at < len(v.b) && isEscape(v.b[v.at]) {
				v.at++
			} else if !v.unicode() {
				return false
			}
		case c == '"':
			return true
		case c < ' ':
			return false
		}
	}
	return false
}

// isInside reports whether none of the eight bytes of word is a quote, a backslash or below 0x20.
// The highest bit of a byte of each term is set where that byte is one of them.
func isInside(word uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	low := (word - ' '*ones) &^ word
	quote := word ^ '"'*ones
	slash := word ^ '\\'*ones
	return (low|(quote-ones)&^quote|(slash-ones)&^slash)&high == 0
}

// isEscape reports whether c may stand behind a backslash, alone.
func isEscape(c byte) bool {
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	}
	return false
}

// unicode reads the u and the digits of an escape.
func (v *validator) unicode() bool {
	if !v.next('u') {
		return false
	}
	end := runEnd(v.b[:min(len(v.b), v.at+4)], v.at, isHex)
	ok := end == v.at+4
	v.at = end
	return ok
}

// number reads a number.
func (v *validator) number() bool {
	v.next('-')
	if !v.next('0') && !v.digits() {
		return false
	}
	if v.next('.') && !v.digits() {
		return false
	}
	if v.next('e') || v.next('E') {
		if !v.next('+') {
			v.next('-')
		}
		return v.digits()
	}
	return true
}

// digits reports whether there is a digit, and steps over all of them.
func (v *validator) digits() bool {
	start := v.at
	v.at = runEnd(v.b, v.at, isDigit)
	return v.at > start
}

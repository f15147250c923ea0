package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/cli/document"
)

// errFull stops a walk when the page is full.
var errFull = errors.New("the page is full")

// perToken is the number of quarters in a token. ctx estimates an ASCII character at one quarter.
const perToken = 4

// frameTokens is reserved for everything in a result except its items: the cursor, of at most
// maxCursor characters, and names.
const frameTokens = 120

// page collects the items of one result within a budget.
type page struct {
	left  int // quarters of a token
	items [][]byte
}

func newPage(tokens int) *page { return &page{left: (tokens - frameTokens) * perToken} }

// encode returns a document with its version, without control characters.
func encode(fields ...any) ([]byte, error) {
	b, err := document.Encode(fields...)
	return cleanJSON(b), err
}

// itemJSON returns an item as JSON, without control characters.
func itemJSON(d any) []byte {
	b, _ := document.Marshal(d) // texts and numbers
	return cleanJSON(b)
}

// add puts an item on the page if it fits.
func (p *page) add(d any) (fits bool) { return p.put(itemJSON(d)) }

// put puts an encoded item on the page if it fits.
func (p *page) put(b []byte) (fits bool) {
	n := quarters(b) + 1 // a comma
	if n > p.left {
		return false
	}
	p.left -= n
	p.items = append(p.items, b)
	return true
}

func (p *page) empty() bool { return len(p.items) == 0 }

// frame has the fields around the items.
type frame struct {
	Changed bool    `json:"changed,omitempty"`
	Next    *string `json:"next,omitempty"`
	From    int     `json:"from,omitempty"` // of lines: where the rest begins
	File    string  `json:"file,omitempty"` // of lines: the file, if only its end was given
	// Of hits within words: how many messages, the oldest, were not read
	Unread int64 `json:"unread,omitempty"`
}

// document returns the page as one document, with its items under a name.
func (p *page) document(name string, f frame) (string, error) {
	items := append(append([]byte("["), bytes.Join(p.items, []byte(","))...), ']')
	b, err := encode(name, json.RawMessage(items), f)
	return string(b), err
}

// quarters estimates the cost of a text of up to 100,000 characters, in quarters of a token.
func quarters(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += quartersOf(r)
		b = b[size:]
	}
	return n
}

func quartersOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		return 1
	case r < 0x10000:
		return 6
	}
	return 12
}

// prefix returns how many bytes of a text fit into room quarters of a token, when written as JSON.
func prefix(s string, room int) int {
	for i, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
			room -= 2
		case r < ' ' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			room -= 6 // an escape with four digits, or a character that costs as much
		default:
			room -= quartersOf(r)
		}
		if room < 0 {
			return i
		}
	}
	return len(s)
}

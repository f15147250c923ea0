package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// errFull stops a walk when no more fits on a page.
var errFull = errors.New("the page is full")

// perToken is how many quarters of a token ctx counts for one: what it counts a character of ASCII as.
const perToken = 4

// frameTokens is what is kept for all of a result but its items: the cursor, which is at most maxCursor characters, and names.
const frameTokens = 120

// page collects the items of one result within a budget.
type page struct {
	left  int // quarters of a token
	items [][]byte
}

func newPage(tokens int) *page { return &page{left: (tokens - frameTokens) * perToken} }

// encode is a document as a result has it.
func encode(doc any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(doc); err != nil {
		return nil, err
	}
	return cleanJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// add puts a document on the page if there is room for it.
func (p *page) add(doc any) (fits bool, err error) {
	b, err := encode(doc)
	if err != nil {
		return false, err
	}
	n := quarters(b) + 1 // a comma
	if n > p.left {
		return false, nil
	}
	p.left -= n
	p.items = append(p.items, b)
	return true, nil
}

func (p *page) empty() bool { return len(p.items) == 0 }

// frame is what stands around the items.
type frame struct {
	V       int     `json:"v"`
	Changed bool    `json:"changed,omitempty"`
	Next    *string `json:"next"`
}

// document is the page as one document, in which the items have a name.
func (p *page) document(name string, f frame) (string, error) {
	f.V = 1
	rest, err := encode(f)
	if err != nil {
		return "", err
	}
	head, tail, _ := bytes.Cut(rest, []byte(",")) // {"v":1 and what follows
	var b bytes.Buffer
	b.Write(head)
	b.WriteString(`,"` + name + `":[`)
	b.Write(bytes.Join(p.items, []byte(",")))
	b.WriteString("],")
	b.Write(tail)
	return b.String(), nil
}

// quarters is what ctx estimates a text of up to 100,000 characters to cost, in quarters of a token.
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

// prefix returns how many bytes of a text fit in so many quarters of a token, as it is written in JSON.
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

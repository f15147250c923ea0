// Package helper lets a program of its own be a remote. Open starts the program ctx-remote-SCHEME
// for a URL and speaks with it over its standard input and output; Serve is the other side, for
// programs that are written in Go. docs/remote-helpers.md describes the protocol for everybody
// else.
//
// What either side reads is input from outside: it is bounded and checked before it is used.
package helper

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// Version is the version of the protocol, which the first line of a helper names.
const Version = 1

// The limits of one message of either side.
const (
	MaxLine = 64 << 10 // bytes of its line, with the newline
	MaxBody = 64 << 20 // bytes of one of its bodies: a file, or a part of a list
	// maxBodies is the most bodies of a message: Swap has the old and the new content.
	maxBodies = 2
	// partSize is the number of bytes after which a list goes on in another part. It is far below
	// MaxBody, so one more item always fits.
	partSize = 4 << 20
	maxTag   = 200 // bytes of a file's tag
)

// The optional features that a helper may name in its first line.
const (
	FeatureSearch = "search" // the requests index, forget and search
	FeatureCheck  = "check"  // the request check
	// FeatureMembers: the request members.
	FeatureMembers = "members"
)

// hello is the first line of a helper, which it writes unasked.
type hello struct {
	Ctx      string   `json:"ctx"` // "remote"
	V        int      `json:"v"`
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Features []string `json:"features,omitempty"`
}

func (h hello) check() error {
	switch {
	case h.Ctx != "remote":
		return errors.New(`the first line has no "ctx":"remote"`)
	case h.V != Version:
		return fmt.Errorf("speaks version %d of the protocol, not %d", h.V, Version)
	case h.Name == "" || h.Version == "" || len(h.Name) > 100 || len(h.Version) > 100:
		return errors.New("the first line has no name or no version")
	}
	return nil
}

// request is the line of a request. Do says which fields count.
type request struct {
	ID int64 `json:"id"`
	// Do is open, list, get, put, swap, delete, check, members, index, forget or search.
	Do     string `json:"do"`
	URL    string `json:"url,omitempty"`    // open
	Name   string `json:"name,omitempty"`   // get, put, swap
	Prefix string `json:"prefix,omitempty"` // list
	N      int64  `json:"n,omitempty"`      // get: -1; search
	Store  string `json:"store,omitempty"`  // forget
	Query  string `json:"query,omitempty"`  // search
	// For how long ctx waits for the last part of the answer
	Timeout int64 `json:"timeout_ms"`
	Bodies  sizes `json:"bodies,omitempty"`
}

// answer is the line of an answer, or of a part of it.
type answer struct {
	ID     int64    `json:"id"`
	Error  *failure `json:"error,omitempty"`
	More   bool     `json:"more,omitempty"` // another part with this id follows
	Bodies sizes    `json:"bodies,omitempty"`
}

// sizes are the lengths of the bodies that follow a line.
type sizes []int64

func (r *request) bodies() sizes { return r.Bodies }
func (a *answer) bodies() sizes  { return a.Bodies }

// header is the line of a message with bodies.
type header interface {
	*request | *answer
	bodies() sizes
}

// The kinds of errors. An unknown one counts as kindOther.
const (
	kindNotFound  = "not-found"
	kindExists    = "exists"
	kindStale     = "stale"
	kindTemporary = "temporary"
	kindTampered  = "tampered"
	kindPartial   = "incomplete"
	kindOther     = "other"
)

type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"` // one line, without credentials
}

// errorKind is an error that callers tell apart, with its name in the protocol.
type errorKind struct {
	err  error
	kind string
}

// kinds returns the errors that callers tell apart. As a variable, the list would be made at the
// start of every program.
func kinds() []errorKind {
	return []errorKind{
		{remote.ErrNotFound, kindNotFound},
		{remote.ErrExists, kindExists},
		{remote.ErrStale, kindStale},
		{remote.ErrTemporary, kindTemporary},
		{remote.ErrTampered, kindTampered},
		{remote.ErrIncomplete, kindPartial},
	}
}

// errTooLong says that a line or a body is longer than the protocol allows.
var errTooLong = errors.New("longer than the protocol allows")

// read reads the line of a message into h, and its bodies. io.EOF means that there is none. It
// holds no more bytes than have come, whatever lengths the line claims.
func read[H header](r *bufio.Reader, h H) ([][]byte, error) {
	line, err := readLine(r)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(line, h); err != nil {
		return nil, fmt.Errorf("a line is not of the protocol: %.60q", line)
	}
	sizes := h.bodies()
	if len(sizes) > maxBodies {
		return nil, fmt.Errorf("a message with %d bodies: %w", len(sizes), errTooLong)
	}
	bodies := make([][]byte, 0, len(sizes))
	for _, n := range sizes {
		if n < 0 || n > MaxBody {
			return nil, fmt.Errorf("a body of %d bytes: %w", n, errTooLong)
		}
		var b bytes.Buffer
		if got, err := io.CopyN(&b, r, n); err != nil {
			return nil, fmt.Errorf("a body ends after %d of %d bytes: %w", got, n, unexpected(err))
		}
		bodies = append(bodies, append([]byte{}, b.Bytes()...))
	}
	return bodies, nil
}

// readLine reads a line without its end. A line that the end of the input cuts off is an error.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLine || err != nil && len(line) == MaxLine {
			return nil, fmt.Errorf("a line: %w", errTooLong)
		}
		switch {
		case err == nil:
			return bytes.TrimRight(line, "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(line) > 0:
			return nil, fmt.Errorf("a line ends after %d bytes: %w", len(line), unexpected(err))
		default:
			return nil, err
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// write writes a message. line has the lengths of the bodies already.
func write(w *bufio.Writer, line any, bodies ...[]byte) error {
	b, err := encode(line)
	if err != nil {
		return err
	}
	if len(b) > MaxLine {
		return fmt.Errorf("a line of %d bytes: %w", len(b), errTooLong)
	}
	for _, part := range append([][]byte{b}, bodies...) {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return w.Flush()
}

// encode returns v as a line of JSON, in which only what JSON demands is escaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func sizesOf(bodies [][]byte) sizes {
	var s sizes
	for _, b := range bodies {
		s = append(s, int64(len(b)))
	}
	return s
}

// parts yields the items of a list as JSON lines, in bodies of about partSize. It yields at least
// one body; more says that another follows.
func parts[T any](items []T, yield func(body []byte, more bool) error) error {
	var body []byte
	for i, item := range items {
		line, err := encode(item)
		if err != nil {
			return err
		}
		body = append(body, line...)
		if len(body) >= partSize && i+1 < len(items) {
			if err := yield(body, true); err != nil {
				return err
			}
			body = body[:0]
		}
	}
	return yield(body, false)
}

// items reads the JSON lines of a body.
func items[T any](body []byte) ([]T, error) {
	var out []T
	for line := range bytes.Lines(body) {
		var item T
		if err := json.Unmarshal(line, &item); err != nil {
			return nil, fmt.Errorf("an item is not of the protocol: %.60q", line)
		}
		out = append(out, item)
	}
	return out, nil
}

// fileItem is a file in the body of a list.
type fileItem struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Tag  string `json:"tag,omitempty"`
}

func has(features []string, f string) bool { return slices.Contains(features, f) }

package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/varint"
)

// position is where a list continues. Each tool defines its ids and numbers. The server keeps
// nothing between two calls: the cursor has everything.
type position struct {
	ids     []format.ID
	numbers []uint64
}

const (
	cursorVersion = 1
	// Bytes of a digest at the end: a cursor passes through a model, which may have copied it badly
	cursorSum   = 8
	mostIDs     = 2
	mostNumbers = 4
	maxCursor   = 256 // characters
)

// encode returns the position as a cursor. The cursor has a digest of bound, so that it is valid
// only for the same call.
func (p position) encode(bound []byte) string {
	b := []byte{cursorVersion, byte(len(p.ids))}
	for _, id := range p.ids {
		b = append(b, id[:]...)
	}
	b = append(b, byte(len(p.numbers)))
	for _, n := range p.numbers {
		b = binary.AppendUvarint(b, n)
	}
	return base64.RawURLEncoding.EncodeToString(append(b, cursorDigest(b, bound)...))
}

func cursorDigest(b, bound []byte) []byte {
	h := sha256.New()
	h.Write([]byte("ctx cursor\x00"))
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(bound))))
	h.Write(bound)
	h.Write(b)
	return h.Sum(nil)[:cursorSum]
}

// badCursor is the error for every invalid cursor. The reason cannot be known.
func badCursor() error {
	return command.WithHint(
		command.Usagef("bad cursor: it is damaged, or of a call with other arguments"),
		"give `next` of a result as it is, with the same arguments, or begin anew without a cursor")
}

// decodeCursor decodes a cursor of the same call. It checks only the form; the tool has to check
// the content.
func decodeCursor(text string, bound []byte) (p position, err error) {
	if len(text) > maxCursor || strings.ContainsAny(text, "\r\n") { // which the decoder passes over
		return p, badCursor()
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) < 3+cursorSum {
		return p, badCursor()
	}
	b, sum := b[:len(b)-cursorSum], b[len(b)-cursorSum:]
	if subtle.ConstantTimeCompare(sum, cursorDigest(b, bound)) != 1 {
		return p, badCursor()
	}
	return parsePosition(b)
}

func parsePosition(b []byte) (p position, err error) {
	r := varint.Reader{Rest: b}
	version, ids := r.Byte(), r.Byte()
	if version != cursorVersion || ids > mostIDs {
		return p, badCursor()
	}
	for range ids {
		var id format.ID
		copy(id[:], r.Take(uint64(len(id))))
		p.ids = append(p.ids, id)
	}
	numbers := r.Byte()
	if numbers > mostNumbers {
		return p, badCursor()
	}
	for range numbers {
		p.numbers = append(p.numbers, r.Uvarint())
	}
	if r.Err != nil || len(r.Rest) > 0 {
		return p, badCursor()
	}
	return p, nil
}

// position decodes the cursor of a call, which must have this many ids and numbers. found is false
// if there is no cursor.
func (cl *call) position(cursor string, ids, numbers int) (p position, found bool, err error) {
	if cursor == "" {
		return p, false, nil
	}
	if p, err = decodeCursor(cursor, cl.bound); err == nil &&
		(len(p.ids) != ids || len(p.numbers) != numbers) {
		err = badCursor()
	}
	return p, true, err
}

// next returns the cursor of a position, and nil at the end.
func (cl *call) next(p *position) *string {
	if p == nil {
		return nil
	}
	s := p.encode(cl.bound)
	return &s
}

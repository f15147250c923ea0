package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/format"
)

// position is where a list goes on. What the ids and the numbers say is up to the tool. Nothing is kept between two calls: all of it is in the cursor.
type position struct {
	ids     []format.ID
	numbers []uint64
}

const (
	cursorVersion = 1
	cursorSum     = 8 // bytes of a digest at the end: a cursor passes through a model, which may have copied it badly
	mostIDs       = 2
	mostNumbers   = 4
	maxCursor     = 256 // characters
)

// encode writes a position. The digest covers what the cursor is bound to, so that it is good for the same call alone.
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

// badCursor is every reason why a cursor cannot be taken: which of them it is cannot be told.
func badCursor() error {
	return failure.WithHint(failure.Usagef("bad cursor: it is damaged, or of a call with other arguments"),
		"give `next` of a result as it is, with the same arguments, or begin anew without a cursor")
}

// decodeCursor reads what encode wrote for the same call, and nothing else. It checks the form; what is said the tool has to check.
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
	if len(b) < 3 || b[0] != cursorVersion || b[1] > mostIDs {
		return p, badCursor()
	}
	n := int(b[1])
	b = b[2:]
	if len(b) < n*len(format.ID{})+1 {
		return p, badCursor()
	}
	for range n {
		var id format.ID
		b = b[copy(id[:], b):]
		p.ids = append(p.ids, id)
	}
	n = int(b[0])
	b = b[1:]
	if n > mostNumbers {
		return p, badCursor()
	}
	for range n {
		v, size := binary.Uvarint(b)
		if size <= 0 || !bytes.Equal(binary.AppendUvarint(nil, v), b[:size]) {
			return p, badCursor()
		}
		p.numbers, b = append(p.numbers, v), b[size:]
	}
	if len(b) > 0 {
		return p, badCursor()
	}
	return p, nil
}

// position reads the cursor of a call, which has so many ids and numbers; found is false where it begins anew.
func (cl *call) position(cursor string, ids, numbers int) (p position, found bool, err error) {
	if cursor == "" {
		return p, false, nil
	}
	if p, err = decodeCursor(cursor, cl.bound); err == nil && (len(p.ids) != ids || len(p.numbers) != numbers) {
		err = badCursor()
	}
	return p, true, err
}

// next is the cursor of a position; none for the end.
func (cl *call) next(p *position) *string {
	if p == nil {
		return nil
	}
	s := p.encode(cl.bound)
	return &s
}

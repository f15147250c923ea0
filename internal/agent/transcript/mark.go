package transcript

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"slices"
)

// ErrWhole says that the records after a mark depend on those before it, so that the transcript has
// to be read whole.
var ErrWhole = errors.New("what follows the mark leads back before it")

// Mark is where a reading ended, from which the next one can go on. The zero Mark is the beginning
// of a transcript.
type Mark struct {
	Offset int64 // bytes of the transcript before those that the next reading begins with
	// The name of the message that was emitted last; "" where the next does not depend on it
	Last  string
	State []byte // what the reader knows of the records before Offset; nil if it cannot go on
}

// Met are digests of the names that a reader has met. Two names with one digest, which is once in
// some 10^13 transcripts of 1,000 messages, only cost a reading of the whole.
type Met map[uint64]struct{}

// Add adds a name of a kind.
func (m Met) Add(kind byte, name string) {
	h := fnv.New64a()
	_, _ = h.Write([]byte{kind})
	_, _ = io.WriteString(h, name)
	m[h.Sum64()] = struct{}{}
}

// Append appends the digests to b, eight bytes each.
func (m Met) Append(b []byte) []byte {
	b = slices.Grow(b, 8*len(m))
	for id := range m {
		b = binary.LittleEndian.AppendUint64(b, id)
	}
	return b
}

// In reports whether one of the digests is among those that Append wrote.
func (m Met) In(b []byte) bool {
	if len(m) == 0 {
		return false
	}
	for ; len(b) >= 8; b = b[8:] {
		if _, ok := m[binary.LittleEndian.Uint64(b)]; ok {
			return true
		}
	}
	return false
}

// JoinState makes a Mark.State of a line of JSON and digests; CutState undoes it.
func JoinState(line []byte, met Met, earlier []byte) []byte {
	b := make([]byte, 0, len(line)+1+len(earlier)+8*len(met))
	return met.Append(append(append(append(b, line...), '\n'), earlier...))
}

// CutState returns the line and the digests of a state.
func CutState(state []byte) (line, met []byte) {
	line, met, _ = bytes.Cut(state, []byte("\n"))
	return line, met
}

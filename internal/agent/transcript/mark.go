package transcript

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io"
	"slices"

	"github.com/gemini-ctx/ctx/internal/jsonvalue"
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

// Leave sets State to what a reader knows, which is encoded as JSON, and to the names that it has
// met now and earlier. Resume undoes it.
func (m *Mark) Leave(known any, met Met, earlier []byte) {
	line := jsonvalue.Encode(known)
	b := make([]byte, 0, len(line)+1+len(earlier)+8*len(met))
	m.State = met.Append(append(append(append(b, line...), '\n'), earlier...))
}

// Resume reads into known what a reader knew at the mark, and returns the names that it had met. ok
// is false if it cannot go on.
func (m *Mark) Resume(known any) (met []byte, ok bool) {
	line, met, _ := bytes.Cut(m.State, []byte("\n"))
	return met, m.State != nil && json.Unmarshal(line, known) == nil
}

// Emit emits steps, and notes the name of the last one.
func (m *Mark) Emit(steps []Step, emit func(Step) error) error {
	for _, st := range steps {
		if err := emit(st); err != nil {
			return err
		}
		m.Last = st.Message.Origin.Message
	}
	return nil
}

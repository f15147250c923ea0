package agent

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// On is a reader that goes on from a mark.
type On func(io.Reader, *transcript.Mark, func(transcript.Step) error) (transcript.Stats, error)

// CheckOn reads a transcript in pieces that end after its lines, every so many of them, and holds
// each piece to what a reading of the whole gives: the steps of the piece are those that the whole
// has more, or the reader says that the whole has to be read. It returns how many pieces were read
// on, and how many were not.
func (f *Format) CheckOn(t *testing.T, data []byte, every int, on On) (read, whole int) {
	t.Helper()
	var m transcript.Mark
	var before []transcript.Step
	lines := 0
	for at := 0; at < len(data); {
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			at += n + 1
		} else {
			at = len(data)
		}
		if lines++; lines%every > 0 && at < len(data) {
			continue
		}
		want := f.flat(t, data[:at])
		was := m
		got, err := collect(bytes.NewReader(data[m.Offset:at]), &m, on)
		switch {
		case was.State == nil && was.Offset == 0 && (err != nil || !sameSteps(got, want)):
			t.Fatalf("%d bytes from the beginning: %d steps, want %d, %v", at, len(got),
				len(want), err)
		case was.State == nil && was.Offset == 0:
		case errors.Is(err, transcript.ErrWhole):
			if len(got) > 0 || !reflect.DeepEqual(m, was) {
				t.Fatalf("bytes %d to %d: read whole, but %d steps and %+v", was.Offset,
					at, len(got), m)
			}
			whole++
			m = transcript.Mark{}
			if _, err := collect(bytes.NewReader(data[:at]), &m, on); err != nil {
				t.Fatal(err)
			}
		case err != nil:
			t.Fatal(err)
		default:
			read++
			if len(before) > len(want) || !sameSteps(before, want[:len(before)]) {
				t.Fatalf(
					"bytes %d to %d were read on, but earlier steps are others now\n%s\n%s\n%s",
					was.Offset, at, Trace(before), Trace(want), data[:at])
			}
			if !sameSteps(got, want[len(before):]) {
				t.Fatalf("bytes %d to %d: steps\n%s\nwant\n%s", was.Offset, at, Trace(got),
					Trace(want[len(before):]))
			}
		}
		if m.Offset > int64(at) {
			t.Fatalf("%d bytes: mark at %d", at, m.Offset)
		}
		before = want
	}
	return read, whole
}

func collect(r io.Reader, m *transcript.Mark, on On) (steps []transcript.Step, err error) {
	_, err = on(r, m, func(st transcript.Step) error {
		steps = append(steps, flatten(st))
		return nil
	})
	return steps, err
}

// flat returns the steps of a transcript, without what only a tree has.
func (f *Format) flat(t *testing.T, data []byte) (steps []transcript.Step) {
	t.Helper()
	if _, err := f.Read(bytes.NewReader(data), func(st transcript.Step) error {
		steps = append(steps, flatten(st))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return steps
}

func flatten(st transcript.Step) transcript.Step {
	st.Tree, st.Number, st.Loose = nil, 0, false
	return st
}

func sameSteps(a, b []transcript.Step) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}

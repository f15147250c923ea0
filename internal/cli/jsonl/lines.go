// Package jsonl reads JSON lines, and the members of the objects on them, with few allocations. It
// appends messages that come so, in batches (bulk.go), and feeds the output of a model to a loop
// detector while the model writes it (deltas.go).
package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the maximum bytes of a line. A longer line is skipped without being held in memory.
const MaxLine = 64 << 20

// lineBuffer is the size of a read: four times the capacity of a pipe.
const lineBuffer = 256 << 10

// Reader splits input into lines.
type Reader struct{ r *bufio.Reader }

// NewReader returns a reader of lines.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReaderSize(r, lineBuffer)} }

// Next returns the next line without its end. The line is valid until the next call. The last line
// may have no line feed. The error is io.EOF at the end, ErrLongLine for a line of more than
// MaxLine bytes, or that of the input. After ErrLongLine, the next call returns the following line.
func (l *Reader) Next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.rest(line)
	}
	switch {
	case errors.Is(err, io.EOF) && len(line) > 0:
	case err != nil:
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
}

// rest reads the rest of a line that is longer than the buffer.
func (l *Reader) rest(start []byte) ([]byte, error) {
	line := bytes.Clone(start)
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > MaxLine+1; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case long:
			return nil, ErrLongLine
		default:
			return line, err
		}
	}
}

// Waits reports whether the next line is not complete in the buffer.
func (l *Reader) Waits() bool {
	b, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(b, '\n') < 0
}

// ErrLongLine is the error of a line of more than MaxLine bytes.
var ErrLongLine = errors.New("line of more than 64 MiB")

// LineError is an error about one line.
type LineError struct {
	Number int // from 1
	Err    error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Number, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Each calls each with every line of in that is not blank, until the input ends or each returns
// io.EOF, which is no error. The line is valid during the call. A line that is too long, and any
// other error of each, ends the walk with a *LineError. An error of in, or of c, is returned as it
// is.
func Each(c context.Context, in io.Reader, each func(line []byte) error) error {
	lines := NewReader(in)
	for number := 1; ; number++ {
		line, err := lines.Next()
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			if err = each(line); err != nil && !errors.Is(err, io.EOF) {
				return &LineError{number, err}
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrLongLine):
			return &LineError{number, err}
		case err != nil:
			return err
		}
		if err := c.Err(); err != nil {
			return err
		}
	}
}

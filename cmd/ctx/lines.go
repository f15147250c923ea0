package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the most bytes of one line of a bulk append. A longer one is passed over without being held in memory.
const maxLine = 64 << 20

// A chunk of lines is handed on when it has grown to this, so that what is read ahead stays bounded, or when no more is there yet.
const (
	chunkLines = 1024
	chunkBytes = 256 << 10
)

// lineBuffer is how much is read at once: four times what a pipe holds.
const lineBuffer = 256 << 10

// lineReader cuts input into lines.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) *lineReader { return &lineReader{bufio.NewReaderSize(r, lineBuffer)} }

// next returns the next line without its end; it is good until the next call. What follows the last line feed is a line too. The error is
// io.EOF at the end, errLongLine for a line over maxLine, after which the next one follows, or what reading gave.
func (l *lineReader) next() ([]byte, error) {
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

// rest reads on in a line that is longer than the buffer.
func (l *lineReader) rest(start []byte) ([]byte, error) {
	line := bytes.Clone(start)
	long := false
	for {
		piece, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine+1; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case long:
			return nil, errLongLine
		default:
			return line, err
		}
	}
}

// waits reports whether the next line is not there yet as a whole.
func (l *lineReader) waits() bool {
	b, _ := l.r.Peek(l.r.Buffered())
	return bytes.IndexByte(b, '\n') < 0
}

// lineChunk is some lines that were read together, and at the end of the input how it ended.
type lineChunk struct {
	lines []jsonlLine
	err   error // io.EOF, or what reading gave
}

// readChunks reads input to its end and sends what it makes of the lines. It stops when stop is closed, at the latest after the read
// that it is in.
func readChunks(in io.Reader, r *jsonlReader, out chan<- lineChunk, stop <-chan struct{}) {
	lines := newLineReader(in)
	number, size := 0, 0
	var c lineChunk
	send := func() bool {
		select {
		case out <- c:
			c, size = lineChunk{}, 0
			return true
		case <-stop:
			return false
		}
	}
	for {
		line, err := lines.next()
		if err != nil && !errors.Is(err, errLongLine) {
			c.err = err
			send()
			return
		}
		number++
		if err != nil {
			c.lines = append(c.lines, jsonlLine{number: number, skip: err})
		} else if len(bytes.TrimSpace(line)) > 0 {
			c.lines = append(c.lines, r.read(number, line))
		}
		size += len(line)
		if (size >= chunkBytes || len(c.lines) >= chunkLines || lines.waits()) && !send() {
			return
		}
	}
}

var errLongLine = errors.New("line of more than 64 MiB")

package jsonl

import (
	"bytes"
	"errors"
	"io"
)

// A chunk ends after this many lines or bytes, which limits how much is read ahead, or when no more
// input is ready.
const (
	chunkLines = 1024
	chunkBytes = 256 << 10
)

// Chunk is a list of lines that were read together. At the end of the input it has the error.
type Chunk struct {
	lines []Line
	err   error // io.EOF, or what reading gave
}

// ReadChunks parses the lines of in and sends them to out, until in ends. After stop is closed, it
// returns at the latest after the current read.
func ReadChunks(in io.Reader, r *MessageReader, out chan<- Chunk, stop <-chan struct{}) {
	lines := NewReader(in)
	number, size := 0, 0
	var c Chunk
	send := func() bool {
		select {
		case out <- c:
			c, size = Chunk{}, 0
			return true
		case <-stop:
			return false
		}
	}
	for {
		line, err := lines.Next()
		if err != nil && !errors.Is(err, ErrLongLine) {
			c.err = err
			send()
			return
		}
		number++
		if err != nil {
			c.lines = append(c.lines, Line{Number: number, Skip: err})
		} else if len(bytes.TrimSpace(line)) > 0 {
			c.lines = append(c.lines, r.Read(number, line))
		}
		size += len(line)
		if (size >= chunkBytes || len(c.lines) >= chunkLines || lines.Waits()) && !send() {
			return
		}
	}
}

package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// interruptible returns a reader of f that returns the error of c as soon as c is done, even while
// a read waits. It calls watch before it waits for the first time. It reads a regular file without
// a goroutine.
func interruptible(c context.Context, watch func(), f *os.File) io.Reader {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return &endingReader{c, f}
	}
	return &waitingReader{c: c, watch: watch, from: f}
}

// waitingReader reads ahead in a goroutine, from the first Read on: a command that does not read
// leaves standard input alone.
type waitingReader struct {
	c     context.Context
	watch func()
	from  io.Reader
	got   chan chunk
	left  []byte
	err   error
}

type chunk struct {
	data []byte
	err  error
}

// readSize is the capacity of a pipe on Linux, in bytes.
const readSize = 64 << 10

// Read implements io.Reader.
func (r *waitingReader) Read(p []byte) (int, error) {
	if r.got == nil {
		if err := r.c.Err(); err != nil {
			return 0, err
		}
		r.watch()
		r.got = make(chan chunk)
		go r.readAhead()
	}
	if len(r.left) == 0 && r.err == nil {
		select {
		case got := <-r.got:
			r.left, r.err = got.data, got.err
		case <-r.c.Done():
			return 0, r.c.Err()
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	if n == 0 && len(p) > 0 {
		return 0, r.err
	}
	return n, nil
}

// readAhead fills two buffers in turn. It fills a buffer again only after the reader has taken the
// other one.
func (r *waitingReader) readAhead() {
	var buffers [2][]byte
	for i := 0; ; i ^= 1 {
		if buffers[i] == nil {
			buffers[i] = make([]byte, readSize)
		}
		n, err := r.from.Read(buffers[i])
		select {
		case r.got <- chunk{buffers[i][:n], err}:
		case <-r.c.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// endingReader returns the error of c as soon as c is done. It does not interrupt a read. It can
// seek if from can.
type endingReader struct {
	c    context.Context
	from io.Reader
}

// Read implements io.Reader.
func (r *endingReader) Read(p []byte) (int, error) {
	if err := r.c.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// Seek implements io.Seeker.
func (r *endingReader) Seek(offset int64, whence int) (int64, error) {
	if s, ok := r.from.(io.Seeker); ok {
		return s.Seek(offset, whence)
	}
	return 0, errors.ErrUnsupported
}

// watched is a reader that keeps its error, since libraries do not always tell an error of the
// input from their own. It stops when the command has to end.
type watched struct {
	c    context.Context
	from io.Reader
	err  error

	packed *transcript.UpToCut // what from reads from, if it was packed; or nil
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	if err := w.c.Err(); err != nil {
		return 0, err
	}
	n, err := w.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// Seek implements io.Seeker. It works only for files.
func (w *watched) Seek(offset int64, whence int) (int64, error) {
	s, ok := w.from.(io.Seeker)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	return s.Seek(offset, whence)
}

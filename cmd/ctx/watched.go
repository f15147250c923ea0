package main

import (
	"context"
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

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

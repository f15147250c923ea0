package main

import (
	"errors"
	"io"
)

// watched is a reader that remembers why it could not go on: what a library makes of an error does not always tell the input's from its own.
type watched struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

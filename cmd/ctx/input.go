package main

import (
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/lock"
)

// input opens a file that the command line names, or standard input for "-", to be read to its end.
// Only regular files of at most lock.MaxInput bytes are opened. Reading ends with an interrupt.
func (a *app) input(name string) (in io.Reader, closeIt func(), err error) {
	if name == "-" {
		return a.stdin, func() {}, nil
	}
	f, err := lock.OpenInput(a.path(name), lock.MaxInput)
	if err != nil {
		return nil, nil, notRegular(err)
	}
	return &endingReader{a.c, f}, func() { _ = f.Close() }, nil // opened for reading
}

// notRegular gives the error for a pipe or a device a hint.
func notRegular(err error) error {
	if errors.Is(err, lock.ErrNotFile) {
		return withHint(err, "only regular files are read; `-` in the place of the name reads standard input")
	}
	return err
}

// readInput returns what input opens, at most limit bytes of it and one more.
func (a *app) readInput(name string, limit int64) ([]byte, error) {
	in, closeIt, err := a.input(name)
	if err != nil {
		return nil, err
	}
	defer closeIt()
	return io.ReadAll(io.LimitReader(in, limit+1))
}

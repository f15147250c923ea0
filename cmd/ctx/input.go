package main

import (
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// input opens the named file, or standard input for "-". It opens only regular files of at most
// durable.MaxInput bytes. An interrupt ends a read.
func (a *app) input(name string) (in io.Reader, closeIt func(), err error) {
	if name == "-" {
		return a.stdin, func() {}, nil
	}
	f, err := durable.OpenInput(a.path(name), durable.MaxInput)
	if err != nil {
		return nil, nil, notRegular(err)
	}
	return &endingReader{a.c, f}, func() { _ = f.Close() }, nil // opened for reading
}

// notRegular adds a hint to the error for a pipe or a device.
func notRegular(err error) error {
	if errors.Is(err, durable.ErrNotFile) {
		return withHint(err, "only regular files are read; use `-` to read standard input")
	}
	return err
}

// readInput reads the named file. It returns at most limit+1 bytes, so that the caller can detect a
// longer one.
func (a *app) readInput(name string, limit int64) ([]byte, error) {
	in, closeIt, err := a.input(name)
	if err != nil {
		return nil, err
	}
	defer closeIt()
	return io.ReadAll(io.LimitReader(in, limit+1))
}

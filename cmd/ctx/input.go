package main

import (
	"bufio"
	"errors"
	"io"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
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

// inputText is input for a text: what PowerShell writes is UTF-8, and has no mark at its beginning.
func (a *app) inputText(name string) (text io.Reader, closeIt func(), err error) {
	in, closeIt, err := a.input(name)
	if err != nil {
		return nil, nil, err
	}
	if in, err = transcript.Text(in); err != nil {
		closeIt()
		return nil, nil, err
	}
	unmarked := bufio.NewReader(in)
	transcript.SkipMark(unmarked)
	return unmarked, closeIt, nil
}

// notRegular adds a hint to the error for a pipe or a device.
func notRegular(err error) error {
	if errors.Is(err, durable.ErrNotFile) {
		return withHint(err, "only regular files are read; use `-` to read standard input")
	}
	return err
}

// readText reads the text in the named file. It returns at most limit+1 bytes, so that the caller
// can detect a longer one.
func (a *app) readText(name string, limit int64) ([]byte, error) {
	in, closeIt, err := a.inputText(name)
	if err != nil {
		return nil, err
	}
	defer closeIt()
	return io.ReadAll(io.LimitReader(in, limit+1))
}

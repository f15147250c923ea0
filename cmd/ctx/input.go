package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

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
		return nil, nil, notOpened(name, err)
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

// notOpened says in plain words why a file that a person named is not read.
func notOpened(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &openError{fmt.Sprintf("%.200q: no such file", name), err}
	case errors.Is(err, durable.ErrNotFile):
		return withHint(&openError{fmt.Sprintf("%.200q: not a regular file", name), err},
			"of a directory, name the files; `-` reads standard input")
	case errors.Is(err, fs.ErrPermission):
		return &openError{fmt.Sprintf("%.200q: you may not read it", name), err}
	}
	return err
}

// openError is the error of a system, in words for people.
type openError struct {
	text string
	err  error
}

func (e *openError) Error() string { return e.text }
func (e *openError) Unwrap() error { return e.err }

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

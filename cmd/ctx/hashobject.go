package main

import (
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/sanitize"
)

func newHashObjectCmd(a *app) *cobra.Command {
	var write, stdin bool
	cmd := a.newCmd("hash-object [-w] [--stdin | FILE...]", func(args []string) error {
		if stdin {
			args = append([]string{"-"}, args...)
		}
		if len(args) == 0 {
			return usagef("nothing to hash: name files, or give --stdin")
		}
		return hashObjects(a, args, write)
	})
	cmd.Args = between(0, -1)
	cmd.Flags().BoolVarP(&write, "write", "w", false, "store the blobs")
	cmd.Flags().BoolVar(&stdin, "stdin", false, "hash standard input first")
	return cmd
}

func hashObjects(a *app, names []string, write bool) error {
	var s *session.Store
	if write {
		var err error
		if s, err = a.openStore(); err != nil {
			return err
		}
	}
	for _, name := range names {
		raw, err := a.blobOf(name)
		if err != nil {
			return err
		}
		if write {
			err := s.Store.Put(a.c, func() error { return s.History.CheckForgotten(raw.Body) }, raw)
			if err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
		}
		if err := a.result(fields("id", raw.ID(), "file", name, "size", len(raw.Body)), "%v",
			raw.ID()); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) blobOf(name string) (format.Raw, error) {
	in, closeIt, err := a.input(name)
	if err != nil {
		return format.Raw{}, err
	}
	defer closeIt()
	b, err := io.ReadAll(io.LimitReader(in, history.MaxMessage+1))
	if err != nil {
		return format.Raw{}, err
	}
	if len(b) > history.MaxMessage {
		return format.Raw{},
			usagef("too large for a blob: %q: the maximum is %d bytes", name, history.MaxMessage)
	}
	media := "application/octet-stream"
	if utf8.Valid(b) {
		media = format.MediaText
		if b, _, err = sanitize.Text(b); err != nil {
			return format.Raw{},
				fmt.Errorf("cannot sanitize %q, so it is not stored: %w", name, err)
		}
	}
	header, err := format.EncodeBlob(format.SumBody(b, media))
	return format.Raw{Header: header, Body: b}, err
}

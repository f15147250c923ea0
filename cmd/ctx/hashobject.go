package main

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/sanitize"
	"github.com/gemini-ctx/ctx/session"
)

func newHashObjectCmd(a *app) *cobra.Command {
	var write, stdin bool
	cmd := &cobra.Command{
		Use:   "hash-object [-w] [--stdin | FILE...]",
		Short: "Print the id that a blob of some bytes has, and store it",
		Long: long(`Prints the id that each file has as a blob, a line each; with -w it is stored, too. Text is cleaned of secrets and control
characters first, as everything is that a store keeps; other bytes are taken as they are. Without -w no store is needed.
What nothing names is taken away by gc some day: give it a name with `+"`ctx update-ref user/NAME ID`"+`.`,
			exitNoStore, exitCorrupt, exitGone),
		Example: "  ctx hash-object -w notes.txt\n  printf hello | ctx hash-object --stdin",
		RunE: func(_ *cobra.Command, args []string) error {
			if stdin {
				args = append([]string{"-"}, args...)
			}
			if len(args) == 0 {
				return usagef("nothing to hash: name files, or give --stdin")
			}
			return hashObjects(a, args, write)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "store the blobs")
	cmd.Flags().BoolVar(&stdin, "stdin", false, "hash what comes on standard input, before any files; as - does")
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
			if err := s.CheckForgotten(raw.Body); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			if err := s.Objects.Put(raw); err != nil {
				return err
			}
		}
		if a.json {
			if err := a.printJSON(struct {
				V    int    `json:"v"`
				ID   string `json:"id"`
				File string `json:"file"`
				Size int    `json:"size"`
			}{1, raw.ID().String(), name, len(raw.Body)}); err != nil {
				return err
			}
			continue
		}
		a.line("%v", raw.ID())
	}
	return nil
}

func (a *app) blobOf(name string) (format.Raw, error) {
	b, err := a.readInput(name, session.MaxMessage)
	if err != nil {
		return format.Raw{}, err
	}
	if len(b) > session.MaxMessage {
		return format.Raw{}, usagef("too large for a blob: %q: %d bytes are the most", name, session.MaxMessage)
	}
	media := "application/octet-stream"
	if utf8.Valid(b) {
		media = format.MediaText
		if b, _, err = sanitize.Text(b); err != nil {
			return format.Raw{}, fmt.Errorf("cannot sanitise %q, so it is not stored: %w", name, err)
		}
	}
	header, err := format.EncodeBlob(format.SumBody(b, media))
	return format.Raw{Header: header, Body: b}, err
}

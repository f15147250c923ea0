package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
)

func newRevParseCmd(a *app) *cobra.Command {
	var shorten, storeDir bool
	cmd := a.newCmd("rev-parse [--short] REV... | --store-dir",
		a.onStore(func(s *session.Store, args []string) error {
			if storeDir {
				return a.pathResult(fields("path", s.Dir, "id", s.ID), s.Dir)
			}
			return revParse(a, s, args, shorten)
		}))
	cmd.Args = either(&storeDir, between(0, 0), between(1, -1))
	cmd.Flags().BoolVar(&shorten, "short", false, "print at least 12 digits, as many as needed")
	cmd.Flags().BoolVar(&storeDir, "store-dir", false, "print the path of the store instead")
	return cmd
}

func revParse(a *app, s *session.Store, args []string, shorten bool) error {
	view, err := s.Refs.Read()
	if err != nil {
		return err
	}
	show := func(rev, mark string) error {
		id, err := resolve(s, view, rev)
		if err != nil {
			return err
		}
		text := id.String()
		if shorten {
			text = short(s, id)
		}
		return a.result(fields("rev", rev, "id", text, "exclude", mark != ""), "%s%s", mark, text)
	}
	for _, rev := range args {
		from, to, ranged := strings.Cut(rev, "..")
		if !ranged {
			if err := show(rev, ""); err != nil {
				return err
			}
			continue
		}
		if err := show(cmp.Or(to, "@"), ""); err != nil {
			return err
		}
		if err := show(cmp.Or(from, "@"), "^"); err != nil {
			return err
		}
	}
	return nil
}

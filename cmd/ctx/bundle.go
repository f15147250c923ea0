package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/maintenance/bundle"
	"github.com/gemini-ctx/ctx/internal/repo"
)

func newBundleCmd(a *app) *cobra.Command {
	var restore bool
	cmd := a.newCmd("bundle FILE | --restore FILE [DIR]", func(args []string) error {
		if restore {
			return unbundle(a, args)
		}
		if args[0] == "-" {
			return usagef("a bundle is a file: - names none")
		}
		s, err := a.openStore()
		if err != nil {
			return err
		}
		r, err := bundle.Write(a.c, s.Opened, a.path(args[0]), a.progress())
		if err != nil {
			return err
		}
		return printBundle(a, r, a.path(args[0]))
	})
	cmd.Args = either(&restore, between(1, 2), between(1, 1))
	cmd.Flags().BoolVar(&restore, "restore", false, "make a store from FILE instead")
	return cmd
}

func unbundle(a *app, args []string) error {
	a.watchInterrupts()
	project := a.project(args[1:])
	r, err := bundle.Unpack(a.c, a.env(), a.path(args[0]), project)
	if errors.Is(err, fs.ErrExist) {
		return withHint(err, "`ctx bundle --restore %s DIR` makes a store in another directory", args[0])
	}
	if err != nil {
		return err
	}
	env := a.env()
	env.StoreDir = project
	if made, err := repo.Open(env); err == nil {
		a.placed(made, project, true)
		_ = made.Close()
	}
	return printBundle(a, r, project)
}

// printBundle prints where the copy, or the store, is now.
func printBundle(a *app, r bundle.Report, path string) error {
	return a.pathResult(fields("path", path, r), path)
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/upkeep"
)

func newBundleCmd(a *app) *cobra.Command {
	var restore bool
	cmd := &cobra.Command{
		Use:   "bundle FILE | --restore FILE [DIR]",
		Short: "Copy the store into one file, or make a store from such a file",
		Long: long(`Writes a copy of the whole store into FILE, which must not be there yet. It can be made while others write. Whoever has the
file can read all of the store, and its key is in it.

With --restore it makes the store of the project in DIR, or in the working directory, from FILE. The project must have no store
yet; the file is checked as fsck does before there is one.`, exitNoStore, exitLocked, exitStale, exitCorrupt),
		Example: "  ctx bundle ~/backup/parcels.ctx\n  ctx bundle --restore ~/backup/parcels.ctx ~/src/parcels",
		Args: func(cmd *cobra.Command, args []string) error {
			if restore {
				return between(1, 2)(cmd, args)
			}
			return between(1, 1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if restore {
				return unbundle(a, cmd, args)
			}
			s, err := a.openStore()
			if err != nil {
				return err
			}
			show, done := a.progress()
			r, err := upkeep.Bundle(cmd.Context(), s, a.path(args[0]), show)
			done()
			if err != nil {
				return err
			}
			return printBundle(a, r, a.path(args[0]))
		},
	}
	cmd.Flags().BoolVar(&restore, "restore", false, "make a store from FILE")
	return cmd
}

func unbundle(a *app, cmd *cobra.Command, args []string) error {
	a.watchInterrupts()
	project := a.project(args[1:])
	r, err := upkeep.Unbundle(cmd.Context(), a.env(), a.path(args[0]), project)
	if err != nil {
		return err
	}
	return printBundle(a, r, project)
}

// printBundle prints where the copy, or the store, is now.
func printBundle(a *app, r upkeep.BundleReport, path string) error {
	if a.json {
		return a.printJSON(struct {
			V         int    `json:"v"`
			Path      string `json:"path"`
			Store     string `json:"store"`
			Operation uint64 `json:"operation"`
			Files     int    `json:"files"`
			Bytes     int64  `json:"bytes"`
		}{1, path, r.Store, r.Operation, r.Files, r.Bytes})
	}
	a.pathLine(path)
	return nil
}

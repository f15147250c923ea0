package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/repo"
)

func newInitCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "Create a store for a project",
		Long: long(`Creates a store at .gemini/context and prints its path, byte for byte with -z.
The store belongs to the project in DIR, to the project that CTX_DIR names, or to the working
directory. The command does not change an existing store. If an earlier run was interrupted, it
finishes the store.`,
			exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx init\n  ctx init ~/src/parcels",
		Args:    between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.watchInterrupts()
			r, created, err := repo.Init(a.env(), a.project(args))
			if err != nil {
				return err
			}
			a.opened = append(a.opened, r)
			if a.json {
				return a.answer("path", r.Dir, "id", r.ID, "created", created)
			}
			a.pathLine(r.Dir)
			if advice := r.IgnoreAdvice(); created && advice != "" {
				a.say(
					"hint: to keep the store out of the agent's own searches, add the line %s to "+
						".geminiignore", advice)
			}
			return nil
		},
	}
}

// project is the directory to make a store in. CTX_DIR may name the store itself.
func (a *app) project(args []string) string {
	if len(args) > 0 {
		return a.path(args[0])
	}
	named := a.getenv("CTX_DIR")
	if named == "" {
		return a.dir
	}
	named = a.path(named)
	if gemini := filepath.Dir(named); filepath.Base(named) == "context" &&
		filepath.Base(gemini) == ".gemini" {
		return filepath.Dir(gemini)
	}
	return named
}

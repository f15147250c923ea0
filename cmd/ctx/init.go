package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/repo"
)

func newInitCmd(a *app) *cobra.Command {
	newID := false
	cmd := a.newCmd("init [DIR]", func(args []string) error {
		a.watchInterrupts()
		if newID {
			return a.newID(args)
		}
		if len(args) > 0 {
			if err := os.MkdirAll(a.path(args[0]), 0o777); err != nil {
				return fmt.Errorf("cannot make a store: %w", err)
			}
		}
		r, created, err := repo.Init(a.env(), a.project(args))
		if err != nil {
			return err
		}
		a.opened = append(a.opened, r)
		if a.json {
			return a.answer("path", r.Dir, "id", r.ID, "created", created)
		}
		a.pathLine(r.Dir)
		a.placed(r, a.project(args), created)
		return nil
	})
	cmd.Flags().BoolVar(&newID, "new-id", false, "give a copied or restored store an id of its own")
	return cmd
}

// newID gives a store that is there an id of its own on remotes.
func (a *app) newID(args []string) error {
	env := a.env()
	if len(args) > 0 {
		env.WorkDir, env.StoreDir = a.path(args[0]), ""
	}
	r, err := repo.NewID(env)
	if err != nil {
		return err
	}
	a.opened = append(a.opened, r)
	if a.json {
		return a.answer("path", r.Dir, "id", r.Shared, "created", false)
	}
	a.pathLine(r.Dir)
	a.say("the next push shares all again, as another store")
	return nil
}

// placed says where a store is, if that is not in the project that was asked for, whether it may
// speak to models, and, of a new one, what git and the agent make of it.
func (a *app) placed(r *repo.Repo, project string, created bool) {
	if at := filepath.Dir(filepath.Dir(r.Dir)); !repo.SamePlace(at, project) {
		a.say("ctx: %s is in a linked work tree of git: it shares the store of the main one",
			oneLine(project))
	}
	a.sayIfNotAllowed(r)
	if !created {
		return
	}
	if above := repo.Above(a.env(), r.Dir); above != "" {
		a.say("ctx: what is said below %s goes here from now on, and no longer to %s",
			oneLine(project), oneLine(above))
	}
	if text := shieldText(r.Shielded()); text != "" {
		a.say("hint: %s", text)
	}
	if advice := r.IgnoreAdvice(); advice != "" {
		a.say("hint: to keep the store out of the agent's own searches, add the line %s to "+
			".geminiignore", advice)
	}
}

// sayIfNotAllowed says so of a store that may not speak to models.
func (a *app) sayIfNotAllowed(r *repo.Repo) {
	if ok, err := r.Allowed(); !ok {
		a.say("ctx: %s", oneLine(notAllowed(err)))
	}
}

// notAllowed says of a store that it may not speak to models, and what to do.
func notAllowed(err error) string {
	if err != nil {
		return "hooks record nothing, and tell models nothing: " + err.Error()
	}
	return "the store was not made or allowed on this machine: hooks record nothing, and tell " +
		"models nothing; look at it, and then `ctx allow`, or `ctx destroy`"
}

// shieldText says what git may do to a store; "" for nothing.
func shieldText(s repo.Shield) string {
	switch s {
	case repo.Shielded:
		return "`git clean -fdx` leaves the store alone; `git clean -ffdx` removes it"
	case repo.Bare:
		return "git clean -fdx would remove the store, and all that was said: `ctx doctor` says why"
	case repo.InLinked:
		return "git worktree remove would remove the store with the work tree, and all that was said"
	}
	return ""
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

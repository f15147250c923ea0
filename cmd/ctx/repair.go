package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// repairOptions are the flags of fsck for --repair.
type repairOptions struct {
	repair, dryRun, newKey bool
	copy                   string
	cmd                    *cobra.Command
}

func (o *repairOptions) add(cmd *cobra.Command) {
	o.cmd = cmd
	f := cmd.Flags()
	f.BoolVar(&o.repair, "repair", false, "copy and repair a damaged store")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --repair: repair only a temporary copy")
	f.StringVar(&o.copy, "copy", "", "with --repair: copy to `DIR` (default: beside the store)")
	f.BoolVar(&o.newKey, "new-key", false, "with --repair: make a new key for a lost or wrong one")
}

func (o *repairOptions) check() error {
	for _, name := range []string{"dry-run", "copy", "new-key"} {
		if o.cmd.Flags().Changed(name) && !o.repair {
			return usagef("--%s goes with --repair", name)
		}
	}
	if o.cmd.Flags().Changed("copy") && (o.copy == "" || o.dryRun) {
		return usagef("--copy needs a directory that does not exist, and excludes --dry-run")
	}
	return nil
}

func (o *repairOptions) run(a *app) error {
	options := repair.Options{DryRun: o.dryRun}
	if o.copy != "" {
		options.Copy = a.path(o.copy)
	}
	if o.newKey {
		options.NewKey = make([]byte, repo.KeySize)
		if _, err := io.ReadFull(a.random, options.NewKey); err != nil {
			return fmt.Errorf("cannot make a key: %w", err)
		}
	}
	a.watchInterrupts()
	options.Progress = a.progress()
	r, err := repair.Run(a.c, a.env(), options)
	switch {
	case errors.Is(err, repair.ErrCopyThere):
		return withHint(err, "choose another place with --copy")
	case errors.Is(err, repair.ErrLoses):
		return withHint(err, "nothing was changed; `ctx pull` or `ctx bundle --restore` may have it")
	case err != nil:
		return err
	}
	if o.newKey && !o.dryRun {
		if mended, err := repo.Open(a.env()); err == nil {
			a.sayIfNotAllowed(mended) // the list knows stores by their keys
			_ = mended.Close()
		}
	}
	return printRepair(a, r, o.dryRun)
}

func printRepair(a *app, r repair.Report, dryRun bool) error {
	if a.json {
		a.document("dry_run", dryRun, "found", r.Found, "copy", document.OrNull(r.Copy), "mended",
			r.Mended, "lost", r.Lost, "faults", r.Left)
	} else {
		for _, line := range r.Mended {
			a.line("mended: %s", oneLine(line))
		}
		for _, line := range r.Lost {
			a.line("lost: %s", oneLine(line))
		}
		for _, f := range r.Left {
			a.line("left: %s", oneLine(f.String()))
		}
		if r.Copy != "" {
			a.say("the copy of the old store is in %s", r.Copy)
		}
		a.say("%s found, %s left", plural(r.Found, "fault", "faults"),
			plural(len(r.Left), "fault", "faults"))
	}
	return exitIf(len(r.Left) > 0, exitCorrupt)
}

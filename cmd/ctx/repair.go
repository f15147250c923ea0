package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/repo"
	"github.com/gemini-ctx/ctx/upkeep"
)

// repairOptions are the flags of fsck that have to do with --repair.
type repairOptions struct {
	repair, dryRun, newKey bool
	copy                   string
	cmd                    *cobra.Command
}

func (o *repairOptions) add(cmd *cobra.Command) {
	o.cmd = cmd
	f := cmd.Flags()
	f.BoolVar(&o.repair, "repair", false, "make a damaged store sound again, after a copy, and say what is lost")
	f.BoolVar(&o.dryRun, "dry-run", false, "with --repair: repair a copy that is then removed, and change nothing")
	f.StringVar(&o.copy, "copy", "", "with --repair: copy the store to `DIR` first (default: beside the store)")
	f.BoolVar(&o.newKey, "new-key", false, "with --repair: where the key is lost, or is not the store's, make a new one")
}

func (o *repairOptions) check() error {
	for _, name := range []string{"dry-run", "copy", "new-key"} {
		if o.cmd.Flags().Changed(name) && !o.repair {
			return usagef("--%s goes with --repair", name)
		}
	}
	if o.cmd.Flags().Changed("copy") && (o.copy == "" || o.dryRun) {
		return usagef("--copy names a directory that is not there yet, and does not go with --dry-run")
	}
	return nil
}

func (o *repairOptions) run(c context.Context, a *app) error {
	options := upkeep.RepairOptions{DryRun: o.dryRun}
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
	show, done := a.progress()
	options.Progress = show
	r, err := upkeep.Repair(c, a.env(), options)
	done()
	switch {
	case errors.Is(err, upkeep.ErrCopyThere):
		return withHint(err, "choose another place with --copy")
	case err != nil:
		return err
	}
	return printRepair(a, r, o.dryRun)
}

type repairDoc struct {
	V      int        `json:"v"`
	DryRun bool       `json:"dry_run"`
	Found  int        `json:"found"` // faults before
	Copy   *string    `json:"copy"`  // of the store as it was; null where nothing was changed
	Mended []string   `json:"mended"`
	Lost   []string   `json:"lost"`
	Faults []faultDoc `json:"faults"` // that are left
}

func printRepair(a *app, r upkeep.RepairReport, dryRun bool) error {
	if a.json {
		d := repairDoc{1, dryRun, r.Found, nil, append([]string{}, r.Mended...), append([]string{}, r.Lost...), []faultDoc{}}
		if r.Copy != "" {
			d.Copy = &r.Copy
		}
		for _, f := range r.Left {
			d.Faults = append(d.Faults, faultDoc(f))
		}
		if err := a.printJSON(d); err != nil {
			return err
		}
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
			a.say("the store as it was is in %s", r.Copy)
		}
		a.say("%s found, %s left", plural(r.Found, "fault", "faults"), plural(len(r.Left), "fault", "faults"))
	}
	if len(r.Left) > 0 {
		return &exitError{exitCorrupt}
	}
	return nil
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/upkeep"
)

func newFsckCmd(a *app) *cobra.Command {
	o := &repairOptions{}
	cmd := &cobra.Command{
		Use:   "fsck [--repair [--dry-run] [--copy DIR] [--new-key]]",
		Short: "Check everything in the store, and repair it",
		Long: long(`Reads all of the store and checks it: objects, packs, refs and the log, sessions, and the forest by replaying the log. It
changes nothing. Each fault is a line; 13 says that there is one. What a crash or ordinary use leaves is no fault: a torn
last record, files that were being written, objects that nothing names.

With --repair a store with a fault is copied as it is, then made sound again as far as what is left of it goes: from other copies of objects, from the log and
the checkpoints, and from what follows from them. It says in a line each what was made good and what is lost; 13 says that a fault is left. A store without a
fault is not touched. With --dry-run a copy is repaired, and removed again.`, exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx fsck\n  ctx fsck --json | jq '.faults[].path'\n  ctx fsck --repair --dry-run",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if o.repair {
				return o.run(cmd.Context(), a)
			}
			s, err := a.openStore()
			if err != nil {
				return err
			}
			show, done := a.progress()
			r, err := upkeep.Fsck(cmd.Context(), s, upkeep.FsckOptions{Progress: show})
			done()
			if err != nil {
				return err
			}
			return printFsck(a, r)
		},
	}
	o.add(cmd)
	return cmd
}

type fsckDoc struct {
	V          int        `json:"v"`
	Objects    int        `json:"objects"`
	Operations int        `json:"operations"`
	Faults     []faultDoc `json:"faults"`
	Notes      []string   `json:"notes"`
}

type faultDoc struct {
	Kind    string `json:"kind"`
	Subject string `json:"subject"`
	Path    string `json:"path,omitempty"`
	Why     string `json:"why"`
}

func printFsck(a *app, r upkeep.FsckReport) error {
	if a.json {
		d := fsckDoc{1, r.Objects, r.Operations, []faultDoc{}, append([]string{}, r.Notes...)}
		for _, f := range r.Faults {
			d.Faults = append(d.Faults, faultDoc(f))
		}
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		for _, f := range r.Faults {
			a.line("%s", oneLine(f.String()))
		}
		for _, note := range r.Notes {
			a.say("note: %s", note)
		}
		a.say("%s, %s, %s", plural(r.Objects, "object", "objects"), plural(r.Operations, "operation", "operations"),
			plural(len(r.Faults), "fault", "faults"))
	}
	if len(r.Faults) > 0 {
		return &exitError{exitCorrupt}
	}
	return nil
}

func newRebuildCmd(a *app) *cobra.Command {
	var o upkeep.RebuildOptions
	cmd := &cobra.Command{
		Use:   "rebuild [--dry-run]",
		Short: "Make everything again that follows from history",
		Long: long(`Makes all derived state again from entries, summaries and the log: indexes of packs, the nodes and forests of clusters, and
the cache. It replays what was decided and decides nothing anew, so the same history gives the same ids; where it does
not, that is told (13).`, exitNoStore, exitLocked, exitCorrupt),
		Example: "  ctx rebuild\n  ctx rebuild --dry-run --json",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			show, done := a.progress()
			o.Progress = show
			r, err := upkeep.Rebuild(cmd.Context(), s, o)
			done()
			if err != nil {
				return err
			}
			return printRebuild(a, r)
		},
	}
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "compare and count, and change nothing")
	return cmd
}

func printRebuild(a *app, r upkeep.RebuildReport) error {
	if a.json {
		err := a.printJSON(struct {
			V          int     `json:"v"`
			Forest     *string `json:"forest"`
			Operations int     `json:"operations"`
			Objects    int     `json:"objects"`
			Indexes    int     `json:"indexes"`
			Same       bool    `json:"same"`
		}{1, idText(r.Forest), r.Operations, r.Objects, r.Indexes, r.Same})
		if err != nil {
			return err
		}
	} else {
		forest := "-"
		if !r.Forest.IsZero() {
			forest = r.Forest.String()
		}
		a.table([][]string{
			{"forest", forest},
			{"operations replayed", fmt.Sprint(r.Operations)},
			{"objects made again", fmt.Sprint(r.Objects)},
			{"pack indexes made again", fmt.Sprint(r.Indexes)},
		})
	}
	if !r.Same {
		return &exitError{exitCorrupt}
	}
	return nil
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/upkeep"
)

func newGCCmd(a *app) *cobra.Command {
	var o upkeep.GCOptions
	cmd := &cobra.Command{
		Use:   "gc [--auto] [--best] [--dry-run]",
		Short: "Pack objects, and remove what nothing names any more",
		Long: long(`Packs loose objects, removes objects that nothing has named for a while (gc.grace), old segments of the log (log.keep), and
what writes left that were cut short. What a session, a ref, a summary or the kept log leads to stays; so does what was
rewound.`, exitNoStore, exitLocked, exitStale, exitCorrupt),
		Example: "  ctx gc\n  ctx gc --dry-run --json",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.openStore()
			if err != nil {
				return err
			}
			show, done := a.progress()
			o.Progress = show
			r, err := upkeep.GC(cmd.Context(), s, o)
			done()
			if err != nil {
				return err
			}
			return printGC(a, r, o.DryRun)
		},
	}
	cmd.Flags().BoolVar(&o.Auto, "auto", false, "do nothing unless there is much to do")
	cmd.Flags().BoolVar(&o.Best, "best", false, "pack everything anew, as small as can be")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	return cmd
}

type gcDoc struct {
	V        int   `json:"v"`
	Idle     bool  `json:"idle"`
	Kept     int   `json:"kept"`
	Packed   int   `json:"packed"`
	Unloosed int   `json:"unloosed"`
	Pruned   int   `json:"pruned"`
	Temp     int   `json:"temp"`
	Segments int   `json:"segments"`
	Before   int64 `json:"bytes_before"`
	After    int64 `json:"bytes_after"`
}

func printGC(a *app, r upkeep.GCReport, dry bool) error {
	if a.json {
		return a.printJSON(gcDoc{1, r.Idle, r.Kept, r.Packed, r.Unloosed, r.PrunedLoose + r.PrunedPacked, r.Temp, r.Segments, r.Before, r.After})
	}
	if r.Idle {
		a.say("nothing to do yet")
		return nil
	}
	rows := [][]string{
		{"objects kept", fmt.Sprint(r.Kept)},
		{"packed", fmt.Sprint(r.Packed)},
		{"removed", fmt.Sprint(r.PrunedLoose + r.PrunedPacked)},
		{"log segments removed", fmt.Sprint(r.Segments)},
		{"leftovers removed", fmt.Sprint(r.Temp)},
		{"bytes before", fmt.Sprint(r.Before)},
	}
	if !dry {
		rows = append(rows, []string{"bytes after", fmt.Sprint(r.After)})
	}
	a.table(rows)
	return nil
}

// tidy is gc --auto after a command that has written much and has said so. What goes wrong in it is no failure of that command.
func (a *app) tidy(c context.Context, s *session.Store) {
	if err := a.out.Flush(); err != nil {
		return // nobody is listening; the command says so
	}
	show, done := a.progress()
	_, err := upkeep.GC(c, s, upkeep.GCOptions{Auto: true, Progress: show})
	done()
	if err != nil && c.Err() == nil {
		a.warn("gc has to wait: " + err.Error())
	}
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newGCCmd(a *app) *cobra.Command {
	var o gc.Options
	cmd := a.newCmd("gc [--auto] [--best] [--dry-run]",
		a.onStore(func(s *session.Store, _ []string) error {
			o.Progress = a.progress()
			r, err := gc.Run(a.c, s.Opened, o)
			if err != nil {
				return err
			}
			if !o.DryRun && !r.Idle {
				a.tidyCopies(s)
			}
			return printGC(a, r, o.DryRun)
		}))
	cmd.Flags().BoolVar(&o.Auto, "auto", false, "do nothing unless there is much to do")
	cmd.Flags().BoolVar(&o.Best, "best", false, "pack all objects again, as small as possible")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "print what would be done, and change nothing")
	return cmd
}

func printGC(a *app, r gc.Report, dry bool) error {
	if a.json {
		return a.answer("idle", r.Idle, "kept", r.Kept, "packed", r.Packed,
			"pruned", r.Pruned, "temp", r.Temp, "answers", r.Answers, "segments", r.Segments, "bytes_before", r.Before,
			"bytes_after", r.After)
	}
	if r.Idle {
		a.say("nothing to do yet")
		return nil
	}
	rows := [][]string{
		{"objects kept", fmt.Sprint(r.Kept)},
		{"packed", fmt.Sprint(r.Packed)},
		{"removed", fmt.Sprint(r.Pruned)},
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

// tidy runs gc --auto after a command that has written much and has printed its result. Its failure
// is only a warning.
func (a *app) tidy(s *session.Store) {
	if err := a.out.Flush(); err != nil {
		return // nobody is listening; the command says so
	}
	_, err := gc.Run(a.c, s.Opened, gc.Options{Auto: true, Progress: a.progress()})
	if err != nil && a.c.Err() == nil {
		a.warn("gc failed and will run later: " + err.Error())
	}
}

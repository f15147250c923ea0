package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/repair"
	"github.com/gemini-ctx/ctx/internal/session"
)

func newFsckCmd(a *app) *cobra.Command {
	o := &repairOptions{}
	cmd := a.newCmd("fsck [--repair [--dry-run] [--copy DIR] [--new-key]]", func([]string) error {
		if err := o.check(); err != nil {
			return err
		}
		if o.repair {
			return o.run(a)
		}
		s, err := a.openStore()
		if err != nil {
			return err
		}
		s.History.Warn = nil // the report names all damage
		r, err := fsck.Run(a.c, s.Opened, fsck.Options{Progress: a.progress()})
		if err != nil {
			return err
		}
		return printFsck(a, r)
	})
	o.add(cmd)
	return cmd
}

func printFsck(a *app, r fsck.Report) error {
	if a.json {
		a.document("objects", r.Objects, "operations", r.Operations, "faults", r.Faults,
			"notes", r.Notes)
	} else {
		for _, f := range r.Faults {
			a.line("%s", oneLine(f.String()))
		}
		for _, note := range r.Notes {
			a.say("note: %s", note)
		}
		a.say("%s, %s, %s", plural(r.Objects, "object", "objects"),
			plural(r.Operations, "operation", "operations"),
			plural(len(r.Faults), "fault", "faults"))
	}
	return exitIf(len(r.Faults) > 0, exitCorrupt)
}

func newRebuildCmd(a *app) *cobra.Command {
	var o repair.RebuildOptions
	cmd := a.newCmd("rebuild [--dry-run]", a.onStore(func(s *session.Store, _ []string) error {
		o.Progress = a.progress()
		r, err := repair.Rebuild(a.c, s.Opened, o)
		if err != nil {
			return err
		}
		return printRebuild(a, r)
	}))
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "compare and count, and change nothing")
	return cmd
}

func printRebuild(a *app, r repair.RebuildReport) error {
	if a.json {
		a.document(r)
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
	return exitIf(!r.Same, exitCorrupt)
}

// indexes has the search index follow what the command appends. The command calls the returned
// function when its work is done, with the number of messages that it appended. The index is
// derived data: a failure to write it is none of the command, and the next search does what is
// left.
func (a *app) indexes(s *session.Store) (finish func(appended int)) {
	g := s.Recall.NewIndexing()
	s.Conversation.Follow = g.Take
	return func(appended int) {
		if a.out.Flush() != nil || a.c.Err() != nil { // the answer comes first
			g.Stop()
			return
		}
		g.Finish(appended)
	}
}

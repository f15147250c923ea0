package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/when"
	"github.com/gemini-ctx/ctx/refs"
)

type logOptions struct {
	branchFlags
	all, reverse, follow bool
	masked               bool
	limit                int
	after                string
	file                 string
}

func newLogCmd(a *app) *cobra.Command {
	o := &logOptions{}
	cmd := &cobra.Command{
		Use:   "log [-s SESSION] [REV | A..B]",
		Short: "Print messages, oldest first",
		Long: long(`Prints the messages and notes of a branch, or of the history of a revision, oldest first. A..B
prints what the history of B has and the history of A has not. An amended message appears in its
first place with its newest words, and a forgotten message as a line that says so. With --after
the command takes entries from the newest back to the first one at that time or later; -n limits
their number.

With --file the command prints the messages of all sessions, or of the session of -s, whose calls
changed that file. It finds them as `+"`ctx blame`"+` does: under the names that the file had before, and
without calls that failed.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example:           "  ctx log -s work -n 20\n  ctx log -s work --after 2026-11-21T00:00:00Z\n  ctx log --json work@{1}..work\n  ctx log -s work --follow\n  ctx log --file main.go -n 5",
		Args:              between(0, 1),
		ValidArgsFunction: a.completeRevs(),
		RunE:              func(_ *cobra.Command, args []string) error { return o.run(a, append(args, "")[0]) },
	}
	o.add(a, cmd)
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "print every kind of entry, including rewinds and amendments")
	f.IntVarP(&o.limit, "limit", "n", 0, "print only the newest `N` entries")
	f.StringVar(&o.after, "after", "", "print only entries at `TIME` or later, in UTC: "+when.Examples)
	f.StringVar(&o.file, "file", "", "print the messages whose calls changed the file `PATH`, of all sessions")
	f.BoolVar(&o.masked, "masked", false, "shorten tool outputs as masks say")
	f.BoolVar(&o.reverse, "reverse", false, "print the newest entry first")
	f.BoolVar(&o.follow, "follow", false, "go on with what is appended, until interrupted")
	return cmd
}

func (o *logOptions) run(a *app, rev string) error {
	switch {
	case o.limit < 0 || o.cmd.Flags().Changed("limit") && o.limit == 0:
		return usagef("bad --limit: %d: 1 is the least", o.limit)
	case o.follow && (o.reverse || rev != ""):
		return usagef("--follow goes with a branch, oldest first")
	case o.follow && o.masked:
		return usagef("--masked cannot be given with --follow: no mask covers new messages")
	case o.file != "" && (rev != "" || o.follow || o.masked || o.all || o.cmd.Flags().Changed("branch")):
		return usagef("--file goes with --session, --after, --limit and --reverse")
	}
	since, err := o.since(a.now())
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if o.file != "" {
		return o.ofFile(a, s, view, since)
	}
	tip, after, err := o.span(s, view, rev)
	if err != nil {
		return err
	}
	show := recall.LogOptions{All: o.all, Limit: o.limit, After: after, Since: since, NewestFirst: o.reverse, Masked: o.masked}
	err = s.Recall.LogEach(tip, show, func(shown *history.Shown) error {
		return errors.Join(a.c.Err(), a.printEntry(shown))
	})
	if err != nil || !o.follow {
		return err
	}
	return o.watch(a, s, view)
}

// since returns the time of --after.
func (o *logOptions) since(now time.Time) (time.Time, error) {
	if !o.cmd.Flags().Changed("after") {
		return time.Time{}, nil
	}
	span, err := parseTime("after", o.after, now)
	return span.Start, err
}

// span returns the last entry to print and the entry before the first one; zero means no limit.
func (o *logOptions) span(s *session.Store, view *refs.View, rev string) (tip, after format.ID, err error) {
	if rev == "" {
		name, branch, err := o.pick(view)
		if err != nil {
			return tip, after, err
		}
		value, err := s.History.TipOrJoined(view, name, branch)
		return value.ID, after, err
	}
	name, branch := "", o.branch
	if err := o.check(); err != nil {
		return tip, after, err
	}
	if name, err = sessionOr(view, o.session); err != nil && !clusters.IsMissing(err) {
		return tip, after, err
	}
	return s.Recall.ResolveRange(view, name, branch, rev)
}

func resolveEntry(s *session.Store, view *refs.View, rev string) (format.ID, error) {
	return s.Clusters.ResolveEntry(view, rev)
}

// followPause is the time between two looks for new entries. One look reads one small file.
const followPause = 200 * time.Millisecond

// watch prints what is appended after view. After a rewind it prints only new messages. It prints
// an amended message again.
func (o *logOptions) watch(a *app, s *session.Store, view *refs.View) error {
	name, branch, value, err := o.tip(view)
	if err != nil {
		return err
	}
	last := value.ID
	for {
		if err := a.out.Flush(); err != nil {
			return err
		}
		select {
		case <-a.c.Done():
			return a.c.Err()
		case <-time.After(followPause):
		}
		if view, err = s.Refs.Read(); err != nil {
			return err
		}
		tip := view.Get(history.RefName(name, branch)).ID
		if tip == last || tip.IsZero() {
			continue
		}
		base, err := s.History.MergeBase(last, tip)
		if err != nil {
			return err
		}
		err = s.Recall.LogEach(tip, recall.LogOptions{All: true, After: base}, func(shown *history.Shown) error {
			return o.printNew(a, s, shown)
		})
		if err != nil {
			return err
		}
		last = tip
	}
}

func (o *logOptions) printNew(a *app, s *session.Store, shown *history.Shown) error {
	switch e := shown.Entry; {
	case o.all || e.Kind == format.KindMessage || e.Kind == format.KindNote:
		return a.printEntry(shown)
	case e.Kind == format.KindAmend:
		newer, err := s.History.Version(e.Amends, shown.ID)
		if err != nil {
			return err
		}
		return a.printEntry(newer)
	}
	return nil
}

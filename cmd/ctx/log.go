package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/when"
	"github.com/gemini-ctx/ctx/refs"
)

type logOptions struct {
	branchFlags
	all, reverse, follow bool
	masked               bool
	oneline, drawn       bool
	messages, verbose    bool
	limit                int
	times                timeFlags
	file, role, grep     string
}

func newLogCmd(a *app) *cobra.Command {
	o := &logOptions{}
	cmd := o.newCmd(a, "log [SESSION | REV | A..B]", func(args []string) error {
		return o.run(a, strings.Join(args, " "))
	})
	cmd.Args = between(0, -1)
	f := cmd.Flags()
	f.BoolVar(&o.all, "all", false, "print every kind of entry, rewinds too")
	f.IntVarP(&o.limit, "limit", "n", 0, "print only the newest `N` entries")
	o.times.flags(f)
	f.StringVar(&o.file, "file", "", "print the messages whose calls changed `PATH`")
	f.Var(&o.times.since, "after", "the same as --since")
	_ = f.MarkHidden("after") // what --since was called
	f.StringVar(&o.role, "role", "", "only what a user, model, tool or system said")
	a.completeWords(cmd, "role", searchRoles...)
	f.StringVar(&o.grep, "grep", "", "print only messages with `PATTERN`")
	f.BoolVar(&o.oneline, "oneline", false, "print each turn in one line")
	f.BoolVar(&o.messages, "messages", false, "with --oneline, print each entry in one line")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print thoughts, arguments of calls, and all of long notes")
	f.BoolVar(&o.drawn, "graph", false, "draw the branches of the session, newest entry first")
	f.BoolVar(&o.masked, "masked", false, "shorten tool outputs as masks say")
	f.BoolVar(&o.reverse, "reverse", false, "print the newest entry first")
	f.BoolVar(&o.follow, "follow", false, "go on with what is appended, until interrupted")
	return cmd
}

func (o *logOptions) run(a *app, rev string) error {
	if rev != "" && (o.file != "" || o.drawn) && !o.cmd.Flags().Changed("session") {
		o.argument = true // a session: no revision goes with these
		if err := o.cmd.Flags().Set("session", rev); err != nil {
			return err
		}
		rev = ""
	}
	switch {
	case o.follow && (o.reverse || rev != ""):
		return usagef("--follow goes with a branch, oldest first")
	case o.follow && o.masked:
		return usagef("--masked cannot be given with --follow: no mask covers new messages")
	case o.file != "" &&
		(rev != "" || o.follow || o.masked || o.all || o.picks() ||
			o.cmd.Flags().Changed("branch")):
		return usagef("--file goes with --session, --since, --until, --limit and --reverse")
	case o.drawn &&
		(rev != "" || o.file != "" || o.follow || o.masked || o.reverse || o.times.given() ||
			o.picks() || a.json):
		return usagef("--graph goes with --session, --all and --limit")
	case o.role != "" && !slices.Contains(searchRoles, o.role):
		return usagef("bad --role: %.80q: one of %s", o.role, strings.Join(searchRoles, ", "))
	case o.messages && !o.oneline:
		return usagef("--messages goes with --oneline")
	case o.follow && o.picks():
		return usagef("--follow cannot be given with --role or --grep")
	}
	var pattern *regexp.Regexp
	if o.cmd.Flags().Changed("grep") {
		var err error
		if pattern, err = compilePattern(o.grep, false, false); err != nil {
			return err
		}
	}
	within, err := o.times.span(a.local(a.now()))
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	if o.file != "" {
		return o.ofFile(a, s, view, within)
	}
	if o.drawn {
		return o.graph(a, s, view)
	}
	var several error
	if rev != "" && !o.cmd.Flags().Changed("session") {
		name, err := s.Recall.Named(view, rev)
		if err == nil {
			o.session, rev = name, "" // a session goes before the entry of a short id
		} else if !clusters.IsMissing(err) {
			several = err
		}
	}
	if o.session != rev && len(view.Names("sessions/"+rev+"/")) > 0 && rev != "" {
		return usagef("two sessions: %.80q, and -s %.80q", rev, o.session)
	}
	if o.turns(a, rev) {
		return o.printTurns(a, s, view, within)
	}
	tip, after, err := o.span(s, view, rev)
	if several != nil && clusters.IsMissing(err) {
		err = several
	}
	if err != nil {
		return err
	}
	t := o.telling(s)
	show := recall.LogOptions{All: o.all, Limit: o.limit, After: after, Within: within,
		Results:     t.Results,
		NewestFirst: o.reverse, Masked: o.masked, Role: o.role, Pattern: pattern,
		Worded: !a.json}
	printed := false
	err = s.Recall.LogEach(tip, show, func(shown *history.Shown) error {
		printed = true
		return errors.Join(a.c.Err(), o.print(a, t, shown))
	})
	if err == nil && !printed && !a.json && (o.picks() || o.times.given()) && !tip.IsZero() {
		err = o.sayNone(a, s, tip)
	}
	if err != nil || !o.follow {
		return err
	}
	return o.watch(a, s, view)
}

// turns reports whether each line is a turn: only then is what came of it known.
func (o *logOptions) turns(a *app, rev string) bool {
	return o.oneline && !o.messages && rev == "" && !a.json && !o.all && !o.follow && !o.picks() &&
		!o.masked
}

// printTurns prints the newest turns, a line for each.
func (o *logOptions) printTurns(
	a *app, s *session.Store, view *refs.View, within when.Span,
) error {
	name, branch, tip, err := o.tip(s, view)
	if err != nil {
		return err
	}
	list, err := s.Recall.Turns(history.BranchName{Session: name, Branch: branch}, tip)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(t sessions.Turn) bool { return !within.Has(t.Time) })
	if len(list) == 0 && o.times.given() {
		return o.sayNone(a, s, tip.ID)
	}
	if o.limit > 0 && o.limit < len(list) {
		list = list[len(list)-o.limit:]
	}
	if o.reverse {
		slices.Reverse(list)
	}
	for i := range list {
		a.line("%s", a.turnLine(&list[i]))
	}
	return nil
}

// turnLine returns a turn as one line. What was wanted and what came of it share its width.
func (a *app) turnLine(t *sessions.Turn) string {
	at := t.Time.UTC()
	if asked(a.outTerm) {
		at = a.local(at)
	}
	digits := shortLen
	if a.lineWidth() < noTerminal {
		digits = 8
	}
	head := t.Entry.Short(digits) + " " + at.Format("2006-01-02 15:04") + " "
	room := a.lineWidth() - len(head) - displaywidth.String(" → ")
	wanted, came := cmp.Or(oneLine(t.Wanted), "(nothing asked)"), oneLine(t.Came())
	short := min(displaywidth.String(came), room*3/5)
	wanted = cutWidth(wanted, room-short)
	return a.paint(styleID, head) + wanted + a.paint(styleFaint, " → "+
		cutWidth(came, room-displaywidth.String(wanted)))
}

// sayNone says that flags have picked nothing, and when the newest message was said.
func (o *logOptions) sayNone(a *app, s *session.Store, tip format.ID) error {
	e, err := s.History.Header(tip)
	if err == nil {
		a.say("nothing that these flags pick: the newest entry is of %s", a.clock(e.Time))
	}
	return err
}

// picks reports whether flags pick single messages.
func (o *logOptions) picks() bool { return o.role != "" || o.cmd.Flags().Changed("grep") }

// print prints an entry in the form that was asked for.
func (o *logOptions) print(a *app, t *find.Telling, shown *history.Shown) error {
	if !o.oneline || a.json {
		return a.printEntry(t, o.folded(a, shown))
	}
	a.line("%s", a.oneline(t, shown, nil, 0))
	return a.out.err
}

// mostOfNote is how many lines of a note log prints that has more.
const mostOfNote = 3

// folded returns an entry with the beginning of a long note: what a client tells a model, as its
// own instructions, is no word of the conversation.
func (o *logOptions) folded(a *app, shown *history.Shown) *history.Shown {
	lines := strings.Split(strings.TrimSpace(shown.Text), "\n")
	isNote := shown.Entry.Kind == format.KindNote && shown.Entry.Role == "system"
	if a.json || o.verbose || o.picks() || !isNote || len(lines) <= 2*mostOfNote {
		return shown
	}
	short := *shown
	short.Text = fmt.Sprintf("%s\n[%d more lines: -v]", strings.Join(lines[:mostOfNote], "\n"),
		len(lines)-mostOfNote)
	return &short
}

// telling returns what tells what entries say.
func (o *logOptions) telling(s *session.Store) *find.Telling {
	return &find.Telling{Reader: s.Recall.Reader, Full: o.verbose, Results: map[string]format.ID{}}
}

// span returns the last entry to print and the entry before the first one; zero means no limit.
func (o *logOptions) span(
	s *session.Store, view *refs.View, rev string,
) (tip, after format.ID, err error) {
	if rev == "" {
		name, branch, err := o.pick(s, view)
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
	if name, err = sessionOr(s, view, o.session); err != nil && !clusters.IsMissing(err) {
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
	name, branch, value, err := o.tip(s, view)
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
		err = s.Recall.LogEach(tip,
			recall.LogOptions{All: true, After: base}, func(shown *history.Shown) error {
				return o.printNew(a, s, shown)
			})
		if err != nil {
			return err
		}
		last = tip
	}
}

func (o *logOptions) printNew(a *app, s *session.Store, shown *history.Shown) error {
	t := o.telling(s)
	switch e := shown.Entry; {
	case !o.all && !a.json && shown.IsBare():
	case o.all || e.Kind == format.KindMessage || e.Kind == format.KindNote:
		return a.printEntry(t, shown)
	case e.Kind == format.KindAmend:
		newer, err := s.History.Version(e.Amends, shown.ID)
		if err != nil {
			return err
		}
		return a.printEntry(t, newer)
	}
	return nil
}

// timeFlags are --since and --until: what was said from one time on, and before another one.
type timeFlags struct{ since, until timeText }

func (o *timeFlags) flags(f *pflag.FlagSet) {
	f.Var(&o.since, "since", "only since `TIME`: "+when.Examples)
	f.Var(&o.until, "until", "only before `TIME`, or until the end of that day, week or month")
}

// span returns the time from --since until --until, by the clock of the person. A bound that was
// not given is zero.
func (o *timeFlags) span(now time.Time) (span when.Span, err error) {
	since, err := o.since.parse("since", now)
	if err != nil {
		return span, err
	}
	until, err := o.until.parse("until", now)
	return when.Span{Start: since.Start, End: until.End}, err
}

// given reports whether one of the flags was given.
func (o *timeFlags) given() bool { return *o != timeFlags{} }

// timeText is the value of a flag that takes a time. It is not empty if it is given: a script whose
// variable was not set would get everything.
type timeText string

func (t *timeText) String() string { return string(*t) }
func (t *timeText) Type() string   { return "string" }

func (t *timeText) Set(text string) error {
	if *t = timeText(text); text == "" {
		return errors.New("a time is like " + when.Examples)
	}
	return nil
}

// isTime reports whether a word that names nothing is one for a time, and not the beginning of an
// id.
func (a *app) isTime(word string) bool {
	_, err := when.Parse(word, a.local(a.now()))
	return err == nil && len(word) > 4
}

func (t *timeText) parse(flag string, now time.Time) (when.Span, error) {
	if *t == "" {
		return when.Span{}, nil
	}
	span, err := when.Parse(string(*t), now)
	if err != nil {
		err = usagef("bad --%s: %.80q: a time is like %s", flag, string(*t), when.Examples)
	}
	return span, err
}

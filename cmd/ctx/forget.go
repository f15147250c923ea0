package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/maintenance/forget"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/refs"
)

// The minimum and maximum bytes of a text to forget. Almost every body contains a shorter text.
const (
	minForgetText = 4
	maxForgetText = 1 << 20
)

type forgetOptions struct {
	text, rule    string
	dryRun, force bool
	remote        bool
	shares        bool // the store has a remote
	cmd           *cobra.Command
}

func newForgetCmd(a *app) *cobra.Command {
	o := &forgetOptions{}
	cmd := a.newCmd(
		"forget (ID... | --text STRING | --rule CLASS) [--dry-run] [--force] [--remote]",
		func(args []string) error { return o.run(a, args) })
	o.cmd = cmd
	cmd.Args = between(0, -1)
	cmd.ValidArgsFunction = a.completeRevs()
	f := cmd.Flags()
	f.StringVar(&o.text, "text", "", "erase bodies with `STRING`; - is standard input")
	f.StringVar(&o.rule, "rule", "", "erase bodies with a secret of `CLASS`, or all")
	f.BoolVar(&o.dryRun, "dry-run", false, "list what would be erased, and change nothing")
	f.BoolVar(&o.force, "force", false, "do not ask")
	f.BoolVar(&o.remote, "remote", false, "erase them on the remotes, too")
	return cmd
}

func (o *forgetOptions) run(a *app, args []string) error {
	set, err := o.read(a, args)
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	remotes, err := s.Remotes()
	if err != nil {
		return err
	}
	o.shares = len(remoteNames(remotes)) > 0
	set.Elsewhere = o.shares
	for _, rev := range args {
		if err := notASession(view, rev); err != nil {
			return err
		}
		_, notID := format.ParseID(rev)
		id, err := s.Clusters.Resolve(view, rev)
		if clusters.IsMissing(err) {
			if name, none := s.Recall.Named(view, rev); none == nil {
				return aSession(rev, name)
			}
		}
		if err != nil {
			return err
		}
		set.IDs, set.Elsewhere = append(set.IDs, id), set.Elsewhere && notID == nil
	}
	report, err := o.forget(a, s, view, set)
	if err != nil {
		return err
	}
	if err := o.print(a, s, view, report); err != nil || !o.remote || o.dryRun {
		return err
	}
	return a.forgetRemotely(s, remotes)
}

// notASession refuses the name of a session, or the first characters of one: as a revision it means
// the newest message alone, and whoever writes it means all of them.
func notASession(view *refs.View, rev string) error {
	name, err := history.Named(view, rev)
	if err != nil {
		return nil //nolint:nilerr // it names something else, or nothing: resolving it says so
	}
	return aSession(rev, name)
}

func aSession(rev, name string) error {
	return withHint(usagef("%q names a session: name the messages to forget", rev),
		"`ctx session rm %s` removes the session, `ctx log -s %s` lists its messages",
		oneLine(name), oneLine(name))
}

// forgetRemotely pushes to every remote what was forgotten.
func (a *app) forgetRemotely(s *session.Store, set repo.Remotes) error {
	var bad error
	for _, name := range remoteNames(set) {
		err := a.pushForgotten(s, name)
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("remote %s has the words still: %w", name, err))
			continue
		}
		a.say(
			"%s: the files that held the words were replaced; whoever runs it may have copies: "+
				"backups, and in a git repository until it collects garbage", name)
	}
	return bad
}

func (a *app) pushForgotten(s *session.Store, name string) error {
	return a.useRemote(s, []string{name}, func(x *sharing.Sharer, _ string) error {
		_, err := x.Push(a.c, sharing.PushOptions{Look: true})
		return err
	})
}

// read returns the options that the flags describe.
func (o *forgetOptions) read(a *app, args []string) (set forget.Options, err error) {
	byText, byRule := o.cmd.Flags().Changed("text"), o.cmd.Flags().Changed("rule")
	switch {
	case byText && byRule, len(args) > 0 && (byText || byRule):
		return set, usagef("ids, --text and --rule exclude each other")
	case len(args) == 0 && !byText && !byRule:
		return set,
			withHint(usagef("nothing to forget: give ids, --text or --rule"),
				"`ctx log` and `ctx search WORDS` print ids")
	case byRule:
		if o.rule == "" ||
			strings.ContainsFunc(o.rule,
				func(r rune) bool {
					return (r < 'a' || r > 'z') && r != '-' && (r < '0' || r > '9')
				}) {
			return set,
				usagef("bad --rule: %.40q: a class is a word such as password, or all", o.rule)
		}
		set.Rule = o.rule
	case byText:
		text := []byte(o.text)
		if o.text == "-" {
			if text, err = a.readText("-", maxForgetText); err != nil {
				return set, fmt.Errorf("cannot read the text: %w", err)
			}
			text = bytes.TrimRight(text, "\r\n")
		}
		if n := len(bytes.TrimSpace(text)); n < minForgetText || len(text) > maxForgetText {
			return set,
				usagef("a text of %d bytes: the minimum is %d, the maximum %d", n, minForgetText,
					maxForgetText)
		}
		set.Text = string(text)
	}
	return set, nil
}

// forget forgets what was asked for. What is more than one message it shows first, and asks.
func (o *forgetOptions) forget(
	a *app, s *session.Store, view *refs.View, set forget.Options,
) (forget.Report, error) {
	run := func() (forget.Report, error) {
		set.Progress = a.progress()
		return forget.Run(a.c, s.Opened, set)
	}
	set.DryRun = o.dryRun
	if o.dryRun || o.force {
		return run()
	}
	byID := len(set.IDs) > 0
	if !byID && (o.text == "-" || !asked(a.inTerm)) {
		return forget.Report{},
			withHint(usagef("refusing to forget by text or rule without confirmation"),
				"--dry-run lists what would be erased; use --force to erase without asking")
	}
	var shown map[format.ID]string
	set.Agreed = func(r *forget.Report) bool {
		if byID && saidCount(r) < 2 || set.Rule != "" && len(r.Objects) == 0 {
			return true
		}
		return shown != nil && !slices.ContainsFunc(r.Objects, func(id format.ID) bool {
			_, ok := shown[id]
			return !ok
		})
	}
	// The lock is not taken to look for what may have to be asked about
	set.DryRun = len(set.IDs) != 1 || !isEntry(s, set.IDs[0])
	for {
		report, err := run()
		switch {
		case errors.Is(err, forget.ErrNotAgreed):
			a.sayWhatGoes(s, view, &report)
			if err := a.confirm("forget for good %s", whatGoes(&report)); err != nil {
				return report, err
			}
			shown = report.Kinds
		case err != nil || !set.DryRun:
			return report, err
		}
		set.DryRun = false
	}
}

func isEntry(s *session.Store, id format.ID) bool {
	_, err := s.History.Header(id)
	return err == nil
}

// saidCount counts the messages that go.
func saidCount(r *forget.Report) (n int) {
	for _, of := range r.Said {
		n += len(of.Messages)
	}
	return n
}

// maxGoing is the number of sessions that a question about a forget shows.
const maxGoing = 10

// sayWhatGoes says how many messages of which session go, and how the first of them begins.
func (a *app) sayWhatGoes(s *session.Store, view *refs.View, r *forget.Report) {
	if a.json {
		return
	}
	titles := map[string]string{}
	list, _ := s.Recall.Overviews(view) // without titles where they cannot be read
	for i := range list {
		titles[list[i].Name] = list[i].Title
	}
	for i, of := range r.Said {
		if i == maxGoing {
			a.say("and messages of %s", plural(len(r.Said)-i, "other session", "other sessions"))
			return
		}
		name := sessions.ShortName(view, of.Session)
		if title := titles[of.Session]; title != "" {
			name += " (" + cutWidth(oneLine(title), noTerminal/2) + ")"
		}
		first := ""
		if shown, err := s.History.Latest(view, of.Messages[0]); err == nil {
			first = cutWidth(strings.TrimSpace(
				firstLine(entryBody(&find.Telling{Reader: s.Recall.Reader}, shown))), noTerminal/2)
		}
		a.say("%s: %s, the first: %s", name, plural(len(of.Messages), "message", "messages"), first)
	}
}

// whatGoes counts the erased objects by kind.
func whatGoes(r *forget.Report) string {
	n := map[string]int{}
	for _, kind := range r.Kinds {
		n[kind]++
	}
	for kind, many := range map[string]string{"message": "messages", "summary": "summaries"} {
		if n[kind] > 1 {
			n[many] = n[kind]
			delete(n, kind)
		}
	}
	return plural(len(r.Objects), "body", "bodies") + " (" + counts(n) + ")"
}

// saidDoc says how many messages of a session go.
type saidDoc struct {
	Session  string `json:"session"`
	Messages int    `json:"messages"`
}

func saidDocs(list []forget.OfSession) []saidDoc {
	return lists.Map(list, func(of forget.OfSession) saidDoc {
		return saidDoc{of.Session, len(of.Messages)}
	})
}

type goneObjectDoc struct {
	ID   format.ID `json:"id"`
	Kind string    `json:"kind"`
}

func (o *forgetOptions) print(
	a *app, s *session.Store, view *refs.View, r forget.Report,
) error {
	forgotten := lists.Map(slices.SortedFunc(maps.Keys(r.Kinds), format.ID.Compare),
		func(id format.ID) goneObjectDoc { return goneObjectDoc{id, r.Kinds[id]} })
	if a.json {
		a.document("dry_run", o.dryRun, "operation", document.OrNull(r.Operation), "forgotten",
			forgotten, "said", saidDocs(r.Said), "already", r.Already, "summaries", r.Covers, "remains", r.Remains, "unread", r.Unread,
			"transcripts", r.Sources)
	} else {
		for _, g := range forgotten {
			a.line("%v %s", g.ID, g.Kind)
		}
		o.tell(a, s, view, r)
	}
	switch left := slices.Compact(
		slices.Sorted(slices.Values(append(slices.Clone(r.Remains), r.Unread...)))); {
	case len(left) == 0:
		return nil
	case o.dryRun:
		a.say("cannot search %s", strings.Join(left, ", "))
		return nil
	default:
		return withHint(fmt.Errorf("forgotten, but words may be left in %s",
			strings.Join(left, ", ")),
			"damaged files cannot be searched: `ctx fsck` lists them; names of sessions, authors "+
				"and tools are never erased")
	}
}

func (o *forgetOptions) tell(a *app, s *session.Store, view *refs.View, r forget.Report) {
	switch {
	case len(r.Objects) == 0 && r.Already > 0:
		a.say("it was forgotten before")
		return
	case len(r.Objects) == 0 && o.text != "" && o.shares && !o.remote:
		a.say("nothing in the store contains it; --remote also looks into its files on remotes")
	case len(r.Objects) == 0 && len(r.Remains)+len(r.Unread) > 0:
		a.say("no readable body contains it")
	case len(r.Objects) == 0 && o.rule != "" && o.rule != "all":
		a.say("no secret of the class %s is in the store; `ctx scan` lists the classes of those that are",
			o.rule)
	case len(r.Objects) == 0:
		a.say("nothing in the store contains it")
	case o.dryRun:
		a.sayWhatGoes(s, view, &r)
		a.say("%s would be forgotten", whatGoes(&r))
		return
	default:
		a.say("operation %d: forgot %s", r.Operation, whatGoes(&r))
	}
	if slices.Contains(slices.Collect(maps.Values(r.Kinds)), forget.KindElsewhere) {
		a.say("what is elsewhere is not in this store: a push removes it from the store's files on " +
			"the remote, and asks others to forget it")
	}
	own := lists.Map(r.Sources, func(src forget.SourceName) string {
		return oneLine(src.Agent + " " + src.Session)
	})
	if len(own) > 0 {
		a.say("the agents' own transcripts are not changed: %s", strings.Join(own, ", "))
	}
	if len(r.Objects) > 0 {
		titles := map[bool]string{true: "titles that agents made of it (--text erases them), "}
		a.say("%sbundles, other copies and requests to models are not changed: change a secret that "+
			"was said", titles[o.text+o.rule == "" && len(own) > 0])
	}
}

// errFound is the error of a scan that found a secret.
var errFound = errors.New("secrets are stored")

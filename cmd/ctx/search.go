package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/sharing"
)

// scopeOptions are the flags that limit where search and grep look.
type scopeOptions struct {
	session, branch, role        string
	reader                       string
	times                        timeFlags
	rewound, everywhere, verbose bool
}

func (o *scopeOptions) flags(a *app, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "only this session")
	f.StringVarP(&o.branch, "branch", "b", "", "with --session, only this branch")
	f.StringVar(&o.reader, "reader", "",
		"only what a reader in `BRANCH`, or at a revision, of the session (default: that of HEAD) may see")
	f.StringVar(&o.role, "role", "", "only what a user, model, tool or system said")
	o.times.flags(f)
	f.BoolVar(&o.rewound, "rewound", false, "what was rewound, too")
	everywhereFlag(cmd, &o.everywhere, "look")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "print whole ids and names, scores and times")
	a.completeFlag(cmd, "session", a.completeSessions())
	a.completeWords(cmd, "role", searchRoles...)
}

// nothingFound is what a search says that finds nothing.
const nothingFound = "nothing found"

var searchRoles = []string{"user", "model", "tool", "system"}

// query returns the query of the flags, without words.
func (o *scopeOptions) query(now time.Time) (find.SearchQuery, error) {
	q := find.SearchQuery{Session: o.session, Branch: o.branch, Role: o.role, Rewound: o.rewound}
	switch {
	case o.role != "" && !slices.Contains(searchRoles, o.role):
		return q, usagef("bad --role: %.80q: one of %s", o.role, strings.Join(searchRoles, ", "))
	case o.branch != "" && o.session == "":
		return q, usagef("--branch goes with --session")
	case o.everywhere && (o.session != "" || o.reader != ""):
		return q, usagef("--everywhere goes without --session and --reader")
	}
	span, err := o.times.span(now)
	q.Since, q.Until = span.Start, span.End
	return q, err
}

// places opens the stores to look in, and adds the session and the reader to the query.
func (o *scopeOptions) places(a *app, q *find.SearchQuery) ([]place, error) {
	places, err := a.places(o.everywhere)
	if err != nil || o.everywhere {
		return places, err
	}
	s, view := places[0].s, places[0].view
	if o.session != "" {
		if q.Session, err = s.Recall.Named(view, o.session); err != nil {
			return nil, err
		}
	}
	if o.reader == "" {
		return places, nil
	}
	name, err := sessionOr(s, view, o.session)
	if err == nil {
		q.Reader, err = s.Clusters.NewViewer(view, name, o.reader)
	}
	return places, err
}

type searchOptions struct {
	scopeOptions
	limit                       int
	clusters, sessions          bool
	literal, regexp, ignoreCase bool
	remote                      string
}

func newSearchCmd(a *app) *cobra.Command {
	o := &searchOptions{}
	cmd := a.newCmd("search QUERY", func(args []string) error {
		return o.run(a, strings.Join(args, " "))
	})
	cmd.Args = between(1, -1)
	o.flags(a, cmd)
	f := cmd.Flags()
	f.IntVarP(&o.limit, "limit", "n", 10, "print at most `N` messages or sessions")
	f.StringVar(&o.remote, "remote", "", "ask the engine of the remote `NAME`")
	a.completeFlag(cmd, "remote", a.completeRemotes(true))
	f.BoolVar(&o.clusters, "clusters", false, "also list the clusters of the best messages")
	f.BoolVar(&o.sessions, "sessions", false, "list sessions, each with its best message")
	f.BoolVar(&o.literal, "literal", false, "the query is one string")
	f.BoolVar(&o.regexp, "regexp", false, "the query is a regular expression")
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "with --literal or --regexp, ignore case")
	return cmd
}

func (o *searchOptions) run(a *app, text string) error {
	q, err := o.query(a.local(a.now()), text)
	if err != nil {
		return err
	}
	if o.remote != "" {
		return o.askRemote(a, text)
	}
	places, err := o.places(a, &q)
	if err != nil {
		return err
	}
	p := &foundPrinter{a: a, verbose: o.verbose}
	q.Read, q.Unread = find.EnoughRead, new(atomic.Int64)
	if o.sessions {
		list, err := ofAll(a, places, func(at *place) ([]find.SessionHit, error) {
			return at.s.Recall.SearchSessions(at.view, q)
		}, func(x, y find.SessionHit) int { return cmp.Compare(x.Score, y.Score) })
		list = newest(list, o.limit)
		for i := range list {
			if err == nil {
				err = p.best(list[i].place, &list[i].T)
			}
		}
		return cmp.Or(err, a.orNear(len(list) > 0, places, q))
	}
	most := o.limit
	if o.clusters {
		most *= 2 // as many clusters more
	}
	list, err := searchAll(a, places, q)
	if err != nil {
		return err
	}
	list = eachOnce(list)
	for i := range list {
		if list[i].T.Named != nil {
			most++ // a title is none of the messages
		}
	}
	return cmp.Or(p.hits(newest(list, most)), a.orNear(len(list) > 0, places, q))
}

// orNear is foundOr, and says which near words there are, as of a slip, and which messages were not
// read.
func (a *app) orNear(found bool, places []place, q find.SearchQuery) error {
	none := nothingFound
	if n := q.Unread.Load(); n > 0 {
		a.say("ctx: search: no message has these words; parts of words were looked for in the newest "+
			"messages only: `ctx grep` also reads the %d older ones", n)
	}
	for i := 0; i < len(places) && !found && q.Pattern == nil; i++ {
		near, err := places[i].s.Recall.Near(places[i].view, q.Text)
		if err == nil && near != "" {
			none = nothingFound + ": did you mean \"" + oneLine(near) + "\"?"
		}
	}
	return a.foundOr(found, none)
}

// searchAll returns the hits of all places. Of several, the indexes are asked first, and only the
// best messages of all are read.
func searchAll(a *app, places []place, q find.SearchQuery) ([]of[find.Hit], error) {
	search := func(at *place) ([]find.Hit, error) { return at.s.Recall.Search(at.view, q) }
	if len(places) == 1 || q.Pattern != nil {
		return ofAll(a, places, search, byScore)
	}
	found, err := ofAll(a, places, func(at *place) ([]*find.Found, error) {
		f, err := at.s.Recall.Find(at.view, q)
		return []*find.Found{f}, err
	}, func(_, _ *find.Found) int { return 0 })
	if err != nil {
		return nil, err
	}
	all, at := make([]*find.Found, len(found)), map[*place]*find.Found{}
	for i, f := range found {
		all[i], at[f.place] = f.T, f.T
	}
	if !slices.ContainsFunc(all, (*find.Found).Any) {
		return ofAll(a, places, search, byScore) // parts of words, if anything
	}
	find.Narrow(all)
	return ofAll(a, places, func(p *place) ([]find.Hit, error) {
		if at[p] == nil {
			return nil, nil
		}
		return at[p].Hits()
	}, byScore)
}

// eachOnce leaves one hit of a message that several stores have, that of the store where it was
// said, and counts the others as copies.
func eachOnce(list []of[find.Hit]) (each []of[find.Hit]) {
	fromAfar := func(h of[find.Hit]) bool {
		_, shared := history.Owner(h.place.view, h.T.Session)
		return shared
	}
	first := map[format.ID]int{}
	for _, h := range list {
		i, known := first[h.T.ID]
		if !known || h.T.ID.IsZero() {
			first[h.T.ID] = len(each)
			each = append(each, h)
			continue
		}
		copies := each[i].T.Copies + 1
		if fromAfar(each[i]) && !fromAfar(h) {
			each[i] = h
		}
		each[i].T.Copies = copies
	}
	return each
}

// byScore compares hits: by score, and those of a pattern, which have none, by time.
func byScore(x, y find.Hit) int {
	said := func(h find.Hit) (t time.Time) {
		if h.Shown != nil {
			t = h.Shown.Entry.Time
		}
		return t
	}
	titles := func(h find.Hit) int {
		if h.Named != nil {
			return 1
		}
		return 0
	}
	return cmp.Or(titles(x)-titles(y), cmp.Compare(x.Score, y.Score), said(x).Compare(said(y)))
}

func (o *searchOptions) query(now time.Time, text string) (find.SearchQuery, error) {
	q, err := o.scopeOptions.query(now)
	if err != nil {
		return q, err
	}
	q.Text, q.Limit, q.Clusters, q.Phrases, q.Parts = text, o.limit, o.clusters, true, true
	q.Alike = true
	q.Titles = o.scopeOptions == scopeOptions{everywhere: o.everywhere, verbose: o.verbose}
	switch {
	case o.remote != "" &&
		(o.scopeOptions != scopeOptions{verbose: o.verbose} || o.clusters || o.sessions ||
			o.literal || o.regexp):
		return q, usagef("--remote goes with a query and --limit alone")
	case o.literal && o.regexp:
		return q, usagef("--literal and --regexp exclude each other")
	case o.ignoreCase && !o.literal && !o.regexp:
		return q,
			usagef(
				"--ignore-case goes with --literal or --regexp: a search by words never tells " +
					"capitals from small letters")
	case o.clusters && (o.sessions || o.literal || o.regexp):
		return q, usagef("--clusters goes with a search for messages by words")
	case o.sessions && (o.literal || o.regexp || o.reader != ""):
		return q, usagef("--sessions goes with a search by words, and without --reader")
	}
	if o.literal || o.regexp {
		q.Pattern, err = compilePattern(text, o.literal, o.ignoreCase)
	}
	return q, err
}

// compilePattern compiles a regular expression, or a literal text as one.
func compilePattern(text string, literal, ignoreCase bool) (*regexp.Regexp, error) {
	if text == "" {
		return nil, usagef("nothing to look for: the pattern is empty")
	}
	flags := "(?m)"
	if ignoreCase {
		flags = "(?im)"
	}
	if literal {
		text = regexp.QuoteMeta(text)
	}
	p, err := regexp.Compile(flags + text)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, withHint(usagef("bad pattern: %s", strings.Replace(why, flags, "", 1)),
			"a backslash makes a character plain, as in `\\(`")
	}
	return p, nil
}

// remarks are facts about a hit that its heading does not have.
func remarks(h find.Hit) string {
	said := ""
	if h.Rewound {
		said += " rewound"
	}
	if !h.SupersededBy.IsZero() {
		said += " superseded by " + h.SupersededBy.Short(shortLen)
	}
	if o := h.Objection; !o.By.IsZero() {
		said += " " + o.Verb() + " in " + o.By.Short(shortLen)
	}
	switch {
	case h.Copies == 1:
		said += " (and 1 copy)"
	case h.Copies > 1:
		said += " (and " + strconv.Itoa(h.Copies) + " copies)"
	}
	return said
}

// askRemote has the engine of a remote search.
func (o *searchOptions) askRemote(a *app, text string) error {
	s, err := a.openStore()
	if err != nil {
		return err
	}
	return a.useRemote(s, []string{o.remote}, func(x *sharing.Sharer, name string) error {
		return o.printHits(a, x, name, text)
	})
}

func (o *searchOptions) printHits(a *app, x *sharing.Sharer, name, text string) error {
	hits, err := x.Search(a.c, text, o.limit)
	if errors.Is(err, sharing.ErrNoSearch) {
		return withHint(fmt.Errorf("remote %s: %w", name, err), "`ctx pull`, and search here")
	}
	if err != nil {
		return fmt.Errorf("remote %s: %w", name, err)
	}
	for _, h := range hits {
		if a.json {
			a.document("id", h.ID, "kind", "message", "score", h.Rank, "session", h.Name, "role",
				h.Role, "time", h.At, "text", oneLine(h.Text))
			continue
		}
		a.line("%.3f %s %.12s %s %s\n    %s", h.Rank, oneLine(h.Name), oneLine(h.ID),
			oneLine(h.Role), h.At.UTC().Format("2006-01-02T15:04:05Z"), oneLine(h.Text))
	}
	return a.foundOr(len(hits) > 0, nothingFound)
}

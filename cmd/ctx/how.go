package main

import (
	"strings"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/spf13/cobra"
)

// outcomeOptions say where commands and failures are looked for, and how many are printed.
type outcomeOptions struct {
	session    string
	everywhere bool
	limit      int
}

func (o *outcomeOptions) flags(a *app, cmd *cobra.Command, limit int) {
	f := cmd.Flags()
	f.StringVarP(&o.session, "session", "s", "", "only this session")
	f.IntVarP(&o.limit, "limit", "n", limit, "print at most `N`")
	everywhereFlag(cmd, &o.everywhere, "look")
	a.completeFlag(cmd, "session", a.completeSessions())
}

// places opens the stores to look in for text, and finds the session. It refuses a text without a
// letter or a digit.
func (o *outcomeOptions) places(a *app, text string) ([]place, error) {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch {
	case strings.IndexFunc(text, word) < 0:
		return nil, usagef("nothing to look for: %.80q has no word", text)
	case o.everywhere && o.session != "":
		return nil, usagef("--everywhere goes without --session")
	}
	places, err := a.places(o.everywhere)
	if err == nil && o.session != "" {
		o.session, err = places[0].s.Recall.Named(places[0].view, o.session)
	}
	return places, err
}

func newHowCmd(a *app) *cobra.Command {
	o := &outcomeOptions{}
	cmd := a.newCmd("how WORDS...", func(args []string) error {
		text := strings.Join(args, " ")
		places, err := o.places(a, text)
		if err != nil {
			return err
		}
		list, err := ofAll(a, places, func(p *place) ([]find.Ran, error) {
			return p.s.Recall.How(p.view, text, o.session, o.limit)
		}, find.CompareRan)
		if err != nil {
			return err
		}
		list = newest(list, o.limit)
		for _, one := range list {
			a.enter(one.place)
			if err := a.printRan(&one.T, one.place); err != nil {
				return err
			}
		}
		return a.foundOr(len(list) > 0, "no command that worked has these words")
	})
	o.flags(a, cmd, 5)
	return cmd
}

// printRan prints a command that worked.
func (a *app) printRan(r *find.Ran, at *place) error {
	if a.json {
		return a.answer(document.RanOf(r), "runs", r.Runs, "failed", r.Failed)
	}
	said := []string{"exit 0", plural(r.Runs, "run", "runs")}
	if r.Failed > 0 {
		said = append(said, plural(r.Failed, "failed", "failed"))
	}
	said = append(said, "last "+a.ago(r.Time))
	if r.Dir != "" && r.Dir != "." {
		said = append(said, "in "+r.Dir)
	}
	if at.name != "" {
		said = append(said, at.name)
	}
	a.line("$ %s\n    %s %s  %s", r.Command,
		a.paint(styleID, oneLine(sessions.ShortName(at.view, r.Session))),
		a.paint(styleID, r.Entry.Short(shortLen)), a.paint(styleFaint, strings.Join(said, ", ")))
	return a.out.err
}

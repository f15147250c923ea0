package main

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/search"
	"github.com/spf13/cobra"
)

type grepOptions struct {
	scopeOptions
	ignoreCase, fixed, ids bool
}

func newGrepCmd(a *app) *cobra.Command {
	o := &grepOptions{}
	cmd := a.newCmd("grep PATTERN", func(args []string) error { return o.run(a, args[0]) })
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if slices.ContainsFunc(a.overrides, isNoSetting) {
			return withHint(usagef("-c is --config, which needs KEY=VALUE"),
				"`ctx grep --json PATTERN | wc -l` counts lines")
		}
		return between(1, 1)(cmd, args)
	}
	o.flags(a, cmd)
	f := cmd.Flags()
	f.BoolVarP(&o.ignoreCase, "ignore-case", "i", false, "ignore case")
	f.BoolVarP(&o.fixed, "fixed-strings", "F", false,
		"the pattern is a string, not a regular expression")
	f.BoolVarP(&o.ids, "ids", "l", false,
		"print only the full ids of entries; with --json their first match")
	return cmd
}

func isNoSetting(s string) bool { return !strings.Contains(s, "=") }

// grepWidth is the maximum number of runes of a matching line that are printed into a pipe.
const grepWidth = 240

// grepRoom returns how much of a matching line is printed: on a terminal a line is one line.
func (a *app) grepRoom() int {
	if asked(a.outTerm) {
		return a.lineWidth() - 2*shortLen
	}
	return grepWidth
}

func (o *grepOptions) run(a *app, text string) error {
	q, err := o.query(a.local(a.now()), text)
	if err != nil {
		return err
	}
	places, err := o.places(a, &q)
	if err != nil {
		return err
	}
	found, p := false, &foundPrinter{a: a, verbose: o.verbose}
	for i := range places {
		a.enter(&places[i])
		ok, err := o.in(a, p, &places[i], q)
		if found = found || ok; err == nil {
			continue
		}
		if a.at == nil || a.out.err != nil {
			return err
		}
		a.skip(places[i].s.Dir, err)
	}
	return exitIf(!found, exitFailed)
}

// in prints the matching lines of a place, and reports whether there are any.
func (o *grepOptions) in(
	a *app, p *foundPrinter, at *place, q find.SearchQuery,
) (found bool, err error) {
	last := format.ID{}
	err = at.s.Recall.Grep(at.view, q, func(l find.Line) error {
		if o.ids && found && l.Shown.ID == last {
			return nil
		}
		found, last = true, l.Shown.ID
		switch {
		case a.json:
			return a.answer(document.MatchOf(l))
		case o.ids:
			a.line("%s", l.Shown.ID)
		default:
			return p.line(at, &l, &q)
		}
		return a.out.err
	})
	return found, err
}

// matched returns the line of a match, or where it is long the passage around the match.
func (a *app) matched(l find.Line, p *regexp.Regexp) string {
	text, at := l.Text, l.At
	if most := a.grepRoom(); utf8.RuneCountInString(text) > most {
		match := oneLine(text[at[0]:at[1]])
		text = oneLine(search.Passage(text, at[0], at[1], most))
		// A match with line ends or many blanks is another text there, and one that is too long is cut
		at[0] = strings.Index(text, match)
		if at[1] = at[0] + len(match); at[0] < 0 || match == "" {
			return text
		}
	}
	return oneLine(text[:at[0]]) + a.paint(styleHit, oneLine(text[at[0]:at[1]])) +
		a.painted(text, at[1], p)
}

// painted returns a text from a byte on, with its matches in colour.
func (a *app) painted(text string, from int, p *regexp.Regexp) string {
	var b strings.Builder
	for _, m := range p.FindAllStringIndex(text, -1) {
		if m[0] >= from && m[1] > m[0] {
			b.WriteString(oneLine(text[from:m[0]]) + a.paint(styleHit, oneLine(text[m[0]:m[1]])))
			from = m[1]
		}
	}
	return b.String() + oneLine(text[from:])
}

func roleOrKind(shown *history.Shown) string {
	if shown.Entry.Role != "" {
		return shown.Entry.Role
	}
	return shown.Entry.Kind
}

func (o *grepOptions) query(now time.Time, text string) (find.SearchQuery, error) {
	q, err := o.scopeOptions.query(now)
	if err == nil {
		q.Pattern, err = compilePattern(text, o.fixed, o.ignoreCase)
	}
	return q, err
}

package main

import (
	"os"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/spf13/cobra"
)

// maxError is the most bytes of an error that is piped.
const maxError = 1 << 20

func newFixCmd(a *app) *cobra.Command {
	o := &outcomeOptions{}
	cmd := a.newCmd("fix TEXT | -", func(args []string) error {
		text := strings.Join(args, " ")
		if text == "-" {
			b, err := a.readText("-", maxError)
			if err != nil {
				return err
			}
			text = string(b)
		}
		return o.fix(a, text)
	})
	cmd.Args = between(1, -1)
	o.flags(a, cmd, 3)
	return cmd
}

func (o *outcomeOptions) fix(a *app, text string) error {
	places, err := o.places(a, text)
	if err != nil {
		return err
	}
	list, err := ofAll(a, places, func(p *place) ([]find.Mending, error) {
		return p.s.Recall.Fixes(p.view,
			find.FixQuery{Text: text, Session: o.session, Limit: o.limit})
	}, find.CompareMendings)
	if err != nil {
		return err
	}
	list = newest(list, o.limit)
	p := &foundPrinter{a: a}
	for i := range list {
		m := &list[i].T
		if a.json {
			a.enter(list[i].place)
			a.document(document.MendingOf(m))
			continue
		}
		p.session = "" // each has the line of its session
		if err := p.in(list[i].place, m.Failed.Session, ""); err != nil {
			return err
		}
		a.printMending(m)
	}
	none := "no session has an error like this one"
	if info, err := os.Stat(a.path(text)); err == nil && !info.IsDir() {
		none += ": `ctx fix - < " + text + "` looks for those in the file"
	}
	return a.foundOr(len(list) > 0, none)
}

// printMending prints a failure and what ended it.
func (a *app) printMending(m *find.Mending) {
	var rows []string
	row := func(what string, id format.ID, text string) {
		head := what + strings.Repeat(" ", len("passed ")-len(what))
		short := strings.Repeat(" ", shortLen)
		if !id.IsZero() {
			short = a.paint(styleID, id.Short(shortLen))
		}
		rows = append(rows, "  "+a.paint(styleFaint, head)+short+" "+
			cutWidth(text, a.lineWidth()-len("  passed ")-shortLen-1))
	}
	if m.Result == m.Failed.Entry {
		row("asked", m.Result, "| "+m.Line)
	} else {
		row("failed", m.Failed.Entry, m.Failed.Command)
		row("tool", m.Result, "| "+m.Line)
	}
	said := func() {
		if m.Said != "" {
			row("said", m.SaidBy, m.Said)
		}
	}
	if m.Passed == nil {
		said()
		row("", format.ID{}, "(nothing of the kind passed since)")
	} else {
		for _, edit := range m.Edits[:min(len(m.Edits), maxEdits)] {
			row("edited", format.ID{}, edit)
		}
		if n := len(m.Edits) - maxEdits; n > 0 {
			row("", format.ID{}, "and "+plural(n, "file", "files")+" more")
		}
		said()
		what := "passed"
		if m.Passed.State == digest.Failed {
			what = "other" // failure
		}
		row(what, m.Passed.Entry, m.Passed.Command)
	}
	a.line("%s", strings.Join(rows, "\n"))
}

// maxEdits is how many edited files are named.
const maxEdits = 5

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/view"
)

// defaultBrief is how many tokens a brief has unless --budget says otherwise: about a page.
const defaultBrief = 1000

type briefOptions struct {
	branchFlags
	budget  int
	project bool
}

func newBriefCmd(a *app) *cobra.Command {
	o := &briefOptions{}
	cmd := &cobra.Command{
		Use:   "brief [-s SESSION] [--budget N]",
		Short: "Print where the work of a session stands",
		Long: long(`Prints what somebody needs to go on with a session: what the user wanted, what was decided, the state of
the work (branch, newest commit, newest test run), the files that were changed and read, what fails, the todo
list, and what else was said. Each line begins with the word for its section and the id of the message that it
comes from; `+"`ctx expand ID`"+` gives the exact words. No model is needed, and nothing has to be compacted.

With --project the newest sessions of the project are briefed, the newest first. That is what `+"`ctx render`"+`
prints for a session that does not exist yet.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx brief\n  ctx brief -s work --budget 400 --json",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.Flags().IntVar(&o.budget, "budget", defaultBrief, "at most `N` tokens")
	cmd.Flags().BoolVar(&o.project, "project", false, "brief the newest sessions of the project")
	return cmd
}

func (o *briefOptions) run(a *app) error {
	if o.budget < 1 {
		return usagef("bad --budget: %d: 1 is the least", o.budget)
	}
	if o.project && (o.cmd.Flags().Changed("session") || o.cmd.Flags().Changed("branch")) {
		return usagef("--project goes without --session and --branch")
	}
	s, v, err := a.openView()
	if err != nil {
		return err
	}
	room := view.BriefRoom(o.budget)
	if o.project {
		list, err := s.ProjectBrief(v, room, view.BriefCost)
		if err != nil {
			return err
		}
		return o.printProject(a, list)
	}
	name, branch, err := o.pick(v)
	if err != nil {
		return err
	}
	b, err := s.WorkBrief(v, session.BranchName{Session: name, Branch: branch}, room, view.BriefCost)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(briefDoc(b))
	}
	_, err = fmt.Fprint(a.out, briefLines(b.Lines))
	return err
}

func (o *briefOptions) printProject(a *app, list []session.SessionBrief) error {
	for i := range list {
		if a.json {
			if err := a.printJSON(briefDoc(&list[i])); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(a.out, "session %s\n%s", oneLine(list[i].Session), briefLines(list[i].Lines)); err != nil {
			return err
		}
	}
	return nil
}

func briefLines(lines []brief.Line) string {
	var w strings.Builder
	for _, l := range lines {
		w.WriteString(oneLine(view.BriefText(l)) + "\n")
	}
	return w.String()
}

type briefLineDoc struct {
	Section string `json:"section"`
	Entry   string `json:"entry"`
	Text    string `json:"text"`
}

type briefDocument struct {
	V        int            `json:"v"`
	Session  string         `json:"session"`
	Branch   string         `json:"branch"`
	Messages uint64         `json:"messages"`
	Lines    []briefLineDoc `json:"lines"`
	Tokens   int            `json:"tokens"` // of the lines as text
}

func briefDoc(b *session.SessionBrief) briefDocument {
	d := briefDocument{V: 1, Session: b.Session, Branch: b.Branch, Messages: b.Messages, Lines: []briefLineDoc{}}
	for _, l := range b.Lines {
		d.Lines = append(d.Lines, briefLineDoc{string(l.Section), l.Entry.String(), l.Text})
	}
	d.Tokens = summarize.Tokens(briefLines(b.Lines))
	return d
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/view"
)

// defaultBrief is the default of --budget in tokens: about a page.
const defaultBrief = 1000

// The forms of a brief.
const (
	textFormat     = "text"
	snapshotFormat = "gemini-snapshot"
)

type briefOptions struct {
	branchFlags
	budget  int
	project bool
	rules   bool
	format  string
}

func newBriefCmd(a *app) *cobra.Command {
	o := &briefOptions{}
	cmd := o.newCmd(a, "brief [SESSION] [--budget N]", func([]string) error { return o.run(a) })
	cmd.Flags().IntVar(&o.budget, "budget", defaultBrief, "print at most `N` tokens")
	cmd.Flags().BoolVar(&o.project, "project", false, "print the newest sessions of the project")
	cmd.Flags().StringVar(&o.format, "format", textFormat, "the form: text or gemini-snapshot")
	a.completeWords(cmd, "format", textFormat, snapshotFormat)
	cmd.Flags().BoolVar(&o.rules, "rules", false, "print alone what the user told to heed")
	return cmd
}

func (o *briefOptions) run(a *app) error {
	switch {
	case o.format != textFormat && o.format != snapshotFormat:
		return usagef("unknown --format %.40q: text or gemini-snapshot", o.format)
	case o.format == snapshotFormat && (a.json || o.rules || o.project):
		return usagef("--format %s goes without --json, --rules and --project", o.format)
	}
	one := o.cmd.Flags().Changed("session") || o.cmd.Flags().Changed("branch")
	if o.project && one {
		return usagef("--project goes without --session and --branch")
	}
	s, v, err := a.openView()
	if err != nil {
		return err
	}
	how := view.BriefOptions(o.budget)
	how.Rules = o.rules
	if o.rules && !one {
		b, err := s.Recall.ProjectRules(v, how)
		return o.print(a, b, err)
	}
	if o.project {
		list, err := s.Recall.ProjectBrief(v, "", how)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			a.say("no session has anything to tell yet")
		}
		return o.printProject(a, list)
	}
	name, branch, err := o.pick(s, v)
	if err != nil {
		return err
	}
	at := history.BranchName{Session: name, Branch: branch}
	b, err := s.Recall.WorkBrief(v, at, how)
	if err == nil && o.budget < defaultBrief && !a.json {
		how.Room, how.Short = view.BriefRoom(defaultBrief), brief.IsShort(defaultBrief)
		all, err := s.Recall.WorkBrief(v, at, how)
		if err == nil && len(all.Lines) > len(b.Lines) {
			a.say("ctx: brief: left out: %s that --budget %d prints",
				plural(len(all.Lines)-len(b.Lines), "line", "lines"), defaultBrief)
		}
	}
	return o.print(a, b, err)
}

func (o *briefOptions) print(a *app, b *brief.SessionBrief, err error) error {
	if err != nil {
		return err
	}
	if a.json {
		return answerBrief(a, b)
	}
	if o.format == snapshotFormat {
		return a.forModel(brief.Snapshot(b.Lines, o.budget, summarize.Tokens))
	}
	if len(b.Lines) == 0 && o.rules {
		a.say("no rules: nothing that the user told to heed")
	}
	_, err = fmt.Fprint(a.out, a.fitted(printedBrief(b.Lines)))
	return err
}

func (o *briefOptions) printProject(a *app, list []brief.SessionBrief) error {
	for i := range list {
		if a.json {
			if err := answerBrief(a, &list[i]); err != nil {
				return err
			}
			continue
		}
		a.printf("%s", a.fitted(view.SessionHeading(list[i])+"\n"+printedBrief(list[i].Lines)))
	}
	return nil
}

// printedBrief returns the lines of a brief as they are printed.
func printedBrief(lines []brief.Line) string {
	var w strings.Builder
	for _, l := range view.PlainLines(lines) {
		w.WriteString(l + "\n")
	}
	return w.String()
}

func answerBrief(a *app, b *brief.SessionBrief) error {
	var session, branch any // what is remembered of all sessions is of none
	if b.Session != "" {
		session, branch = b.Session, b.Branch
	}
	return a.answer("session", session, "branch", branch, "messages", b.Messages,
		"lines", b.Lines,
		"tokens", summarize.Tokens(printedBrief(b.Lines)))
}

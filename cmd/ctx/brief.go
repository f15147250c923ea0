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
	cmd := &cobra.Command{
		Use:   "brief [SESSION] [--budget N]",
		Short: "Print the state of the work in a session",
		Long: long(`Prints a summary of the state of a session, for somebody who continues the work:
first what the user told to heed (rules, and words to calls that were refused), the newest prompt
and what came of it, the state of the work (branch, newest commit, newest test run), the files that
were changed and read, what fails, and the todo list. Then come the turns before, the newest first:
each prompt, and below it the beginning of its answer and what else was said. Each line begins with
the name of its section and the id of the message that it comes from. The exact words are printed by
`+"`"+`ctx expand ID`+"`"+`. The command needs no model and no compaction.

The section says whose words a line has. Words of the user are in heed, wanted and decided, or begin
with ">". What a tool printed is in tool, or in failing. What the client wrote of older history is
in recap. All others are words of the agent, or say what it did.

With --rules the command prints alone what the user told to heed, newest first, in all sessions of
the project; with -s, in that session. Only words of your own sessions are rules, never those of a
model or a tool. Of rules about the same the newest holds.

With --format gemini-snapshot it prints the state in the form in which Gemini CLI keeps its own, one
JSON object: open items of the todo list as active_tasks (the newest prompt, if there are none), what
to heed and what was decided as constraints_and_preferences, the newest five turns as recent_arc, and
everything else as discovered_facts. Each text ends with the id of its message. As the first message
of a session, it is what Gemini CLI goes on from.

With --project the command prints the newest sessions of the project, newest first.
`+"`ctx render`"+` prints the same for a session that does not exist yet.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx brief\n  ctx brief --rules\n  ctx brief -s work --budget 400 --json",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.add(a, cmd)
	cmd.Flags().IntVar(&o.budget, "budget", defaultBrief, "print at most `N` tokens")
	cmd.Flags().BoolVar(&o.project, "project", false, "print the newest sessions of the project")
	cmd.Flags().StringVar(&o.format, "format", textFormat, "the form: text or gemini-snapshot")
	a.completeWords(cmd, "format", textFormat, snapshotFormat)
	cmd.Flags().BoolVar(&o.rules, "rules", false, "print alone what the user told to heed")
	return cmd
}

func (o *briefOptions) run(a *app) error {
	if o.budget < 1 {
		return usagef("bad --budget: %d: 1 is the least", o.budget)
	}
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
	how := brief.Options{Room: view.BriefRoom(o.budget), Cost: view.BriefCost}
	how.Short = brief.IsShort(o.budget)
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
		return o.printProject(a, list)
	}
	name, branch, err := o.pick(s, v)
	if err != nil {
		return err
	}
	b, err := s.Recall.WorkBrief(v, history.BranchName{Session: name, Branch: branch}, how)
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
	_, err = fmt.Fprint(a.out, printedBrief(b.Lines))
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
		if _, err := fmt.Fprintf(a.out, "%s\n%s", view.SessionHeading(list[i]),
			printedBrief(list[i].Lines)); err != nil {
			return err
		}
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
	return a.answer("session", b.Session, "branch", b.Branch, "messages", b.Messages,
		"lines", b.Lines,
		"tokens", summarize.Tokens(printedBrief(b.Lines)))
}

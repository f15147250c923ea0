package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

// exportFormat is a form that a branch can be written in for another program.
type exportFormat struct {
	name string
	// flags adds what only this form has.
	flags func(*exportOptions, *cobra.Command)
	// check refuses flags that cannot be, before anything is opened.
	check func(*exportOptions) error
	// write writes a branch, and returns what it reports.
	write func(c context.Context, s *session.Store, v *refs.View, o *exportOptions, name, branch string, w io.Writer) (exported, error)
}

// exportFormats lists the forms.
func exportFormats() []exportFormat { return append(agentFormats(), adkFormat()) }

func exportNames() []string {
	var names []string
	for _, f := range exportFormats() {
		names = append(names, f.name)
	}
	return names
}

// exported is what came of an export. Forms count in it what they have.
type exported struct {
	V        int            `json:"v"`
	Format   string         `json:"format"`
	Session  string         `json:"session"`
	Branch   string         `json:"branch"`
	File     *string        `json:"file"` // null for standard output
	Messages int            `json:"messages"`
	Notes    int            `json:"notes"`
	Events   int            `json:"events"`
	Changed  map[string]int `json:"changed"` // what is there in another form than it was said, by reason
	Left     map[string]int `json:"left"`    // what is not there, by reason
}

type exportOptions struct {
	branchFlags
	format, file string
	adk          adkFlags
	agents       agentFlags
	a            *app
}

func newExportCmd(a *app) *cobra.Command {
	o := &exportOptions{a: a}
	cmd := &cobra.Command{
		Use:   "export [-s SESSION] --format FORMAT",
		Short: "Write a branch for another program",
		Long: long(`Writes what was said in a branch in the form of another program, to standard output or into a file. What was rewound is not in
it; what was amended has its newest words. The same branch gives the same bytes, whenever it is written. What cannot be there as it was said is
counted and told, on standard error, or with -o on standard output.

The forms gemini-cli, claude-code, codex and opencode are the transcripts of these agents: `+"`ctx resume`"+` puts one where the agent finds it, and
`+"`gemini --session-file`"+` reads one. With --compacted one of Gemini CLI has what left the window as its summaries, so that it starts small. jsonl
is a message a line. `+"`ctx import`"+` brings each back; docs/agents says which field is what.

The form adk-events is a session of the Agent Development Kit: one JSON document with the session and its events, or with --lines an event a
line. Calls stand with their results, a call without one has an error in its place, and what no model is meant to see is in the metadata of events
only. `+"`ctx import adk-events`"+` brings it back, message for message. docs/agents/adk.md says which field is what.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx export -s work --format gemini-cli --compacted -o small.jsonl\n  ctx export -s work --format claude-code\n" +
			"  ctx export -s work --format adk-events --time-unit py --agent helper --lines",
		Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), a)
		},
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.format, "format", "", "the form: "+strings.Join(exportNames(), ", "))
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write into `FILE`, and replace it only when all is written")
	for _, f := range exportFormats() {
		f.flags(o, cmd)
	}
	completeFlag(cmd, "session", a.completeSessions())
	completeFlag(cmd, "format", cobra.FixedCompletions(exportNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *exportOptions) run(c context.Context, a *app) error {
	form, err := o.form()
	if err != nil {
		return err
	}
	s, view, err := a.openView()
	if err != nil {
		return err
	}
	name, branch, _, err := o.tip(view)
	if err != nil {
		return err
	}
	write := func(w io.Writer) (exported, error) { return form.write(c, s, view, o, name, branch, w) }
	var done exported
	if o.file == "" || o.file == "-" {
		done, err = write(a.out)
	} else {
		done, err = o.intoFile(a, s, write)
	}
	if err != nil {
		return err
	}
	done.V, done.Format, done.Session, done.Branch = 1, form.name, name, branch
	return o.report(a, done)
}

func (o *exportOptions) form() (exportFormat, error) {
	for _, f := range exportFormats() {
		if f.name == o.format {
			return f, f.check(o)
		}
	}
	if o.format == "" {
		return exportFormat{}, usagef("no --format: %s are the ones there are", strings.Join(exportNames(), ", "))
	}
	return exportFormat{}, usagef("unknown format %.80q: %s are the ones there are", o.format, strings.Join(exportNames(), ", "))
}

// intoFile writes a file that is there when it is whole, and not before.
func (o *exportOptions) intoFile(a *app, s *session.Store, write func(io.Writer) (exported, error)) (exported, error) {
	path := a.path(o.file)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return exported{}, usagef("cannot write %q: it is a directory", o.file)
	}
	temp := s.FS.NewTemp(filepath.Dir(path))
	defer temp.Discard()
	out := bufio.NewWriterSize(temp, 1<<20)
	done, err := write(out)
	if err == nil {
		err = errors.Join(out.Flush(), temp.Sync())
	}
	if err == nil {
		err = temp.Rename(path)
	}
	done.File = &o.file
	return done, err
}

// report tells what was written. Where the data itself goes to standard output, only what a reader
// may miss is told.
func (o *exportOptions) report(a *app, d exported) error {
	if d.Changed == nil {
		d.Changed = map[string]int{}
	}
	if d.Left == nil {
		d.Left = map[string]int{}
	}
	if total(d.Changed) > 0 {
		a.say("ctx: export: %s: in another form: %s", d.Session, counts(d.Changed))
	}
	if total(d.Left) > 0 {
		a.say("ctx: export: %s: left out: %s", d.Session, counts(d.Left))
	}
	switch {
	case d.File == nil:
	case a.json:
		return a.printJSON(d)
	default:
		a.line("%s: %s", oneLine(*d.File), tally(
			counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"}, counted{d.Events, "event", "events"},
		))
	}
	return nil
}

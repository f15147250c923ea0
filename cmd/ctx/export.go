package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/session"
)

// exportFormat is a form that a branch can be written in for another program.
type exportFormat struct {
	name string
	// flags adds what only this form has.
	flags func(*exportOptions, *cobra.Command)
	// check refuses flags that cannot be, before anything is opened.
	check func(*exportOptions) error
	// write writes a branch, and returns what it reports.
	write func(c context.Context, o *exportOptions, b openBranch, w io.Writer) (exported, error)
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
	Format   string  `json:"format"`
	Session  string  `json:"session"`
	Branch   string  `json:"branch"`
	File     *string `json:"file"` // null for standard output
	Messages int     `json:"messages"`
	Notes    int     `json:"notes"`
	Events   int     `json:"events"`
	losses
}

// losses counts what an export or a resume does not have as it was said.
type losses struct {
	Changed counter `json:"changed"` // what has another form, by reason
	Left    counter `json:"left"`    // what is missing, by reason
}

// counter is a number of each name. Without a name it is {} in JSON, not null.
type counter map[string]int

// MarshalJSON implements json.Marshaler.
func (c counter) MarshalJSON() ([]byte, error) {
	if c == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(map[string]int(c))
}

// say says what was lost of a session.
func (l losses) say(a *app, command, session string) {
	if total(l.Changed) > 0 {
		a.say("ctx: %s: %s: in another form: %s", command, session, counts(l.Changed))
	}
	if total(l.Left) > 0 {
		a.say("ctx: %s: %s: left out: %s", command, session, counts(l.Left))
	}
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
		RunE: func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.add(a, cmd)
	cmd.Flags().StringVar(&o.format, "format", "", "the form: "+strings.Join(exportNames(), ", "))
	cmd.Flags().StringVarP(&o.file, "output", "o", "", "write into `FILE`, and replace it only when all is written")
	for _, f := range exportFormats() {
		f.flags(o, cmd)
	}
	completeWords(cmd, "format", exportNames()...)
	return cmd
}

func (o *exportOptions) run(a *app) error {
	form, err := o.form()
	if err != nil {
		return err
	}
	b, err := o.openTip(a)
	if err != nil {
		return err
	}
	write := func(w io.Writer) (exported, error) { return form.write(a.c, o, b, w) }
	var done exported
	if o.file == "" || o.file == "-" {
		done, err = write(a.out)
	} else {
		done, err = o.intoFile(a, b.s, write)
	}
	if err != nil {
		return err
	}
	done.Format, done.Session, done.Branch = form.name, b.name, b.branch
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
	var done exported
	err := writeWhole(s.FS, path, func(w io.Writer) (err error) {
		done, err = write(w)
		return err
	})
	done.File = &o.file
	return done, err
}

// writeWhole writes a file that has its name only when it is complete and durable.
func writeWhole(fs *durable.FS, path string, write func(io.Writer) error) error {
	temp := fs.NewTemp(filepath.Dir(path))
	defer temp.Discard()
	out := bufio.NewWriterSize(temp, 1<<20)
	err := write(out)
	if err == nil {
		err = errors.Join(out.Flush(), temp.Sync())
	}
	if err == nil {
		err = temp.Rename(path)
	}
	return err
}

// report tells what was written. Where the data itself goes to standard output, only what a reader
// may miss is told.
func (o *exportOptions) report(a *app, d exported) error {
	d.say(a, "export", d.Session)
	switch {
	case d.File == nil:
	case a.json:
		return a.answer(d)
	default:
		a.line("%s: %s", oneLine(*d.File), tally(
			counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"}, counted{d.Events, "event", "events"},
		))
	}
	return nil
}

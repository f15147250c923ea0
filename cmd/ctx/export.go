package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemini-ctx/ctx/internal/agent/adk"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/exporter"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// exportFormat is a format of another program that a branch can be written in.
type exportFormat struct {
	name  string
	takes []string // the flags that it has, and not all formats
	// write writes a branch. Not every format counts everything.
	write func(o *exportOptions, b openBranch, w io.Writer) (transcript.Written, error)
}

// exportFormats lists the formats.
func exportFormats() []exportFormat {
	return append(append(agentFormats(), pageFormats()...), adkFormat())
}

func exportNames() []string { return lists.Map(exportFormats(), exportFormat.title) }

func (f exportFormat) title() string { return f.name }

// exported is the result of an export.
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
		a.say("ctx: %s: %s: not as it was said: %s", command, session, counts(l.Changed))
	}
	if total(l.Left) > 0 {
		a.say("ctx: %s: %s: left out: %s", command, session, counts(l.Left))
	}
}

type exportOptions struct {
	branchFlags
	format, file string
	adk          exporter.ADKOptions
	project      string // of agents, as compacted
	compacted    bool
	most         int // of pages, as bare
	bare         bool
	a            *app
}

func newExportCmd(a *app) *cobra.Command {
	o := &exportOptions{a: a}
	cmd := o.newCmd(a, "export [SESSION] --format FORMAT", func([]string) error { return o.run(a) })
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "the format: "+strings.Join(exportNames(), ", "))
	f.StringVarP(&o.file, "output", "o", "", "write into `FILE`, once it is complete")
	f.StringVar(&o.project, "project", "", "for an agent: the project's `DIR` (default: the store's)")
	f.BoolVar(&o.compacted, "compacted", false, "a brief of 4,000 tokens for what left the window")
	f.IntVar(&o.most, "max-bytes", 0, "for html: pages of at most `N` bytes each; 0 is one page")
	f.BoolVar(&o.bare, "no-entries", false, "for html: not for ctx import html")
	o.addADK(cmd)
	a.completeWords(cmd, "format", exportNames()...)
	a.completeWords(cmd, "time-unit", string(adk.JavaScript), string(adk.Python))
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
	d := exported{Format: form.name, Session: b.name, Branch: b.branch}
	write := func(w io.Writer) error {
		done, err := form.write(o, b, w)
		d.Messages, d.Notes, d.Events = done.Messages, done.Notes, done.Records
		d.losses = losses{done.Changed, done.Left}
		return err
	}
	if o.file == "" || o.file == "-" {
		err = write(a.out)
	} else {
		d.File = &o.file
		err = writeWhole(b.s.FS, a.path(o.file), write)
	}
	if err != nil {
		return err
	}
	return o.report(a, d)
}

func (o *exportOptions) form() (exportFormat, error) {
	for _, f := range exportFormats() {
		if f.name == o.format || f.name == "md" && o.format == "markdown" {
			return f, cmp.Or(o.taken(f), o.check())
		}
	}
	what := "no --format"
	if o.format != "" {
		what = fmt.Sprintf("unknown format %.80q", o.format)
	}
	return exportFormat{}, withHint(
		usagef("%s: the formats are %s", what, strings.Join(exportNames(), ", ")),
		"`ctx export --format md SESSION` prints what people read, and html a page")
}

// taken refuses flags of other formats.
func (o *exportOptions) taken(form exportFormat) (err error) {
	o.cmd.Flags().Visit(func(flag *pflag.Flag) {
		by := slices.DeleteFunc(exportFormats(), func(f exportFormat) bool {
			return !slices.Contains(f.takes, flag.Name)
		})
		if len(by) > 0 && !slices.Contains(form.takes, flag.Name) {
			err = withHint(usagef("--%s does not go with --format %s", flag.Name, form.name),
				"it goes with %s", strings.Join(lists.Map(by, exportFormat.title), ", "))
		}
	})
	return err
}

// check refuses bad values of flags, before the store is opened.
func (o *exportOptions) check() error {
	form, _ := catalog.Named(o.format)
	_, badUnit := adk.ParseUnit(string(o.adk.Unit))
	switch {
	case badUnit != nil:
		return usagef("bad --time-unit: %.80q: %v", o.adk.Unit, badUnit)
	case o.adk.Agent == "" || o.adk.Agent == "user":
		return usagef("bad --agent: %q: an agent needs a name other than user", o.adk.Agent)
	case o.most != 0 && o.most < leastPage:
		return usagef("--max-bytes %d: a page has at least %d bytes", o.most, leastPage)
	case o.compacted && form.ResumeCommand == nil:
		return usagef("--compacted goes with the format of an agent: %s",
			strings.Join(catalog.Resumable(), ", "))
	}
	return nil
}

// writeWhole writes a file that has its name only when it is complete and durable.
func writeWhole(fs *durable.FS, path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("cannot write %q: it is a directory", path)
	}
	temp := fs.NewTemp(filepath.Dir(path))
	defer temp.Discard()
	out := bufio.NewWriterSize(temp, 1<<20)
	err := write(out)
	for _, step := range []func() error{out.Flush, temp.Sync,
		func() error { return temp.Rename(path) }} {
		if err == nil {
			err = step()
		}
	}
	return err
}

// report reports what was written. If the data goes to standard output, it reports only losses.
func (o *exportOptions) report(a *app, d exported) error {
	d.say(a, "export", d.Session)
	switch {
	case d.File == nil:
	case a.json:
		return a.answer(d)
	default:
		a.line("%s: %s", oneLine(*d.File), tally(
			counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"},
			counted{d.Events, "event", "events"},
		))
	}
	return nil
}

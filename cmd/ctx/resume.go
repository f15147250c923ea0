package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

type resumeOptions struct {
	branchFlags
	to, project, file string
	compacted, dryRun bool
}

func newResumeCmd(a *app) *cobra.Command {
	o := &resumeOptions{}
	agents := catalog.Resumable()
	cmd := o.newCmd(a, "resume [SESSION] [--to AGENT]", func([]string) error {
		if o.to == "" && !o.cmd.Flags().Changed("to") {
			if err := o.ask(a); err != nil {
				return err
			}
		}
		return o.run(a)
	})
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "the agent: "+strings.Join(agents, ", "))
	f.StringVar(&o.project, "project", "", "the `DIR` to start in (default: the store's project)")
	f.StringVarP(&o.file, "output", "o", "", "write into `FILE` instead")
	f.BoolVar(&o.compacted, "compacted", false, "a brief of 4,000 tokens for what left the window")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the path of the file, and write nothing")
	a.completeWords(cmd, "to", agents...)
	return cmd
}

// wordsAnd joins words for a sentence.
func wordsAnd(words []string) string {
	n := len(words) - 1
	if n < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n], ", ") + " and " + words[n]
}

func (o *resumeOptions) form() (catalog.Agent, error) {
	for _, name := range catalog.Resumable() { // as its program is called
		if strings.HasPrefix(name, o.to+"-") {
			o.to = name
		}
	}
	if f, _ := catalog.Named(o.to); f.ResumeCommand != nil {
		return f, nil
	}
	if f, ok := catalog.Named(o.to); ok {
		return catalog.Agent{},
			usagef("%s cannot be handed a session: the agents are %s", f.Title,
				wordsAnd(catalog.Resumable()))
	}
	return catalog.Agent{},
		usagef("unknown agent %.80q: the agents are %s", o.to, wordsAnd(catalog.Resumable()))
}

// resumeDoc is the result of a resume.
type resumeDoc struct {
	Agent    string `json:"agent"`
	Session  string `json:"session"`
	Branch   string `json:"branch"`
	ID       string `json:"id"` // the agent's id of the session
	File     string `json:"file"`
	Known    bool   `json:"known"` // the file was there before
	Messages int    `json:"messages"`
	Notes    int    `json:"notes"`
	losses
	Dir     string   `json:"dir"`     // the directory to start the agent in
	Command []string `json:"command"` // that starts the agent
	// That starts it, where the command only brings the session in
	Then []string `json:"then,omitempty"`

	titled string // the session, for a person
}

func (o *resumeOptions) run(a *app) error {
	form, err := o.form()
	if err != nil {
		return err
	}
	b, err := o.openTip(a)
	if err != nil {
		return err
	}
	if label, shared := history.Owner(b.view, b.name); shared {
		return withHint(
			fmt.Errorf("%w: session %q is %s's: what is said next could not come back into it",
				history.ErrRefused, oneLine(b.name), label),
			"`ctx session fork %s` begins a session of your own there", oneLine(b.name))
	}
	x := &agentExport{openBranch: b, form: form, dir: cmp.Or(o.project, a.projectDir(b.s)),
		compacted: o.compacted, move: true}
	of := []string{form.Name, b.s.ID, b.name, b.branch, b.tip.ID.String(), x.dir,
		fmt.Sprint(o.compacted)}
	if x.id = form.NewID(of...); format.IsUUID(x.id) {
		x.id = transcript.SessionUUID(b.tip.ID.String(), b.name, of...)
	}
	newest, err := x.newest()
	if err != nil {
		return err
	}
	file := a.path(o.file)
	switch o.file {
	case "-":
		return withHint(usagef("a session is continued from a file: -o - names none"),
			"`ctx export --format %s` prints it", form.Name)
	case "":
		if file, err = a.placeOf(&form, x.id, x.dir, transcript.Stamp(newest)); err != nil {
			return err
		}
	}
	d := resumeDoc{Agent: form.Name, Session: b.name, Branch: b.branch, ID: x.id, File: file,
		Dir: x.dir, Command: form.ResumeCommand(x.id, file),
		titled: oneLine(b.s.Recall.Titled(b.view, b.name))}
	if form.Then != nil {
		d.Then = form.Then(x.id)
	}
	if form.Model != nil {
		x.model = form.Model(a.agentEnv(), x.dir)
	}
	if !o.dryRun {
		if err := x.resume(a.c, &d); err != nil {
			return err
		}
	}
	return o.report(a, d)
}

// placeOf returns the file in which an agent finds a session. when is the time of its newest
// message.
func (a *app) placeOf(f *catalog.Agent, id, dir, when string) (file string, err error) {
	root := f.Root(a.agentEnv())
	if root == "" {
		err = errors.New(
			"cannot find where " + f.Name + " keeps its sessions: there is no home directory")
	} else {
		file, err = f.Place(root, id, dir, when)
	}
	if err != nil {
		return "", withHint(err, "-o FILE says where to write")
	}
	return file, nil
}

// resume writes the transcript. It reads the transcript back before the agent can find it.
func (x *agentExport) resume(c context.Context, d *resumeDoc) error {
	var b bytes.Buffer
	var want spoken
	done, err := x.write(c, &b, want.add)
	if err != nil {
		return err
	}
	d.Messages, d.Notes, d.losses = done.Messages, done.Notes, losses{done.Changed, done.Left}
	if err := readBack(&x.form, b.Bytes(), &want); err != nil {
		return fmt.Errorf("cannot resume %q: what was written for %s does not read back: %w",
			d.Session, d.Agent, err)
	}
	if was, err := durable.ReadFile(d.File); err == nil {
		if !bytes.HasPrefix(was, b.Bytes()) {
			return fmt.Errorf("%w: cannot write %q: another session is there",
				history.ErrStale, d.File)
		}
		d.Known = true // the agent may have added to it
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.File), 0o700); err != nil {
		return err
	}
	err = writeWhole(x.s.FS, d.File, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	written, err := durable.ReadFile(d.File)
	if err == nil && !bytes.Equal(written, b.Bytes()) {
		err = fmt.Errorf("%q is not what was written", d.File)
	}
	return err
}

// spoken has a digest of each piece of messages that every agent can have.
type spoken struct{ pieces []string }

func (s *spoken) add(m *transcript.Message) {
	if m.Note || m.Gone != "" {
		return
	}
	for _, p := range transcript.PartsOf(m) {
		piece := ""
		switch p.Kind {
		case transcript.PartText:
			if strings.TrimSpace(p.Text) != "" {
				piece = "said " + m.Role + " " + p.Text
			}
		case transcript.PartCall:
			piece = "call " + p.ID + " " + p.Tool + " " + string(jsonvalue.Canonical(p.Args))
		case transcript.PartResult:
			text, failed := p.Said()
			piece = fmt.Sprintf("result %s %v %s", p.ID, failed, text)
		}
		if piece != "" {
			s.pieces = append(s.pieces, transcript.Derive(32, piece))
		}
	}
}

// readBack reads a transcript as an import does, and compares its pieces with want.
func readBack(f *catalog.Agent, data []byte, want *spoken) error {
	var got spoken
	stats, err := f.Read("", bytes.NewReader(data), func(st transcript.Step) error {
		if st.Kind != transcript.KindMessage {
			return errors.New("an unexpected rewind")
		}
		got.add(&st.Message)
		return nil
	})
	if err == nil && total(stats.Skipped) > 0 {
		err = fmt.Errorf("skipped: %s", counts(stats.Skipped))
	}
	if err != nil {
		return err
	}
	return got.same(want)
}

func (s *spoken) same(want *spoken) error {
	a, b := slices.Sorted(slices.Values(s.pieces)), slices.Sorted(slices.Values(want.pieces))
	if !slices.Equal(a, b) {
		return fmt.Errorf("%d pieces were said, and %d come back", len(b), len(a))
	}
	return nil
}

func (o *resumeOptions) report(a *app, d resumeDoc) error {
	d.say(a, "resume", d.titled)
	if a.json {
		return a.answer(d)
	}
	a.line("%s, to go on in %s", d.titled, d.Agent)
	switch {
	case o.dryRun:
		a.line("would write %s", oneLine(d.File))
	case d.Known:
		a.line("%s: there already", oneLine(d.File))
	default:
		a.line("%s: %s, read back", oneLine(d.File), tally(
			counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"}))
	}
	line := "cd " + shellWord(d.Dir) + " && " + shellCommand(d.Command)
	if len(d.Then) > 0 {
		line += " && " + shellCommand(d.Then)
	}
	if o.file == "" || slices.Contains(d.Command, d.File) {
		a.pathLine(line) // else the agent does not find the file
	}
	return nil
}

func shellCommand(words []string) string {
	return strings.Join(lists.Map(words, shellWord), " ")
}

// shellWord quotes a word for a shell if it needs quotes.
func shellWord(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') &&
			!strings.ContainsRune("_-./:=,@+", r)
	}) < 0
	if plain {
		return s
	}
	if s == oneLine(s) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder // a name with a line feed, say, stays what it is, on one line
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		if c := s[:n]; c != "'" && c != `\` && c == oneLine(c) {
			b.WriteString(c)
		} else {
			for i := range n {
				fmt.Fprintf(&b, `\%03o`, c[i])
			}
		}
		s = s[n:]
	}
	return "$'" + b.String() + "'"
}

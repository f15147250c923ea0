package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/agent/catalog"
	"github.com/gemini-ctx/ctx/internal/agent/geminicli"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

type resumeOptions struct {
	branchFlags
	to, project, file string
	compacted, dryRun bool
}

func newResumeCmd(a *app) *cobra.Command {
	o := &resumeOptions{}
	agents := catalog.Resumable()
	cmd := &cobra.Command{
		Use:   "resume [-s SESSION] --to AGENT",
		Short: "Hand a session to an agent, to go on with it there",
		Long: long(`Writes what was said in a branch as a transcript where the agent finds it, under an id of its own, reads it back to see that all of it is
there, and prints the command with which the agent goes on. Nothing that the agent has is touched. What is said there then comes back into the same
session with `+"`ctx import`"+`. Doing it again without anything new writes nothing.

Agents: gemini-cli, claude-code, codex, opencode. opencode takes it by `+"`opencode import`"+`, and Gemini CLI by --session-file; -o says where that file is
to be. With --compacted, for gemini-cli, what has left the window is there as its summaries. docs/agents says what each agent cannot have.`,
			exitNoStore, exitStale, exitCorrupt, exitNotFound),
		Example: "  ctx resume -s work --to claude-code\n  ctx resume --to gemini-cli --compacted",
		Args:    between(0, 0),
		RunE:    func(*cobra.Command, []string) error { return o.run(a) },
	}
	o.add(a, cmd)
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "the agent: "+strings.Join(agents, ", "))
	f.StringVar(&o.project, "project", "", "the directory that the agent is to be started in (default: the store's project)")
	f.StringVarP(&o.file, "output", "o", "", "write into `FILE` instead")
	f.BoolVar(&o.compacted, "compacted", false, "for gemini-cli: what has left the window as its summaries, in one message")
	f.BoolVar(&o.dryRun, "dry-run", false, "print where it would be written, and write nothing")
	completeWords(cmd, "to", agents...)
	return cmd
}

func (o *resumeOptions) form() (catalog.Agent, error) {
	if o.compacted && o.to != geminicli.Agent {
		return catalog.Agent{}, usagef("--compacted goes with --to %s", geminicli.Agent)
	}
	if f, _ := catalog.Named(o.to); f.ResumeCommand != nil {
		return f, nil
	}
	if o.to == "" {
		return catalog.Agent{}, usagef("no --to: gemini-cli, claude-code, codex and opencode are the agents")
	}
	return catalog.Agent{}, usagef("unknown agent %.80q: gemini-cli, claude-code, codex and opencode are the agents", o.to)
}

// resumeDoc is what came of it.
type resumeDoc struct {
	Agent    string `json:"agent"`
	Session  string `json:"session"`
	Branch   string `json:"branch"`
	ID       string `json:"id"` // of the session, for the agent
	File     string `json:"file"`
	Known    bool   `json:"known"` // it was there already
	Messages int    `json:"messages"`
	Notes    int    `json:"notes"`
	losses
	Dir     string   `json:"dir"`     // where to start the agent
	Command []string `json:"command"` // with which it goes on
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
	x := &agentExport{openBranch: b, form: form, dir: o.project, compacted: o.compacted, move: true}
	if x.dir == "" {
		x.dir = a.projectDir(b.s)
	}
	x.id = form.NewID(form.Name, b.s.ID, b.name, b.branch, b.tip.ID.String(), x.dir, fmt.Sprint(o.compacted))
	newest, err := x.newest()
	if err != nil {
		return err
	}
	file := a.path(o.file)
	if o.file == "" {
		if file, err = a.placeOf(&form, x.id, x.dir, transcript.Stamp(newest)); err != nil {
			return err
		}
	}
	d := resumeDoc{Agent: form.Name, Session: b.name, Branch: b.branch, ID: x.id, File: file, Dir: x.dir, Command: form.ResumeCommand(x.id, file)}
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
		err = errors.New("cannot find where " + f.Name + " keeps its sessions: there is no home directory")
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
		return fmt.Errorf("cannot resume %q: what was written for %s does not read back: %w", d.Session, d.Agent, err)
	}
	if was, err := durable.ReadFile(d.File); err == nil {
		if !bytes.HasPrefix(was, b.Bytes()) {
			return fmt.Errorf("%w: cannot write %q: another session is there", history.ErrStale, d.File)
		}
		d.Known = true // and the agent may have gone on with it
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

// spoken is what was said, piece by piece, as far as every agent has a form for it.
type spoken struct{ pieces []string }

func (s *spoken) add(m *transcript.Message) {
	if m.Note || m.Gone != "" {
		return
	}
	for _, p := range transcript.PartsOf(m) {
		piece := ""
		switch p.Kind {
		case transcript.PartText:
			if p.Text != "" {
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

// readBack reads a transcript as an import would, and compares what was said.
func readBack(f *catalog.Agent, data []byte, want *spoken) error {
	var got spoken
	stats, err := f.Read("", bytes.NewReader(data), func(st transcript.Step) error {
		if st.Kind != transcript.KindMessage {
			return errors.New("a rewind that is none")
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
	d.say(a, "resume", d.Session)
	if a.json {
		return a.answer(d)
	}
	switch {
	case o.dryRun:
		a.line("would write %s", oneLine(d.File))
	case d.Known:
		a.line("%s: there already", oneLine(d.File))
	default:
		a.line("%s: %s, read back", oneLine(d.File), tally(counted{d.Messages, "message", "messages"}, counted{d.Notes, "note", "notes"}))
	}
	a.pathLine("cd " + shellWord(d.Dir) + " && " + shellCommand(d.Command))
	return nil
}

func shellCommand(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return strings.Join(out, " ")
}

// shellWord is a word for a shell: quoted where it has to be.
func shellWord(s string) string {
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("_-./:=,@+", r)
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(oneLine(s), "'", `'\''`) + "'"
}

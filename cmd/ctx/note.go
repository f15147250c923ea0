package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/message"
)

type noteOptions struct {
	branchFlags
	kind, supersedes string
	evidence         []string
}

func newNoteCmd(a *app) *cobra.Command {
	o := &noteOptions{}
	cmd := o.newCmd(a, "note [--kind KIND] [--supersedes ID] TEXT",
		o.onBranch(a, func(b openBranch, args []string) error { return o.run(a, b, args) }))
	cmd.Args = between(1, 1000)
	f := cmd.Flags()
	f.StringVar(&o.kind, "kind", message.Finding,
		"the kind: "+strings.Join(message.NoteKinds(), ", "))
	a.completeWords(cmd, "kind", message.NoteKinds()...)
	f.StringVar(&o.supersedes, "supersedes", "", "the note `ID` holds no more")
	f.StringArrayVar(&o.evidence, "evidence", nil, "the message `ID` shows it")
	return cmd
}

func (o *noteOptions) run(a *app, b openBranch, args []string) error {
	n := message.Note{Kind: o.kind, Text: strings.Join(args, " ")}
	if !slices.Contains(message.NoteKinds(), n.Kind) {
		return usagef("unknown kind %.40q: the kinds are %s", n.Kind,
			strings.Join(message.NoteKinds(), ", "))
	}
	if n.Text == "-" {
		in, err := a.readText("-", maxNote+1)
		if err != nil {
			return err
		}
		n.Text = string(in)
	}
	n.Text = strings.TrimSpace(n.Text)
	switch {
	case n.Text == "":
		return usagef("empty note")
	case slices.Contains([]string{"list", "ls", "show", "rm"}, n.Text):
		return withHint(usagef("%q is no note: a note is a sentence or two", n.Text),
			"`ctx brief` has the notes, and `ctx undo` takes the last one back")
	case len(n.Text) > maxNote:
		return usagef("note of more than %d bytes: a note is a sentence or two", maxNote)
	}
	for _, of := range append([]string{o.supersedes}, o.evidence...) {
		if of == "" {
			continue
		}
		id, err := b.s.Clusters.ResolveEntry(b.view, of)
		if err != nil {
			return err
		}
		if of == o.supersedes && n.Supersedes == "" {
			n.Supersedes = id.String()
		} else {
			n.Evidence = append(n.Evidence, id.String())
		}
	}
	role := "user"
	if agent := a.agentAround(); agent != "" {
		role = "model"
		a.say("noted as the agent's, since %s runs this shell", agent)
	}
	done, found, err := b.s.Conversation.Remember(a.c, b.name, b.branch, n, role, a.now())
	if errors.Is(err, conversation.ErrNoNote) {
		return usagef("%.40q is no note: only a note can be superseded", o.supersedes)
	}
	if err != nil {
		return err
	}
	a.sayCleaned("note", found)
	return a.result(fields(done), "%v", done.ID)
}

// maxNote is the most bytes of a note. What is longer is a document, and nobody reads it again.
const maxNote = 2000

// agentAround returns the agent in whose shell the command runs; "" for none. Agents set these
// variables for their commands; AI_AGENT is what several of them have agreed on.
func (a *app) agentAround() string {
	for _, of := range [][2]string{{"CLAUDECODE", "Claude Code"}, {"CODEX_THREAD_ID", "Codex CLI"},
		{"GEMINI_CLI", "Gemini CLI"}, {"OPENCODE", "opencode"}, {"QWEN_CODE", "Qwen Code"},
		{"CURSOR_AGENT", "Cursor"}, {"COPILOT_CLI", "GitHub Copilot CLI"}, {"PI_CODING_AGENT", "Pi"},
		{"GOOSE_TERMINAL", "Goose"}, {"CRUSH", "Crush"}, {"AI_AGENT", "an agent"}} {
		if a.getenv(of[0]) != "" {
			return of[1]
		}
	}
	return ""
}

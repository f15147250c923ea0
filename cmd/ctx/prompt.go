package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/spf13/cobra"
)

type promptOptions struct {
	branchFlags
	statusLine bool
}

func newPromptCmd(a *app) *cobra.Command {
	o := &promptOptions{}
	cmd := o.newCmd(a, "prompt [-s SESSION]", func([]string) error { return o.run(a) })
	cmd.Flags().BoolVar(&o.statusLine, "status-line", false,
		"read the JSON of Claude Code from standard input")
	return cmd
}

// maxStatusLine is the most bytes of what an agent says.
const maxStatusLine = 1 << 20

func (o *promptOptions) run(a *app) error {
	if o.statusLine {
		var said map[string]any
		b, err := io.ReadAll(io.LimitReader(a.stdin, maxStatusLine))
		if err != nil || json.Unmarshal(b, &said) != nil {
			return nil
		}
		if o.session, _ = said["session_id"].(string); o.session == "" {
			return nil
		}
	}
	b, err := o.openTip(a)
	switch {
	case errors.Is(err, repo.ErrNoStore), errors.Is(err, history.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	e, err := b.s.History.Header(b.tip.ID)
	if err != nil {
		return err
	}
	name := promptName(b.name)
	if b.branch != history.MainBranch {
		name += "/" + b.branch
	}
	if a.json {
		return a.answer("session", b.name, "branch", b.branch, "seq", e.Seq, "tail",
			e.Seq-b.tip.Through)
	}
	a.line("%s #%d ~%d", a.paint(styleID, oneLine(name)), e.Seq, e.Seq-b.tip.Through)
	return nil
}

// promptName shortens the name of a session that a program gave: it is long, and nobody reads it.
func promptName(name string) string {
	if !strings.Contains(name, "@") {
		return sessions.ShortNames([]string{name})[name]
	}
	return name
}

package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sessions"
	"github.com/gemini-ctx/ctx/internal/view"
	"github.com/gemini-ctx/ctx/refs"
)

type renderOptions struct {
	branchFlags
	budget int
	format string
	query  string
	expand []string
	stable bool
}

func newRenderCmd(a *app) *cobra.Command {
	o := &renderOptions{}
	cmd := o.newCmd(a, "render [-s SESSION] [--budget N] [--query QUESTION]",
		func([]string) error { return o.run(a) })
	o.whole = true // a session that does not exist yet is given what the project has
	f := cmd.Flags()
	f.IntVar(&o.budget, "budget", 0, "print at most `N` tokens")
	f.BoolVar(&o.stable, "stable", false, "with --budget: grow only at the end, for prompt caches")
	f.StringVar(&o.query, "query", "", "also print what answers `QUESTION`")
	f.StringVar(&o.format, "format", "text", "text, json, gemini, openai or anthropic")
	f.StringArrayVar(&o.expand, "expand", nil, "print the messages of cluster `ID`")
	a.completeWords(cmd, "format", "text", "json", "gemini", "openai", "anthropic")
	return cmd
}

func (o *renderOptions) run(a *app) error {
	options, err := o.options(a)
	if err != nil {
		return err
	}
	s, v, err := a.openView()
	if err != nil {
		return err
	}
	in, err := o.input(a, s, v, options)
	if err != nil {
		return err
	}
	if o.query != "" {
		if err := s.Recall.AddMatches(v, &in, o.query); err != nil {
			return err
		}
	}
	if options.Expand, err = s.Recall.Verbatim(a.c, v, o.expand); err != nil {
		return err
	}
	out, err := view.Render(in, options)
	if err != nil {
		return err
	}
	if len(out.Dropped) > 0 {
		a.say("ctx: render: left out: %s", document.Dropped(out.Dropped))
	}
	if len(out.Bytes) == 0 && len(out.Dropped) > 0 {
		return &exitError{exitFailed} // the budget is too small for anything
	}
	if a.tell != nil && options.Format == view.JSON {
		a.tell(a.command, nil, out.Bytes)
	}
	return a.forModel(string(out.Bytes))
}

// input returns the branch to render. For a session that does not exist yet, it returns the
// project.
func (o *renderOptions) input(
	a *app, s *session.Store, v *refs.View, options view.Options,
) (view.Input, error) {
	name, branch, _, err := o.tip(s, v)
	if err == nil && o.stable {
		return s.Recall.StableInput(v, name, branch, options)
	}
	if err == nil {
		in, err := s.Recall.RenderInput(v, name, branch, options)
		if err == nil {
			err = s.Recall.AddProject(v, &in, options.Budget)
		}
		return in, err
	}
	if !errors.Is(err, history.ErrNotFound) || branch != history.MainBranch || o.session == "" ||
		o.argument || len(o.expand)+len(o.query) > 0 {
		return view.Input{}, err
	}
	// Nobody names a new session by where HEAD is, a tag, several words, or the beginning of another's
	// number.
	whole, known := s.Recall.Named(v, name)
	several := (*history.AmbiguousNameError)(nil)
	sign := sessions.IsSign(name) || name[0] == '#'
	words := sign || strings.Contains(name, " ")
	switch {
	case sign && known != nil, words && errors.As(known, &several):
		return view.Input{}, known
	case known == nil && whole != name &&
		(words || format.IsUUID(whole) && strings.HasPrefix(whole, name)):
		o.session = whole
		return o.input(a, s, v, options)
	}
	in, projectErr := s.Recall.ProjectInput(v, name, options.Budget)
	if projectErr != nil {
		return in, projectErr
	}
	if len(in.Epoch) == 0 {
		return in, err
	}
	a.say("ctx: render: no session %q yet: printing the brief of the project", name)
	if known == nil && whole != name {
		a.say("hint: `ctx render %q` prints session %s", oneLine(name), oneLine(whole))
	}
	return in, nil
}

func (o *renderOptions) options(a *app) (view.Options, error) {
	if a.json && !o.cmd.Flags().Changed("format") {
		o.format = string(view.JSON)
	}
	if o.stable && (o.budget == 0 || o.query != "" || len(o.expand) > 0) {
		return view.Options{}, usagef("--stable needs --budget, and goes with no --query and no --expand")
	}
	f, err := view.ParseFormat(o.format)
	if err != nil {
		return view.Options{}, usagef("bad --format: %v", err)
	}
	return view.Options{Budget: o.budget, Format: f}, nil
}

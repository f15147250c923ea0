package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/document"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/view"
)

type renderOptions struct {
	branchFlags
	budget int
	format string
	query  string
	expand []string
}

func newRenderCmd(a *app) *cobra.Command {
	o := &renderOptions{}
	cmd := &cobra.Command{
		Use:   "render [-s SESSION] [--budget N] [--query QUESTION]",
		Short: "Print a session's context: clusters and the newest messages",
		Long: long(`Prints what a model is to be given of a branch: the block that it is told first, if something was observed (see `+"`ctx epoch`"+`), the clusters of older
messages with their summaries and ids, tombstones, and then the newest messages word for word, with the updates between them. With --budget all of it takes at most so many tokens (Gemini's estimate); what is left out is counted on
standard error, and the exit code is 1 where all of it is. The part before the newest messages stays the same, byte for byte, until the branch's tail is cut.

With --query the passages, out of all history of the branch, that answer a question are printed, too: up to half of the budget is for them, or
2,000 tokens where there is none. The part before the newest messages is then another one for each question.

Formats: text; json, one document; gemini, openai and anthropic, the messages of a request.`,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx render -s work --budget 4000\n  ctx render -s work --format gemini\n  ctx render -s work --expand 9d2f04c1",
		Args:    between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), a)
		},
	}
	o.add(cmd)
	o.whole = true // a session that does not exist yet is given what the project has
	completeFlag(cmd, "session", a.completeSessions())
	f := cmd.Flags()
	f.IntVar(&o.budget, "budget", 0, "at most `N` tokens")
	f.StringVar(&o.query, "query", "", "print what answers the `QUESTION`, too; up to half of the budget is for it")
	f.StringVar(&o.format, "format", "text", "text, json, gemini, openai or anthropic")
	f.StringArrayVar(&o.expand, "expand", nil, "put the messages of the cluster `ID` in the place of its summary")
	completeFlag(cmd, "format", cobra.FixedCompletions([]string{"text", "json", "gemini", "openai", "anthropic"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *renderOptions) run(c context.Context, a *app) error {
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
		if err := s.Ask(v, &in, o.query); err != nil {
			return err
		}
	}
	if options.Expand, err = s.Verbatim(c, v, o.expand); err != nil {
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
	_, err = a.out.Write(out.Bytes)
	return err
}

// input is what is to be rendered: a branch, or for a session that is not there yet the project.
func (o *renderOptions) input(a *app, s *session.Store, v *refs.View, options view.Options) (view.Input, error) {
	name, branch, _, err := o.tip(v)
	if err == nil {
		in, err := s.RenderInput(v, name, branch, options)
		if err == nil {
			err = s.AddProject(v, &in, options.Budget)
		}
		return in, err
	}
	if !errors.Is(err, session.ErrNotFound) || branch != session.MainBranch || o.session == "" || len(o.expand)+len(o.query) > 0 {
		return view.Input{}, err
	}
	in, projectErr := s.ProjectInput(v, name, options.Budget)
	if projectErr != nil {
		return in, projectErr
	}
	if len(in.Epoch) == 0 {
		return in, err
	}
	a.say("ctx: render: no session %q yet: this is the brief of the project", name)
	return in, nil
}

func (o *renderOptions) options(a *app) (view.Options, error) {
	if o.budget < 0 || o.budget == 0 && o.cmd.Flags().Changed("budget") {
		return view.Options{}, usagef("bad --budget: %d: 1 is the least", o.budget)
	}
	if a.json && !o.cmd.Flags().Changed("format") {
		o.format = string(view.JSON)
	}
	f, err := view.ParseFormat(o.format)
	if err != nil {
		return view.Options{}, usagef("bad --format: %v", err)
	}
	return view.Options{Budget: o.budget, Format: f}, nil
}

package main

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/cli/document"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/summarizer"
)

func newAvailCmd(a *app) *cobra.Command {
	cmd := a.newCmd(
		"avail [show | select | check | mark | consume | healthy | reset-turn | reset]",
		func([]string) error { return runAvailShow(a, &availScope{}, nil) })
	return group(cmd, newAvailShowCmd(a), newAvailSelectCmd(a), newAvailCheckCmd(a),
		newAvailMarkCmd(a),
		availChange(a, "consume NAME",
			func(h *summarizer.Health, args []string) { h.Consume(args[0]) }),
		availChange(a, "healthy NAME",
			func(h *summarizer.Health, args []string) { h.MarkHealthy(args[0]) }),
		availChange(a, "reset-turn", func(h *summarizer.Health, _ []string) { h.ResetTurn() }),
		availChange(a, "reset", func(h *summarizer.Health, _ []string) { h.Reset() }))
}

func newAvailShowCmd(a *app) *cobra.Command {
	o := &availScope{}
	return o.newCmd(a, "show [NAME...]",
		func(args []string) error { return runAvailShow(a, o, args) })
}

// checkNames refuses an argument that is the name of no summarizer or model.
func checkNames(names ...string) error {
	for _, name := range names {
		if err := summarizer.CheckName(name); err != nil {
			return usagef("%v", err)
		}
	}
	return nil
}

// namesOnly has a command check its arguments, which are such names.
func namesOnly(cmd *cobra.Command) *cobra.Command {
	number := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		return cmp.Or(number(cmd, args), checkNames(args...))
	}
	return cmd
}

func runAvailShow(a *app, o *availScope, names []string) error {
	s, file, err := o.open(a)
	if err != nil {
		return err
	}
	health := file.Load()
	if len(names) == 0 && o.own {
		names = health.Names()
	} else if len(names) == 0 {
		names = availNames(s, health)
	}
	l := a.listing()
	for _, name := range names {
		one := health.Snapshot(name, a.now())
		var place *int // in the chain, from 0
		if i := slices.Index(s.Config.Summarize.Chain, name); i >= 0 {
			place = &i
		}
		l.add(fields("name", name, "state", one.State, "available", one.Available,
			"reason", document.OrNull(one.Why()), "until", document.TimeOrNull(one.Until),
			"attempts", one.Attempts, "chain", place),
			oneLine(name), string(one.State), availText(one))
	}
	return l.print()
}

// availNames returns the summarizers of the chain, in order, and then all other names with a mark.
func availNames(s *session.Store, health *summarizer.Health) []string {
	names := slices.Clone(s.Config.Summarize.Chain)
	for _, name := range health.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func availText(s summarizer.Snapshot) string {
	switch {
	case !s.Until.IsZero():
		return s.Why() + " until " + document.TimeText(s.Until)
	case s.State == summarizer.StateTerminal:
		return s.Why() + " until reset"
	case s.Why() != "":
		return s.Why() + " until the next turn"
	case s.Attempts > 0:
		return "once in this turn, " + plural(s.Attempts, "attempt", "attempts")
	}
	return ""
}

func newAvailSelectCmd(a *app) *cobra.Command {
	o := &availScope{}
	return o.newCmd(a, "select NAME...",
		func(args []string) error { return runAvailSelect(a, o, args) })
}

func runAvailSelect(a *app, o *availScope, names []string) error {
	_, file, err := o.open(a)
	if err != nil {
		return err
	}
	chosen := file.Load().SelectFirstAvailable(names, a.now())
	if a.json {
		a.document("selected", document.OrNull(chosen.Name), "attempts", chosen.Attempts, "skipped",
			chosen.Skipped)
	} else {
		for _, one := range chosen.Skipped {
			a.say("%s: not available: %s", one.Name, one.Reason)
		}
		if chosen.Name != "" {
			a.line("%s", chosen.Name)
		}
	}
	return exitIf(chosen.Name == "", exitFailed)
}

// availChange returns a command that changes the marks of the names in its arguments.
func availChange(
	a *app, use string, change func(*summarizer.Health, []string),
) *cobra.Command {
	o := &availScope{}
	return o.newCmd(a, use, func(args []string) error {
		_, file, err := o.open(a)
		if err != nil {
			return err
		}
		return file.Update(func(h *summarizer.Health) { change(h, args) })
	})
}

func newAvailMarkCmd(a *app) *cobra.Command {
	var attempts int
	o := &availScope{}
	cmd := o.newCmd(a, "mark NAME quota|capacity|retry", func(args []string) error {
		mark, err := markOf(args[0], args[1], attempts, a)
		if err != nil {
			return err
		}
		_, file, err := o.open(a)
		if err != nil {
			return err
		}
		return file.Update(mark)
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := between(2, 2)(cmd, args); err != nil {
			return err
		}
		return checkNames(args[0])
	}
	cmd.Flags().IntVar(&attempts, "attempts", 1, "with retry: attempts in a turn, 1 to 100")
	return cmd
}

func markOf(name, as string, attempts int, a *app) (func(*summarizer.Health), error) {
	if attempts < 1 || attempts > 100 {
		return nil, usagef("--attempts is not from 1 to 100: %s", strconv.Itoa(attempts))
	}
	switch as {
	case summarizer.ReasonQuota, summarizer.ReasonCapacity:
		return func(h *summarizer.Health) { h.MarkTerminal(name, as, a.now()) }, nil
	case "retry":
		return func(h *summarizer.Health) { h.MarkRetryOncePerTurn(name, attempts, a.now()) }, nil
	}
	return nil, usagef("a name is marked quota, capacity or retry, not %.40q", as)
}

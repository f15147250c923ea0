package main

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/summarizer"
)

func newAvailCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "avail [show | select | check | mark | consume | healthy | reset-turn | reset]",
		Short: "Show and set who can be asked for summaries",
		Long: long(`Shows, for each summariser of the chain and for every other name that was marked, whether it can be asked, and why not. A summariser that
fails is marked by itself: with reason quota it is not asked until it is set healthy or all are reset; with reason capacity it is not asked for 30
seconds; after any other failure it is asked once in each run. Agents may keep their models here, too: a name is any text.

What is known is one for the store. Of a session that works for another (`+"`ctx session link`"+`) -s means what its parent knows, so
that the two share it, or with --apart at the link what is its own; --scope names what is nobody else's. Summarisers are the store's.

What is known is kept in the store's cache, and shared by all processes. Losing it only means to ask once too often.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx avail\n  ctx avail check\n  ctx avail mark gemini quota\n  ctx avail select gemini-2.5-pro gemini-2.5-flash --json",
		Args:    noSuchCommand,
		RunE:    func(*cobra.Command, []string) error { return runAvailShow(a, &availScope{}, nil) },
	}
	cmd.AddCommand(newAvailShowCmd(a), newAvailSelectCmd(a), newAvailCheckCmd(a), newAvailMarkCmd(a),
		availChange(a, "consume NAME", "Say that a name was asked in this turn",
			"Says that a name that may be asked once a turn was asked: it is not available until reset-turn. Nothing happens to other names.", 1,
			func(h *summarizer.Health, args []string) { h.Consume(args[0]) }),
		availChange(a, "healthy NAME", "Say that a name can be asked", "Forgets what was marked of a name.", 1,
			func(h *summarizer.Health, args []string) { h.MarkHealthy(args[0]) }),
		availChange(a, "reset-turn", "Begin a turn", "Makes every name that may be asked once a turn available again.", 0,
			func(h *summarizer.Health, _ []string) { h.ResetTurn() }),
		availChange(a, "reset", "Forget every mark", "Forgets every mark, also those of quota.", 0,
			func(h *summarizer.Health, _ []string) { h.Reset() }))
	return cmd
}

func newAvailShowCmd(a *app) *cobra.Command {
	o := &availScope{}
	cmd := &cobra.Command{
		Use:     "show [NAME...]",
		Short:   "Show who can be asked",
		Long:    long("Shows the state of the names, or of the summarisers of the chain and of every name that was marked.", exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx avail show\n  ctx avail show gemini --json",
		Args:    checkedNames(0, -1),
		RunE:    func(_ *cobra.Command, args []string) error { return runAvailShow(a, o, args) },
	}
	o.add(a, cmd)
	return cmd
}

// checkedNames is between, for arguments that are names.
func checkedNames(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := between(low, high)(cmd, args); err != nil {
			return err
		}
		for _, name := range args {
			if err := summarizer.CheckName(name); err != nil {
				return usagef("%v", err)
			}
		}
		return nil
	}
}

type availDoc struct {
	V         int     `json:"v"`
	Name      string  `json:"name"`
	State     string  `json:"state"`
	Available bool    `json:"available"`
	Reason    *string `json:"reason"`   // why it is not available
	Until     *string `json:"until"`    // when it is again, where time alone makes it so
	Attempts  int     `json:"attempts"` // how often it may be tried in this turn; 0 where that is not limited
	Chain     *int    `json:"chain"`    // its place in the chain, from 0
}

func availDocOf(s summarizer.Snapshot, chain []string) availDoc {
	d := availDoc{V: 1, Name: s.Name, State: string(s.State), Available: s.Available, Attempts: s.Attempts}
	if why := s.Why(); why != "" {
		d.Reason = &why
	}
	if !s.Until.IsZero() {
		until := timeText(s.Until)
		d.Until = &until
	}
	if i := slices.Index(chain, s.Name); i >= 0 {
		d.Chain = &i
	}
	return d
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
	var rows [][]string
	for _, name := range names {
		d := availDocOf(health.Snapshot(name, a.now()), s.Config.Summarize.Chain)
		if a.json {
			if err := a.printJSON(d); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{oneLine(d.Name), d.State, availText(d)})
	}
	a.table(rows)
	return nil
}

// availNames are the summarisers of the chain in order, and every other name of which something is known.
func availNames(s *session.Store, health *summarizer.Health) []string {
	names := slices.Clone(s.Config.Summarize.Chain)
	for _, name := range health.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func availText(d availDoc) string {
	switch {
	case d.Until != nil:
		return *d.Reason + " until " + *d.Until
	case d.State == string(summarizer.StateTerminal):
		return *d.Reason + " until reset"
	case d.Reason != nil:
		return *d.Reason + " until the next turn"
	case d.Attempts > 0:
		return "once in this turn, " + plural(d.Attempts, "attempt", "attempts")
	}
	return ""
}

func newAvailSelectCmd(a *app) *cobra.Command {
	o := &availScope{}
	cmd := &cobra.Command{
		Use:   "select NAME...",
		Short: "Print the first name that can be asked",
		Long: long(`Prints the first of the names that can be asked, and with --json who was passed over and why. Where nobody can be asked the exit code is
1; nothing is marked.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx avail select gemini-2.5-pro gemini-2.5-flash",
		Args:    checkedNames(1, -1),
		RunE:    func(_ *cobra.Command, args []string) error { return runAvailSelect(a, o, args) },
	}
	o.add(a, cmd)
	return cmd
}

type skipDoc struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func runAvailSelect(a *app, o *availScope, names []string) error {
	_, file, err := o.open(a)
	if err != nil {
		return err
	}
	chosen := file.Load().SelectFirstAvailable(names, a.now())
	if a.json {
		d := struct {
			V        int       `json:"v"`
			Selected *string   `json:"selected"`
			Attempts int       `json:"attempts"`
			Skipped  []skipDoc `json:"skipped"`
		}{V: 1, Attempts: chosen.Attempts, Skipped: []skipDoc{}}
		if chosen.Name != "" {
			d.Selected = &chosen.Name
		}
		for _, one := range chosen.Skipped {
			d.Skipped = append(d.Skipped, skipDoc(one))
		}
		if err := a.printJSON(d); err != nil {
			return err
		}
	} else {
		for _, one := range chosen.Skipped {
			a.say("%s: not available: %s", one.Name, one.Reason)
		}
		if chosen.Name != "" {
			a.line("%s", chosen.Name)
		}
	}
	if chosen.Name == "" {
		return &exitError{exitFailed}
	}
	return nil
}

// availChange is a command that changes what is known, with names as its arguments.
func availChange(a *app, use, short, text string, names int, change func(*summarizer.Health, []string)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Long: long(text, exitNoStore, exitCorrupt, exitNotFound), Args: checkedNames(names, names)}
	cmd.Example = "  ctx avail " + cmd.Name()
	if names > 0 {
		cmd.Example += " gemini"
	}
	o := &availScope{}
	o.add(a, cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		_, file, err := o.open(a)
		if err != nil {
			return err
		}
		return file.Update(func(h *summarizer.Health) { change(h, args) })
	}
	return cmd
}

func newAvailMarkCmd(a *app) *cobra.Command {
	var attempts int
	cmd := &cobra.Command{
		Use:   "mark NAME quota|capacity|retry",
		Short: "Say why a name cannot be asked",
		Long: long(`Marks a name: quota, not to be asked until it is set healthy or all are reset; capacity, not to be asked for 30 seconds; retry, to be asked
once a turn. A name that is marked with quota or capacity stays so when it is marked with retry.`, exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx avail mark gemini quota\n  ctx avail mark gemini-2.5-flash retry --attempts 3",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := between(2, 2)(cmd, args); err != nil {
				return err
			}
			return checkedNames(1, 1)(cmd, args[:1])
		},
	}
	o := &availScope{}
	o.add(a, cmd)
	cmd.Flags().IntVar(&attempts, "attempts", 1, "with retry: how often it may be tried in a turn, 1 to 100")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		mark, err := markOf(args[0], args[1], attempts, a)
		if err != nil {
			return err
		}
		_, file, err := o.open(a)
		if err != nil {
			return err
		}
		return file.Update(mark)
	}
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

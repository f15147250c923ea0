package main

import (
	"context"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/edits"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/refs"
)

func newMaskCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mask plan|apply",
		Short: "Shorten old outputs of tools",
		Long: long(`Old outputs of tools take most of a context, and are seldom read again. A mask says which of
them are shown in a short form, with a pointer to the whole. Nothing is removed: ` + "`ctx expand`" + `
and ` + "`ctx show`" + ` print the words as they were. A rewind to before the mask, or ` + "`ctx undo`" + `, removes
the mask.`),
		Example: "  ctx mask plan -s work\n  ctx mask apply -s work",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(newMaskPlanCmd(a), newMaskApplyCmd(a))
	return cmd
}

const maskRule = `The rule ignores the newest message. Of the outputs before it, the newest stay whole, up to
mask.protected_tokens (50,000). The output that crosses this limit and all older outputs become
shorter, if together they have mask.gate_tokens (30,000) or more. The output of a command keeps
its first and last lines, and any other output its first and last characters. An output stays
whole if the short form does not take fewer tokens, or if its tool is in mask.exempt_tools.`

func newMaskPlanCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := &cobra.Command{
		Use:   "plan [-s SESSION]",
		Short: "Print what a mask would shorten",
		Long: long(`Prints which outputs of tools `+"`ctx mask apply`"+` would shorten, oldest first. The command writes
nothing.`+"\n\n"+maskRule,
			exitNoStore, exitCorrupt, exitNotFound),
		Example: "  ctx mask plan -s work\n  ctx mask plan -s work --json | jq .saved",
		Args:    between(0, 0),
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.RunE = func(*cobra.Command, []string) error {
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		name, branch, err := o.pick(view)
		if err != nil {
			return err
		}
		plan, err := s.Edits.PlanMasks(view, name, branch)
		if err != nil {
			return err
		}
		return printMaskPlan(a, name, branch, plan)
	}
	return cmd
}

func printMaskPlan(a *app, name, branch string, p edits.MaskPlan) error {
	if a.json {
		return a.answer("session", name, "branch", branch, "tip", p.Tip, "protected", p.Protected, "prunable", p.Prunable, "gate", p.Gate,
			"saved", p.Saved, "parts", p.Parts)
	}
	var rows [][]string
	for _, part := range p.Parts {
		rows = append(rows, []string{
			part.Entry.Short(shortLen) + "." + strconv.Itoa(part.Index), oneLine(part.Tool),
			strconv.Itoa(part.Tokens) + " tokens", "shown as " + strconv.Itoa(part.Left),
		})
	}
	a.table(rows)
	a.say("ctx: mask: protected %d, prunable %d of the %d it takes, %s to shorten, saves %s",
		p.Protected, p.Prunable, p.Gate, plural(len(p.Parts), "part", "parts"), plural(p.Saved, "token", "tokens"))
	return nil
}

func newMaskApplyCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := &cobra.Command{
		Use:   "apply [-s SESSION] [ENTRY[.PART]...]",
		Short: "Shorten old outputs of tools from now on",
		Long: long(`Records on the branch which outputs of tools are shown shortened from now on, and prints the id
of the mask. If there is nothing to shorten, the command prints and writes nothing. With ENTRY
it shortens all outputs in that message, and with ENTRY.PART one part of it, counted from 0,
whatever the rule says. A message of plain text is its own part 0.`+"\n\n"+maskRule+`

`+"`ctx render` and `ctx log --masked`"+` show the short form. `+"`ctx log`, `ctx show` and `ctx expand`"+` show the words
as they were. A message that is amended later is shown whole again.`,
			exitNoStore, exitLocked, exitStale, exitCorrupt, exitGone, exitNotFound),
		Example:           "  ctx mask apply -s work\n  ctx mask apply -s work 3f9a6c01.0",
		Args:              between(0, -1),
		ValidArgsFunction: a.completeRevs(),
	}
	o.add(cmd)
	completeFlag(cmd, "session", a.completeSessions())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, view, err := a.openView()
		if err != nil {
			return err
		}
		name, branch, err := o.pick(view)
		if err != nil {
			return err
		}
		var named []edits.MaskTarget
		for _, arg := range args {
			t, err := resolveTarget(s, view, arg, name, branch)
			if err != nil {
				return err
			}
			named = append(named, t)
		}
		return applyMasks(cmd.Context(), a, s, name, branch, named)
	}
	return cmd
}

// resolveTarget resolves ENTRY or ENTRY.PART. It tries the whole argument as a name first, since
// the name of a session may look like ENTRY.PART.
func resolveTarget(s *session.Store, view *refs.View, arg, name, branch string) (format.Target, error) {
	t := format.Target{Part: format.WholeEntry}
	var err error
	if t.Entry, err = resolveEntry(s, view, inBranch(arg, name, branch)); err == nil || !clusters.IsMissing(err) {
		return t, err
	}
	at := strings.LastIndexByte(arg, '.')
	if at < 0 {
		return t, err
	}
	part, bad := strconv.Atoi(arg[at+1:])
	if bad != nil || part < 0 || strings.HasPrefix(arg[at+1:], "+") {
		return t, err
	}
	t.Part = part
	t.Entry, err = resolveEntry(s, view, inBranch(arg[:at], name, branch))
	return t, err
}

func applyMasks(c context.Context, a *app, s *session.Store, name, branch string, named []edits.MaskTarget) error {
	done, err := s.Edits.ApplyMasks(c, name, branch, named)
	if err != nil {
		return err
	}
	if done.Left > 0 {
		a.say("ctx: mask: %s did not fit into the mask: run the command again", plural(done.Left, "part", "parts"))
	}
	if a.json {
		return a.answer("id", done.Entry, "session", name, "branch", branch, "masked", len(done.Parts), "saved", done.Saved,
			"known", len(done.Known), "kept", len(done.Kept), "left", done.Left, "parts", done.Parts)
	}
	for _, t := range done.Known {
		a.say("ctx: mask: %v is shown shortened already", t)
	}
	for _, t := range done.Kept {
		a.say("ctx: mask: %v would not be shorter", t)
	}
	if !done.Entry.IsZero() {
		a.line("%v", done.Entry)
		a.say("ctx: mask: shortened %s, saves %s", plural(len(done.Parts), "part", "parts"), plural(done.Saved, "token", "tokens"))
	}
	return nil
}

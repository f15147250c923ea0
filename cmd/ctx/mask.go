package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/edits"
)

func newMaskPlanCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	return o.newCmd(a, "plan [-s SESSION]", o.onBranch(a, func(b openBranch, _ []string) error {
		plan, err := b.s.Edits.PlanMasks(b.view, b.name, b.branch)
		if err != nil {
			return err
		}
		return printMaskPlan(a, b.name, b.branch, plan)
	}))
}

func printMaskPlan(a *app, name, branch string, p edits.MaskPlan) error {
	if a.json {
		return a.answer("session", name, "branch", branch, "tip", p.Tip, "protected", p.Protected,
			"prunable", p.Prunable, "gate", p.Gate,
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
	if len(p.Parts) == 0 && p.Prunable >= p.Gate {
		a.say("ctx: mask: protected %d, prunable %d, and no part of these would be shorter",
			p.Protected, p.Prunable)
		return nil
	}
	a.say("ctx: mask: protected %d, prunable %d of the %d it takes, %s to shorten, saves %s",
		p.Protected, p.Prunable, p.Gate, plural(len(p.Parts), "part", "parts"),
		plural(p.Saved, "token", "tokens"))
	return nil
}

func newMaskApplyCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	return o.newCmd(a, "apply [-s SESSION] [ENTRY[.PART]...]",
		o.onBranch(a, func(b openBranch, args []string) error {
			var named []edits.MaskTarget
			for _, arg := range args {
				t, err := b.target(arg)
				if err != nil {
					return err
				}
				named = append(named, t)
			}
			return applyMasks(a, b, named)
		}))
}

// target resolves ENTRY or ENTRY.PART. It tries the whole argument as a name first, since
// the name of a session may look like ENTRY.PART.
func (b *openBranch) target(arg string) (format.Target, error) {
	t := format.Target{Part: format.WholeEntry}
	var err error
	if t.Entry, err = b.entry(arg); err == nil || !clusters.IsMissing(err) {
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
	t.Entry, err = b.entry(arg[:at])
	return t, err
}

func applyMasks(a *app, b openBranch, named []edits.MaskTarget) error {
	done, err := b.s.Edits.ApplyMasks(a.c, b.name, b.branch, named)
	if err != nil {
		return err
	}
	if done.Left > 0 {
		a.say("ctx: mask: %s did not fit into the mask: run the command again",
			plural(done.Left, "part", "parts"))
	}
	if a.json {
		return a.answer("id", done.Entry, "session", b.name, "branch", b.branch, "masked",
			len(done.Parts), "saved", done.Saved,
			"known", len(done.Known), "kept", len(done.Kept), "left", done.Left,
			"parts", done.Parts)
	}
	for _, t := range done.Known {
		a.say("ctx: mask: %v is shown shortened already", t)
	}
	for _, t := range done.Kept {
		a.say("ctx: mask: %v would not be shorter", t)
	}
	if done.Entry.IsZero() && len(named)+done.Left == 0 {
		a.say("ctx: mask: nothing to shorten: `ctx mask plan` says how much is old enough")
	}
	if !done.Entry.IsZero() {
		a.line("%v", done.Entry)
		a.say("ctx: mask: shortened %s, saves %s", plural(len(done.Parts), "part", "parts"),
			plural(done.Saved, "token", "tokens"))
	}
	return nil
}

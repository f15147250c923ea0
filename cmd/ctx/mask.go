package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
	"github.com/gemini-ctx/ctx/session"
	"github.com/gemini-ctx/ctx/session/mask"
)

func newMaskCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mask plan|apply",
		Short: "Show old outputs of tools shortened",
		Long: long(`What tools printed long ago takes most of a context and is seldom read again. A mask says which of these parts are shown
shortened from then on, with a pointer to all of it. Nothing is removed: ` + "`ctx expand` and `ctx show`" + ` give the words as they were, and a
rewind to before the mask, or ` + "`ctx undo`" + `, shows them again.`),
		Example: "  ctx mask plan -s work\n  ctx mask apply -s work",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(newMaskPlanCmd(a), newMaskApplyCmd(a))
	return cmd
}

const maskRule = `The newest message is not looked at. Of the outputs before it the newest ones stay, up to mask.protected_tokens (50,000); the one that
crosses the line and all older ones are shortened, if together they have mask.gate_tokens (30,000) or more: to the first and last lines of
what a command printed, and to the first and last characters of any other output. One that would not take fewer tokens so stays, and so do those of
mask.exempt_tools.`

func newMaskPlanCmd(a *app) *cobra.Command {
	o := &branchFlags{}
	cmd := &cobra.Command{
		Use:   "plan [-s SESSION]",
		Short: "Say what a mask would shorten",
		Long: long("Prints which outputs of tools `ctx mask apply` would shorten, oldest first, and writes nothing.\n\n"+maskRule,
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
		plan, err := s.PlanMasks(view, name, branch)
		if err != nil {
			return err
		}
		return printMaskPlan(a, name, branch, plan)
	}
	return cmd
}

type maskPlanDoc struct {
	V         int             `json:"v"`
	Session   string          `json:"session"`
	Branch    string          `json:"branch"`
	Tip       string          `json:"tip"`
	Protected int             `json:"protected"` // tokens of outputs that stay
	Prunable  int             `json:"prunable"`  // tokens of outputs that may be shortened
	Gate      int             `json:"gate"`      // as many have to be
	Saved     int             `json:"saved"`     // tokens that the parts save
	Parts     []maskedPartDoc `json:"parts"`
}

type maskedPartDoc struct {
	Entry  string `json:"entry"`
	Part   int    `json:"part"`
	Call   string `json:"call"`
	Tool   string `json:"tool"`
	Tokens int    `json:"tokens"`
	Left   int    `json:"left"` // tokens of what is shown
	Text   string `json:"text"` // what is shown
}

func maskedParts(list []mask.Short) []maskedPartDoc {
	docs := []maskedPartDoc{}
	for _, p := range list {
		docs = append(docs, maskedPartDoc{p.Entry.String(), p.Index, p.Call, p.Tool, p.Tokens, p.Left, p.Text})
	}
	return docs
}

func printMaskPlan(a *app, name, branch string, p session.MaskPlan) error {
	if a.json {
		return a.printJSON(maskPlanDoc{1, name, branch, p.Tip.String(), p.Protected, p.Prunable, p.Gate, p.Saved, maskedParts(p.Parts)})
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
		Short: "Have old outputs of tools shown shortened",
		Long: long(`Records on the branch which outputs of tools are shown shortened from now on, and prints the id of the mask; nothing is printed where there
is nothing to do, and doing it twice is doing it once. With ENTRY the outputs in that message are shortened, whatever the rule says of them; with
ENTRY.PART one of its parts, counted from 0. A message of plain text is its own part 0.

`+maskRule+`

`+"`ctx render` shows the short form, and `ctx log --masked`; `ctx log`, `ctx show` and `ctx expand`"+` show the words as they were. A message that is amended
afterwards is shown in full again: the mask was made of other words.`,
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
		var named []session.MaskTarget
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

// resolveTarget finds what ENTRY or ENTRY.PART names. What is a name as a whole is taken as one: a session may be called so.
func resolveTarget(s *session.Store, view *refs.View, arg, name, branch string) (format.Target, error) {
	t := format.Target{Part: format.WholeEntry}
	var err error
	if t.Entry, err = resolveEntry(s, view, inBranch(arg, name, branch)); err == nil || !session.IsMissing(err) {
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

type maskDoc struct {
	V       int             `json:"v"`
	ID      *string         `json:"id"` // null where nothing was written
	Session string          `json:"session"`
	Branch  string          `json:"branch"`
	Masked  int             `json:"masked"`
	Saved   int             `json:"saved"`
	Known   int             `json:"known"` // named, and shortened before
	Kept    int             `json:"kept"`  // named, and no shorter so
	Left    int             `json:"left"`  // for the next time
	Parts   []maskedPartDoc `json:"parts"`
}

func applyMasks(c context.Context, a *app, s *session.Store, name, branch string, named []session.MaskTarget) error {
	done, err := s.ApplyMasks(c, name, branch, named)
	if err != nil {
		return err
	}
	if done.Left > 0 {
		a.say("ctx: mask: %s more than fit into one mask: run it again", plural(done.Left, "part", "parts"))
	}
	if a.json {
		return a.printJSON(maskDoc{
			1, idText(done.Entry), name, branch, len(done.Parts), done.Saved, len(done.Known), len(done.Kept), done.Left, maskedParts(done.Parts),
		})
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

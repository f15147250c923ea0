package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/repo"
)

func newHookCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook AGENT",
	}
	var subs []*cobra.Command
	for _, agent := range hooks.Agents() {
		subs = append(subs, &cobra.Command{
			Use:   agent.Name + " [EVENT]",
			Short: "Run a hook of " + agent.Title,
			Long: long(
				"Reads an event of " + agent.Title +
					" from standard input. Without a store the command does nothing.\n\n" +
					aboutHook(&agent)),
			Example: "  ctx hook " + agent.Name + " < event.json",
			Args:    between(0, 1),
			RunE: func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					agent.Event = args[0]
				}
				return runHook(a, &agent)
			},
		})
	}
	return group(cmd, subs...)
}

// aboutHook says what the hook of an agent does.
func aboutHook(agent *hooks.Agent) string {
	switch agent.Name {
	case hooks.GeminiCLI:
		return `At AfterAgent, SessionStart, PreCompress and SessionEnd it copies new messages of the transcript
into the session that has the transcript's id. At BeforeAgent it prints passages of other
sessions of the project that answer the prompt. With the first prompt of a session it also
prints what the other sessions were about. It prints at most hook.context tokens, and nothing
twice. At SessionEnd it also makes the summaries that are due, unless a model makes them, and
packs the store if that is due.`
	case "antigravity":
		return `Antigravity does not say which event it is: the command names it. At SessionStart, PreInvocation
and Stop it copies what is new in the transcript into the session of the conversation. Antigravity
writes the transcript after Stop, so the next event records the turn. At the first PreInvocation
of a conversation it prints a brief of the newest sessions of the project for the model, of
hook.context tokens and 10,000 characters at most. hook.context=0 switches it off.`
	case "copilot":
		return `Copilot CLI does not say which event it is: the command names it. At sessionStart,
userPromptSubmitted, agentStop and sessionEnd it copies what is new in the transcript into the
session that the transcript belongs to. At sessionStart it also copies what earlier hooks have
missed, and prints a brief of the newest sessions of the project for the model, of hook.context
tokens and 10,000 characters at most; a session that goes on gets none. hook.context=0 switches
it off. At sessionEnd it also makes the summaries that are due, unless a model makes them, and
packs the store if that is due.`
	}
	records, tells := agent.EventNames(), ""
	for _, t := range [...]struct{ event, text string }{
		{agent.Answers(), ` it prints earlier turns of the project that are about what the prompt
names or asks, where the context does not have them: three at most, and mostly none.`},
		{agent.Heeds(), ` of a tool that changes a file it prints what somebody told to heed of the
file or its directory, by name: notes, rules of the user, decisions, words to a call that was
refused. Of one that runs a command it prints what passed instead, where the command itself was
wrong when it ran last in another session.`},
		{agent.Keeps(), ` it prints what the summary must keep, as further instructions for it:
rules and refusals of the user, decisions, the branch, commits, checks, open items, and what an
older summary says. 600 tokens are the most.`},
		{agent.Mends(), ` it prints, where another session of the project had the same failure of
the same program, what was done then until it passed.`},
	} {
		if t.event != "" {
			records = slices.DeleteFunc(records, func(name string) bool {
				return name == t.event && name != agent.Keeps() // there it records, too
			})
			tells += "\n\nAt " + t.event + t.text
		}
	}
	if tells != "" {
		tells += `

What it prints during the work has 400 tokens at most, tells nothing twice, and has no words of
tools. hook.recall says which of it there is: all, none, or some of prompt, edit,
command, failure and compaction.`
	}
	return "At " + wordsAnd(records) + ` it copies what is new in the
transcript and in those of subagents into the session that the transcript belongs to. When a
session starts it also copies what earlier hooks have missed, and prints a brief for the model: of
the newest sessions of the project when a session begins, and after a compaction of what the
summary does not say of the session, 600 tokens at most. The brief has at most hook.context
tokens and 10,000 characters; a session that goes on gets none. hook.context=0 switches it off. When a session ends it also makes the summaries
that are due, unless a model makes them, and packs the store if that is due.` + tells
}

// isHook reports whether a command is a hook or a part of one.
func isHook(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Name() == "hook" {
			return true
		}
	}
	return false
}

func runHook(a *app, agent *hooks.Agent) (err error) {
	if v := a.getenv(hooks.Disabled); v != "" && v != "0" {
		return nil
	}
	dir := ""
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil && dir != "" {
			hooks.LogTrouble(a.fs, dir,
				hooks.Trouble{Time: a.now(), Agent: agent.Name, Problem: err.Error()})
			err = nil
		}
	}()
	agent.Env = a.agentEnv()
	in := hooks.Hear(agent, a.stdin)
	// A store that cannot be used takes what goes wrong.
	if dir, err = repo.Find(a.env()); err != nil && !errors.Is(err, repo.ErrNoStore) {
		return err
	}
	ctx, cancel := context.WithTimeout(a.c, hearTime)
	defer cancel()
	s, err := a.storeOf(ctx, agent, in)
	if err != nil || s == nil {
		return err
	}
	dir = s.Dir
	if ok, err := s.Allowed(); !ok {
		dir = "" // nothing goes into the store, a trouble neither
		out, said := hooks.Refuse(ctx, agent, in)
		if said {
			a.say("%s", hooks.NotAllowed)
		}
		if out != nil {
			a.line("%s", out)
		}
		return err
	}
	if out := hooks.Run(a.c, s, agent, in); out != nil {
		a.line("%s", out)
	}
	return nil
}

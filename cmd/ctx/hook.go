package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/hooks"
	"github.com/gemini-ctx/ctx/internal/repo"
)

func newHookCmd(a *app) *cobra.Command {
	cmd := group(a.newCmd("hook AGENT", nil))
	for _, agent := range hooks.Agents() {
		cmd.AddCommand(a.newCmd(agent.Name+" [EVENT]", func(args []string) error {
			if len(args) > 0 {
				agent.Event = args[0]
			}
			return runHook(a, &agent)
		}))
	}
	return cmd
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
	return a.noteTrees(ctx, s, in)
}

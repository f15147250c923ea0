package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/capture"
	"github.com/gemini-ctx/ctx/repo"
)

func newHookCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook gemini-cli",
		Short: "What an agent calls at points of its work",
		Long: long(`What ` + "`ctx install`" + ` has an agent call. It ends with exit code 0 whatever happens, within the setting hook.deadline, and prints JSON
for the agent or nothing. What it could not do is in log/hook of the store, and ` + "`ctx status`" + ` and ` + "`ctx doctor`" + ` say so.`),
		Example: "  ctx hook gemini-cli < event.json",
		Args:    noSuchCommand,
		RunE:    needsCommand,
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "gemini-cli",
		Short: "What Gemini CLI calls",
		Long: long(`Reads on standard input what Gemini CLI tells its hooks. At AfterAgent, and for safety at SessionStart, PreCompress and SessionEnd, it
copies what the transcript has into the session of the transcript's id. At BeforeAgent it prints what other sessions of the project said that answers the
prompt, and with the first prompt of a session what they were about: no more than hook.context tokens, and nothing twice. At SessionEnd it makes the summaries that are due, unless a
model is to write them, and packs the store if that is due. Where there is no store it does nothing.`),
		Example: "  ctx hook gemini-cli < event.json",
		Args:    between(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runHook(cmd.Context(), a) },
	})
	return cmd
}

// isHook reports whether a command line was, or came closest to, that of a hook.
func isHook(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Name() == "hook" {
			return true
		}
	}
	return false
}

// hooksOff is the variable that has hooks do nothing.
const hooksOff = "CTX_HOOK_DISABLE"

func runHook(c context.Context, a *app) (err error) {
	if v := a.getenv(hooksOff); v != "" && v != "0" {
		return nil
	}
	dir := ""
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		if err != nil && dir != "" {
			capture.Note(a.fs, dir, capture.Trouble{Time: a.now(), Agent: capture.GeminiCLI, Problem: err.Error()})
			err = nil
		}
	}()
	if dir, err = repo.Find(a.env()); errors.Is(err, repo.ErrNoStore) {
		return nil
	} else if err != nil {
		return err
	}
	s, err := a.openStore()
	if err != nil {
		return err
	}
	if out := capture.Run(c, s, a.stdin); out != nil {
		a.line("%s", out)
	}
	return nil
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/internal/epochs/epoch"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// maxGuarded is the maximum bytes of the input: the requests of all providers are smaller.
const maxGuarded = 256 << 20

func newEpochGuardCmd(a *app) *cobra.Command {
	return a.newCmd("guard [FILE]", func(args []string) error {
		b, err := a.readText(append(args, "-")[0], maxGuarded)
		if err != nil {
			return fmt.Errorf("cannot read the messages: %w", err)
		}
		if len(b) > maxGuarded {
			return usagef("messages of more than %d bytes", maxGuarded)
		}
		messages, err := epoch.ReadMessages(b)
		if err != nil {
			return err
		}
		open, at := epoch.Split(messages)
		if a.json {
			return a.printGuard(open, at)
		}
		if len(open) > 0 {
			return fmt.Errorf(
				"no update may follow message %d: it would separate a tool call from its "+
					"result: %s", at, epoch.Open(open))
		}
		return nil
	})
}

// printGuard prints the number of messages before the place of the update, and the calls that wait
// there, by id or by tool.
func (a *app) printGuard(open []epoch.Call, at int) error {
	names := lists.Map(open, func(c epoch.Call) string { return c.String() })
	if err := a.answer("ok", len(open) == 0, "at", at, "open", names); err != nil ||
		len(open) == 0 {
		return err
	}
	return &exitError{exitFailed}
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemini-ctx/ctx/session/epoch"
)

// maxGuarded bounds the messages that are looked at: a request of any provider is smaller.
const maxGuarded = 256 << 20

func newEpochGuardCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "guard [FILE]",
		Short: "Say whether an update may follow these messages",
		Long: long(`Reads messages, as a JSON array, one a line, or as ` + "`ctx render`" + ` prints them for a program or a provider, and says whether an update may come after
the last of them. It may not (1) where a tool call still waits for its result: the update would part them. Updates and system messages that are
among the messages are held to the same. Calls that the provider runs itself do not count. No store is needed.`),
		Example: "  ctx render -s work --format gemini | ctx epoch guard",
		Args:    between(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := a.readInput(append(args, "-")[0], maxGuarded)
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
				return fmt.Errorf("no update after message %d: it would part a tool call from its result: %s", at, epoch.Open(open))
			}
			return nil
		},
	}
}

type guardDoc struct {
	V    int      `json:"v"`
	OK   bool     `json:"ok"`
	At   int      `json:"at"`   // the number of messages before the place
	Open []string `json:"open"` // the ids of the calls that wait there, or the names of their tools
}

func (a *app) printGuard(open []epoch.Call, at int) error {
	d := guardDoc{V: 1, OK: len(open) == 0, At: at, Open: []string{}}
	for _, c := range open {
		d.Open = append(d.Open, c.String())
	}
	if err := a.printJSON(d); err != nil || d.OK {
		return err
	}
	return &exitError{exitFailed}
}

// Command ctx keeps what an AI agent and its user said: history, clusters of topics over it, and the way back from every
// summary to the exact words.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"time"

	"github.com/gemini-ctx/ctx/machine"
)

func main() {
	putOffCollection()
	c, watch := machine.Interrupts("ctx")
	os.Exit(run(c, fromOS(c, watch), os.Args[1:]))
}

// fromOS is the world of a real process. Reading its standard input ends when c does.
func fromOS(c context.Context, watch func(int)) world {
	dir, err := os.Getwd()
	if err != nil {
		dir = "" // found out about when a store is looked for
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return world{
		watch: watch,

		keepWriting: keepWriting,

		stdin:    interruptible(c, func() { watch(exitInterrupted) }, os.Stdin),
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		inTerm:   func() bool { return isTerminal(os.Stdin) },
		outTerm:  func() bool { return isTerminal(os.Stdout) },
		errTerm:  func() bool { return isTerminal(os.Stderr) },
		dir:      dir,
		beside:   machine.Beside(),
		become:   become,
		home:     home,
		userConf: machine.UserConfig(),
		host:     host,
		pid:      os.Getpid(),
		getenv:   os.Getenv,
		now:      time.Now,
		random:   rand.Reader,
	}
}

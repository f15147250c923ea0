// Command ctx keeps the conversations of AI agents: their history, clusters of topics, and the way
// back from each summary to the exact words.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"time"

	_ "github.com/gemini-ctx/ctx/internal/bigstack" // for its effect
	"github.com/gemini-ctx/ctx/internal/cli/environ"
)

func main() {
	putOffCollection()
	c, watch := environ.Interrupts("ctx")
	os.Exit(run(c, fromOS(c, watch), os.Args[1:]))
}

// fromOS returns the world of a real process. Reading standard input ends when c ends.
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
		largePages:  useLargePages,

		stdin:    interruptible(c, func() { watch(exitInterrupted) }, os.Stdin),
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		inTerm:   func() bool { return environ.IsTerminal(os.Stdin) },
		outTerm:  func() bool { return environ.IsTerminal(os.Stdout) },
		errTerm:  func() bool { return environ.IsTerminal(os.Stderr) },
		columns:  func() int { return environ.Columns(os.Stdout) },
		page:     startPager,
		zone:     time.Local,
		dir:      dir,
		beside:   environ.Beside,
		become:   become,
		home:     home,
		userConf: environ.UserConfig(),
		userData: environ.UserData(),
		host:     host,
		pid:      os.Getpid(),
		getenv:   os.Getenv,
		now:      time.Now,
		random:   rand.Reader,
	}
}

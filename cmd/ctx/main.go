// Command ctx keeps what an AI agent and its user said: history, clusters of topics over it, and the way back from every
// summary to the exact words.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gemini-ctx/ctx/machine"
)

func main() {
	c, watch := interrupts()
	os.Exit(run(c, fromOS(c, watch), os.Args[1:]))
}

// interrupts returns a context, and what has it end with the first Ctrl-C or the like; the second one ends the process at once. Until
// watch is called, which is before a store is opened or input is waited for, the first one does: there is nothing to tidy up, and commands that need no
// store start sooner. SIGPIPE is left alone: it ends the process quietly when nobody reads any more.
func interrupts() (c context.Context, watch func()) {
	c, cancel := context.WithCancel(context.Background())
	return c, sync.OnceFunc(func() {
		got := make(chan os.Signal, 1)
		signal.Notify(got, os.Interrupt, syscall.SIGTERM)
		go func() {
			<-got
			signal.Stop(got)
			cancel()
		}()
	})
}

// fromOS is the world of a real process. Reading its standard input ends when c does.
func fromOS(c context.Context, watch func()) world {
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
		watch:    watch,
		stdin:    interruptible(c, watch, os.Stdin),
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

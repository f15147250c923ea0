// Command ctx keeps what an AI agent and its user said: history, clusters of topics over it, and the way back from every
// summary to the exact words.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	c, stop := interruptContext()
	code := run(c, fromOS(c), os.Args[1:])
	stop()
	os.Exit(code)
}

// interruptContext returns a context that ends with the first Ctrl-C, or the like. The second one ends the process at once. SIGPIPE is
// left alone: it ends the process quietly when nobody reads any more.
func interruptContext() (context.Context, context.CancelFunc) {
	c, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(c, stop)
	return c, stop
}

// fromOS is the world of a real process. Reading its standard input ends when c does.
func fromOS(c context.Context) world {
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
		stdin:    interruptible(c, os.Stdin),
		stdout:   os.Stdout,
		stderr:   os.Stderr,
		inTerm:   func() bool { return isTerminal(os.Stdin) },
		outTerm:  func() bool { return isTerminal(os.Stdout) },
		errTerm:  func() bool { return isTerminal(os.Stderr) },
		dir:      dir,
		home:     home,
		userConf: userConfig(),
		host:     host,
		pid:      os.Getpid(),
		getenv:   os.Getenv,
		now:      time.Now,
		random:   rand.Reader,
	}
}

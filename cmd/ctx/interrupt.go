package main

import (
	"os"
	"os/signal"
	"syscall"
)

// keepWriting has a write to a pipe that nobody reads return an error. A command with something to
// remove calls it: without it SIGPIPE ends the process.
func keepWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

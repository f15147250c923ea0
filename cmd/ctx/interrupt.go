package main

import (
	"os"
	"os/signal"
	"syscall"
)

// keepWriting makes a write to a closed pipe return an error. A command that must remove something
// at its end calls it, since SIGPIPE would end the process.
func keepWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

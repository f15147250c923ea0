package main

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// world is everything outside the process that a command may use, besides the store. Tests and the
// demonstration make their own.
type world struct {
	// Has the context of run end with an interrupt from now on; nil for nothing to do
	watch func(code int)
	// Has a write that nobody reads be an error instead of the end of the process; nil for nothing
	// to do
	keepWriting func()
	// Has a large heap cost less from now on, see useLargePages; nil for nothing to do
	largePages     func()
	stdin          io.Reader
	stdout, stderr io.Writer
	// These report whether standard input or output is a terminal; nil is no terminal.
	inTerm, outTerm, errTerm func() bool
	// Returns the width of the terminal that standard output is; 0 for none; nil for none
	columns func() int

	page func(words string) (io.WriteCloser, error) // starts a pager; nil for no way to
	// Is told each JSON document; nil for nobody
	tell func(command string, fields []any, doc []byte)
	// Of the person at the terminal; nil for UTC
	zone *time.Location

	dir string // the working directory, absolute
	// Returns the directory that ctx is in, "" for not known; nil for not known
	beside   func() string
	home     string // "" for none
	userConf string // the user's config file; "" for none
	userData string // the directory of what ctx keeps for the user; "" for none
	host     string
	pid      int
	getenv   func(string) string
	now      func() time.Time
	patience time.Duration // with the program of an agent that is asked; 0 for agentPatience
	random   io.Reader
	// Runs a program in the place of this one; nil for no way to
	become func(dir, path string, args []string) (int, error)
	// The transcripts of this machine, where they were looked for; nil for not yet
	here *sessionsHere
	// Makes the durable calls; nil for the real thing
	fs *durable.FS
}

// expectMuch is for commands that take much memory.
func (w *world) expectMuch() {
	if w.largePages != nil {
		w.largePages()
	}
}

func asked(terminal func() bool) bool { return terminal != nil && terminal() }

// keepWriting makes a write to a closed pipe return an error. A command that must remove something
// at its end calls it, since SIGPIPE would end the process.
func keepWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

package main

import (
	"io"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// world is everything outside the process that a command may use, besides the store. Tests and the
// demonstration make their own.
type world struct {
	watch          func(code int) // has the context of run end with an interrupt from now on; nil for nothing to do
	keepWriting    func()         // has a write that nobody reads be an error instead of the end of the process; nil for nothing to do
	largePages     func()         // has a large heap cost less from now on, see useLargePages; nil for nothing to do
	stdin          io.Reader
	stdout, stderr io.Writer
	// These report whether standard input or output is a terminal; nil is no terminal.
	inTerm, outTerm, errTerm func() bool
	columns                  func() int // returns the width of the terminal that standard output is; 0 for none; nil for none

	page func(words string) (io.WriteCloser, error)     // starts a pager; nil for no way to
	tell func(command string, fields []any, doc []byte) // is told each JSON document; nil for nobody
	zone *time.Location                                 // of the person at the terminal; nil for UTC

	dir      string        // the working directory, absolute
	beside   func() string // returns the directory that ctx is in, "" for not known; nil for not known
	home     string        // "" for none
	userConf string        // the user's config file; "" for none
	host     string
	pid      int
	getenv   func(string) string
	now      func() time.Time
	random   io.Reader
	become   func(dir, path string, args []string) (int, error) // runs a program in the place of this one; nil for no way to
	fs       *durable.FS                                        // makes the durable calls; nil for the real thing
}

// expectMuch is for commands that take much memory.
func (w *world) expectMuch() {
	if w.largePages != nil {
		w.largePages()
	}
}

func asked(terminal func() bool) bool { return terminal != nil && terminal() }

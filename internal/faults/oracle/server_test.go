package oracle

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// command is a command for a server.
type command struct {
	Dir, Home string // the working directory and the home directory
	Args      []string
	Env       map[string]string
	Stdin     string
	Now       time.Time // by the clock of the command
	Seed      uint64    // of its random bytes
	Look      bool      // whether to read the sessions then
	Stop      int       // the step of durable.FS at which it stops, as if killed; 0 for none
	Keep      int       // how many quarters of a write at that step are done
	// Commands that run from the step At of this one on, one after the other; after it, where it has
	// not so many steps
	Beside []command
	At     int
}

// served is the result of a command.
type served struct {
	Code     int // exit code; -1 if it was stopped, -2 for a panic
	Steps    int // that durable.FS was asked for
	Out, Err string
	Beside   []served
	Logs     map[string]string // of the sessions then; "" for those of other stores
}

// server is a ctx that runs one command after the other in one process: the whole program from its
// arguments to its exit code, without the time that a process takes, and the same in every run.
type server struct {
	path string // of ctx
	in   *json.Encoder
	out  *json.Decoder
	errs bytes.Buffer
	end  func()
	kill func() error
}

// built returns the path of the program that serves.
func built(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv("CTX_TEST_BINARY"); path != "" {
		return path
	}
	return faults.BuildTests(tb)
}

// serverAt starts a server. The caller ends it.
func serverAt(tb testing.TB, path string) *server {
	tb.Helper()
	s := &server{path: path}
	c := faults.Program{Path: path, Dir: tb.TempDir()}.Command("serve-oracle")
	c.Stderr = &s.errs
	in, err := c.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	s.in, s.out = json.NewEncoder(in), json.NewDecoder(out)
	s.kill = c.Process.Kill
	s.end = func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, out)
		_ = c.Wait()
	}
	return s
}

// run runs a command to its end.
func (s *server) run(tb testing.TB, c *command) *served {
	tb.Helper()
	r := &served{}
	err := s.in.Encode(c)
	if err == nil {
		err = s.out.Decode(r)
	}
	if err != nil {
		s.end()
		tb.Fatalf("ctx %s: %v\n%s", strings.Join(c.Args, " "), err, s.errs.String())
	}
	return r
}

// runKill runs a command in a process of its own, and kills that after a time, unless the command
// has ended by then.
func (s *server) runKill(tb testing.TB, after time.Duration, c *command) *served {
	tb.Helper()
	one := serverAt(tb, s.path)
	defer one.end()
	if err := one.in.Encode(c); err != nil {
		tb.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = one.kill() })
	r := &served{}
	if one.out.Decode(r) != nil {
		r = &served{Code: -1, Err: one.errs.String()}
	}
	timer.Stop()
	return r
}

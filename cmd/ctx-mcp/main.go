// Command ctx-mcp serves what a store holds to agents that speak the Model Context Protocol, over standard input and output: it searches, lists and expands, and changes
// nothing. docs/agents/mcp.md says how an agent is told of it. It is an executable of its own so that its libraries stay out of ctx; `ctx mcp` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/failure"
	"github.com/gemini-ctx/ctx/machine"
	"github.com/gemini-ctx/ctx/repo"
)

// maxFrame is the longest message that is read. The arguments of a call are short.
const maxFrame = 1 << 20

func main() {
	c, watch := machine.Interrupts("ctx-mcp")
	watch(failure.Interrupted)
	os.Exit(run(c, os.Args[1:], machine.Env("ctx-mcp"), os.Stdin, os.Stdout, os.Stderr))
}

const usage = `ctx-mcp serves a store of ctx to agents that speak the Model Context Protocol, on standard input and output.
It reads, and changes nothing. An agent starts it; docs/agents/mcp.md says how it is told.

Usage: ctx-mcp [-C DIR]... [-c KEY=VALUE]...

  -C DIR        run as if started in DIR
  -c KEY=VALUE  set a setting for this run
  -version      print the version

The store is found as ctx finds it: CTX_DIR, or the first .gemini/context upwards from the working directory.
`

// run serves until in ends, which is how an agent says that it needs no more, and all that was asked is answered, or until c ends, and returns the
// exit code.
func run(c context.Context, args []string, env repo.Env, in io.ReadCloser, out io.Writer, errs io.Writer) int {
	flags := flag.NewFlagSet("ctx-mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dirs, version := list{}, false
	flags.Var(&dirs, "C", "")
	flags.Var((*list)(&env.Overrides), "c", "")
	flags.BoolVar(&version, "version", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return failure.Done
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("takes no argument: %.80q", flags.Arg(0))
	}
	for _, dir := range dirs {
		env.WorkDir = machine.Under(env.WorkDir, dir)
		if info, bad := os.Stat(env.WorkDir); err == nil && (bad != nil || !info.IsDir()) {
			err = fmt.Errorf("cannot change to %.200q: not a directory", dir)
		}
	}
	if err != nil {
		fmt.Fprintf(errs, "ctx-mcp: %v\nhint: `ctx-mcp -help` says how it is used\n", err)
		return failure.Usage
	}
	if version {
		fmt.Fprintf(out, "ctx-mcp version %s\n", machine.Version())
		return failure.Done
	}
	if r, err := repo.Open(env); err != nil {
		// The agent is told by every tool; the store may be made while it runs.
		fmt.Fprintf(errs, "ctx-mcp: warning: %s\n", failure.Explain(err).Message)
	} else {
		_ = r.Close() // nothing was read but settings
	}
	f := newFront(in, out)
	err = newServer(env, errs).Run(c, &mcp.IOTransport{Reader: f.reader(c), Writer: f, MaxLineLength: maxFrame + 1})
	switch {
	case c.Err() != nil:
		return failure.Interrupted
	case err != nil && !errors.Is(err, io.EOF):
		fmt.Fprintf(errs, "ctx-mcp: %v\n", err)
		return failure.Failed
	}
	return failure.Done
}

// list collects the values of a flag that may be repeated.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

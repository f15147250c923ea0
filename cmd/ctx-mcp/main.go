// Command ctx-mcp serves a store to agents that speak the Model Context Protocol, over standard
// input and output. Agents can search, list and expand, but change nothing. docs/agents/mcp.md
// describes the setup. It is a separate executable, so that ctx does not need its libraries; `ctx
// mcp` runs it.
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

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/repo"
)

// maxFrame is the maximum bytes of a message. The arguments of a call are short.
const maxFrame = 1 << 20

func main() {
	c, watch := environ.Interrupts("ctx-mcp")
	watch(command.Interrupted)
	os.Exit(run(c, os.Args[1:], environ.Env("ctx-mcp"), os.Stdin, os.Stdout, os.Stderr))
}

const usage = `ctx-mcp serves a store of ctx to agents that speak the Model Context Protocol, on standard input and output.
Only the tool remember writes into the store. Agents start it; see docs/agents/mcp.md.

Usage: ctx-mcp [-C DIR]... [-c KEY=VALUE]...

  -C DIR        run as if started in DIR
  -c KEY=VALUE  set a setting for this run
  -version      print the version

It finds the store as ctx does: CTX_DIR, or the first .gemini/context upwards from the working directory.
`

// run serves until c ends, or until in ends and all requests are answered. It returns the exit
// code.
func run(
	c context.Context, args []string, env repo.Env, in io.ReadCloser, out io.Writer, errs io.Writer,
) int {
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
		return command.Done
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("takes no argument: %.80q", flags.Arg(0))
	}
	for _, dir := range dirs {
		env.WorkDir = environ.Under(env.WorkDir, dir)
		if info, bad := os.Stat(env.WorkDir); err == nil && (bad != nil || !info.IsDir()) {
			err = fmt.Errorf("cannot change to %.200q: not a directory", dir)
		}
	}
	if err != nil {
		fmt.Fprintf(errs, "ctx-mcp: %v\nhint: `ctx-mcp -help` says how it is used\n", err)
		return command.Usage
	}
	if version {
		fmt.Fprintf(out, "ctx-mcp version %s\n", environ.Version())
		return command.Done
	}
	if err := mayServe(env); err != nil {
		// Every tool reports the error, too. Somebody may create or allow the store while the server
		// runs.
		fmt.Fprintf(errs, "ctx-mcp: warning: %s\n", command.Explain(err).Message)
	}
	f := newFront(in, out)
	err = newServer(env, errs).Run(c,
		&mcp.IOTransport{Reader: f.reader(c), Writer: f, MaxLineLength: maxFrame + 1})
	switch {
	case c.Err() != nil:
		return command.Interrupted
	case err != nil && !errors.Is(err, io.EOF):
		fmt.Fprintf(errs, "ctx-mcp: %v\n", err)
		return command.Failed
	}
	return command.Done
}

// mayServe returns why no tool can answer now; nil if tools can.
func mayServe(env repo.Env) error {
	r, err := openAllowed(env)
	if err != nil {
		return err
	}
	return r.Close()
}

// openAllowed opens the store, if it may speak to models.
func openAllowed(env repo.Env) (*repo.Repo, error) {
	r, err := repo.Open(env)
	if err != nil {
		return nil, err
	}
	ok, err := r.Allowed()
	if err == nil && !ok {
		err = repo.ErrNotAllowed // without a path, whose names anybody may choose
	}
	if err != nil {
		_ = r.Close() // nothing was read but settings and the key
		return nil, err
	}
	return r, nil
}

// list collects the values of a repeated flag.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

// Set implements flag.Value.
func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

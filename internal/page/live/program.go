package live

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/page"
	"github.com/gemini-ctx/ctx/internal/repo"
)

const usage = `ctx-view-serve serves the pages of a store to a browser on this machine, ` +
	"and makes pages of HTML. `ctx view` and `ctx export`" + ` start it.

  -c KEY=VALUE  set a setting for this run
  -s SESSION    print the address of this session, not that of the project
  -b BRANCH     of this branch of the session
  -port N       listen on this port of 127.0.0.1
  -open         open the page
  -pages        serve nothing: make the pages that JSON on standard input asks for
  -version      print the version
`

// Main runs the program with the arguments of the process, and ends the process.
func Main() {
	c, watch := environ.Interrupts(page.Program)
	watch(command.Done)
	os.Exit(run(c, os.Args[1:], environ.Env(page.Program), os.Stdout, os.Stderr))
}

// options are the command line.
type options struct {
	session, branch string
	port            int
	open, version   bool
	pages           bool
}

// run serves until c ends, which is how it is meant to end: it returns 0 then.
func run(c context.Context, args []string, env repo.Env, out, errs io.Writer) int {
	o, err := parse(args, &env)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return command.Done
	case err == nil && o.version:
		fmt.Fprintf(out, "%s version %s\n", page.Program, environ.Version())
		return command.Done
	case err == nil && o.pages:
		err = pages(os.Stdin, out)
	case err == nil:
		err = o.serve(c, env, out, errs)
	}
	if err == nil || c.Err() != nil {
		return command.Done
	}
	p := command.Explain(err)
	fmt.Fprintln(errs, p.Text())
	return p.Code
}

func parse(args []string, env *repo.Env) (o options, err error) {
	flags := flag.NewFlagSet(page.Program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Func("c", "", func(s string) error {
		env.Overrides = append(env.Overrides, s)
		return nil
	})
	flags.StringVar(&o.session, "s", "", "")
	flags.StringVar(&o.branch, "b", "main", "")
	flags.IntVar(&o.port, "port", 0, "")
	flags.BoolVar(&o.open, "open", false, "")
	flags.BoolVar(&o.pages, "pages", false, "")
	flags.BoolVar(&o.version, "version", false, "")
	err = flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("takes no argument: %.80q", flags.Arg(0))
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		err = command.Usagef("%s: %v", page.Program, err)
	}
	return o, err
}

func (o *options) serve(c context.Context, env repo.Env, out, errs io.Writer) error {
	name := ""
	if o.session != "" {
		name = page.FileName(o.session, o.branch)
	}
	site := &project{env}
	if _, err := site.Operation(c); err != nil {
		return err
	}
	on, err := (&net.ListenConfig{}).Listen(c, "tcp4", fmt.Sprintf("127.0.0.1:%d", o.port))
	if err != nil {
		return command.WithHint(fmt.Errorf("view: cannot listen: %w", err),
			"--port N names another port; without it ctx takes a free one")
	}
	s := NewServer(site, on.Addr().String())
	if _, err := fmt.Fprintln(out, s.Address(name)); err != nil {
		_ = on.Close()
		return err
	}
	if o.open {
		go func() {
			if err := environ.Show(c, s.Address(name)); err != nil && c.Err() == nil {
				fmt.Fprintf(errs, "ctx: warning: %s\n",
					strings.TrimSpace(command.Explain(err).Message))
			}
		}()
	}
	return listen(c, on, s)
}

// listen answers requests until c ends. A browser that waits for news is cut off then.
func listen(c context.Context, on net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, MaxHeaderBytes: mostHeader,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return c },
	}
	stop := context.AfterFunc(c, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(on); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

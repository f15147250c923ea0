// Command ctx-remote-postgres serves remotes in a database of PostgreSQL to ctx, and sets such a
// database up. docs/remote-postgres.md describes both.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/helper"
	"github.com/gemini-ctx/ctx/internal/remote/postgres"
)

const usage = `ctx-remote-postgres serves remotes postgres://USER@HOST/DATABASE?team=TEAM. ctx starts it.
It also sets a database up, with a URL of the role that owns the tables:

  ctx-remote-postgres init URL              make the tables, or bring them to this version
  ctx-remote-postgres grant URL TEAM ROLE   let a role read and write a team
  ctx-remote-postgres revoke URL TEAM ROLE  take that back
  ctx-remote-postgres version

A URL on a command line must have no password, because others on the machine can see it: set PGPASSWORD
or write ~/.pgpass. With "-" for the URL it is read from standard input.
`

// The exit codes: 0 for done.
const (
	failed     = 1
	wrongUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	var err error
	switch {
	case len(args) == 0:
		err = helper.Serve(ctx, program(), in, out)
	case args[0] == "version" && len(args) == 1:
		fmt.Fprintf(out, "ctx-remote-postgres version %s\n", buildVersion())
	case args[0] == "init" && len(args) == 2, (args[0] == "grant" || args[0] == "revoke") &&
		len(args) == 4:
		err = admin(ctx, args, in, out)
	case args[0] == "help" || args[0] == "-h" || args[0] == "--help":
		fmt.Fprint(out, usage)
	default:
		fmt.Fprint(errs, usage)
		return wrongUsage
	}
	if err != nil {
		fmt.Fprintf(errs, "ctx-remote-postgres: %v\n", err)
		return failed
	}
	return 0
}

func program() helper.Program {
	return helper.Program{Name: "ctx-remote-postgres", Version: buildVersion(),
		Features: []string{helper.FeatureSearch, helper.FeatureCheck},
		Open: func(ctx context.Context, url string) (remote.Remote, error) {
			r, err := postgres.Open(ctx, url)
			if err != nil {
				return nil, err
			}
			return r, nil
		}}
}

func admin(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	address, err := urlOf(args[1], in)
	if err != nil {
		return err
	}
	switch args[0] {
	case "init":
		before, err := postgres.Init(ctx, address)
		switch {
		case err != nil:
			return err
		case before == postgres.SchemaVersion:
			fmt.Fprintf(out, "The tables have version %d already.\n", before)
		default:
			fmt.Fprintf(out, "The tables now have version %d.\n", postgres.SchemaVersion)
		}
		return nil
	case "grant":
		if err := postgres.Grant(ctx, address, args[2], args[3]); err != nil {
			return err
		}
		fmt.Fprintf(out, "Role %q may read and write team %q.\n", args[3], args[2])
		return nil
	}
	if err := postgres.Revoke(ctx, address, args[2], args[3]); err != nil {
		return err
	}
	fmt.Fprintf(out, "Role %q may no longer use team %q. What it has read, it keeps.\n",
		args[3], args[2])
	return nil
}

// urlOf returns the URL that an argument names. It never repeats the URL in an error.
func urlOf(arg string, in io.Reader) (string, error) {
	if arg == "-" {
		line, err := bufio.NewReader(io.LimitReader(in, 64<<10)).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimSpace(line), nil
	}
	u, err := url.Parse(arg)
	if err != nil {
		return "", errors.New("the URL is not one")
	}
	if _, secret := u.User.Password(); secret || u.Query().Has("password") {
		return "",
			errors.New(
				"the URL has a password, which others on this machine can see: use PGPASSWORD, " +
					"~/.pgpass, or - to read the URL from standard input")
	}
	return arg, nil
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

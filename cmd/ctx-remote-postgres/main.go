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
	"strings"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/helper"
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

func main() { program().Main() }

func program() helper.Program {
	return helper.Program{Name: "ctx-remote-postgres", Usage: usage,
		Features: []string{helper.FeatureSearch, helper.FeatureCheck},
		Open: func(ctx context.Context, url string) (remote.Remote, error) {
			r, err := openDatabase(ctx, url)
			if err != nil {
				return nil, err
			}
			return r, nil
		},
		Verbs: map[string]helper.Verb{
			"init": {Least: 1, Most: 1, Run: setUp},
			"grant": {Least: 3, Most: 3, Run: onRole(grant,
				"Role %[2]q may read and write team %[1]q.\n")},
			"revoke": {Least: 3, Most: 3, Run: onRole(revoke,
				"Role %[2]q may no longer use team %[1]q. What it has read, it keeps.\n")},
		},
	}
}

func setUp(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	address, err := urlOf(args[0], in)
	if err != nil {
		return err
	}
	before, err := initialize(ctx, address)
	switch {
	case err != nil:
	case before == schemaVersion:
		fmt.Fprintf(out, "The tables have version %d already.\n", before)
	default:
		fmt.Fprintf(out, "The tables now have version %d.\n", schemaVersion)
	}
	return err
}

// onRole does what a verb does with a team and a role, and prints that it is done.
func onRole(
	do func(ctx context.Context, url, team, role string) error, done string,
) func(context.Context, []string, io.Reader, io.Writer) error {
	return func(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
		address, err := urlOf(args[0], in)
		if err == nil {
			err = do(ctx, address, args[1], args[2])
		}
		if err == nil {
			fmt.Fprintf(out, done, args[1], args[2])
		}
		return err
	}
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

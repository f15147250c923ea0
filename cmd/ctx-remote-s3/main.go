// Command ctx-remote-s3 serves remotes in a bucket of S3 to ctx, which starts it.
// docs/remote-s3.md describes it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/helper"
	"github.com/gemini-ctx/ctx/internal/remote/s3"
)

const usage = `ctx-remote-s3 serves remotes s3://BUCKET/PREFIX?endpoint=URL&region=NAME. ctx starts it.

  ctx-remote-s3 check URL   prove that the endpoint refuses what it has to refuse
  ctx-remote-s3 version

Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials (AWS_PROFILE).
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
		fmt.Fprintf(out, "ctx-remote-s3 version %s\n", buildVersion())
	case args[0] == "check" && len(args) == 2:
		if err = check(ctx, args[1]); err == nil {
			fmt.Fprintln(out, "The endpoint honours If-None-Match and If-Match.")
		}
	case args[0] == "help" || args[0] == "-h" || args[0] == "--help":
		fmt.Fprint(out, usage)
	default:
		fmt.Fprint(errs, usage)
		return wrongUsage
	}
	if err != nil {
		fmt.Fprintf(errs, "ctx-remote-s3: %v\n", err)
		return failed
	}
	return 0
}

func check(ctx context.Context, url string) error {
	r, err := s3.Open(ctx, url)
	if err != nil {
		return err
	}
	return r.Check(ctx)
}

func program() helper.Program {
	return helper.Program{Name: "ctx-remote-s3", Version: buildVersion(),
		Features: []string{helper.FeatureCheck},
		Open: func(ctx context.Context, url string) (remote.Remote, error) {
			r, err := s3.Open(ctx, url)
			if err != nil {
				return nil, err
			}
			return r, nil
		}}
}

func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

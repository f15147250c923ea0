// Command ctx-remote-s3 serves remotes in a bucket of S3 to ctx, which starts it.
// docs/remote-s3.md describes it.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/helper"
)

const usage = `ctx-remote-s3 serves remotes s3://BUCKET/PREFIX?endpoint=URL&region=NAME. ctx starts it.

  ctx-remote-s3 check URL   prove that the endpoint refuses what it has to refuse
  ctx-remote-s3 version

Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or from ~/.aws/credentials (AWS_PROFILE).
`

func main() { program().Main() }

func program() helper.Program {
	return helper.Program{Name: "ctx-remote-s3", Usage: usage,
		Features: []string{helper.FeatureCheck},
		Open: func(ctx context.Context, url string) (remote.Remote, error) {
			r, err := openBucket(ctx, url)
			if err != nil {
				return nil, err
			}
			return r, nil
		},
		Verbs: map[string]helper.Verb{"check": {Least: 1, Most: 1, Run: check}},
	}
}

func check(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
	r, err := openBucket(ctx, args[0])
	if err == nil {
		err = r.Check(ctx)
	}
	if err == nil {
		fmt.Fprintln(out, "The endpoint honours If-None-Match and If-Match.")
	}
	return err
}

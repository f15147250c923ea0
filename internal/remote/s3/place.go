package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// place is what a URL says.
type place struct {
	bucket, prefix string // the prefix is "" or ends with a slash
	endpoint       string // host, and port if it is not the scheme's
	secure         bool
	region         string // "" to ask the endpoint
}

// amazon is the endpoint if nothing names another one.
const amazon = "https://s3.amazonaws.com"

// parse reads s3://BUCKET/PREFIX?endpoint=URL&region=NAME. What the URL does not say comes from the
// variables of AWS. A URL with a user is refused, because a key does not belong there.
func parse(address string, getenv func(string) string) (place, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.Fragment != "" {
		return place{},
			errors.New("the URL does not have the form s3://BUCKET/PREFIX?endpoint=URL&region=NAME")
	}
	if u.User != nil {
		return place{},
			errors.New(
				"the URL has a key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write " +
					"~/.aws/credentials")
	}
	query := u.Query()
	for name := range query {
		if name != "endpoint" && name != "region" {
			return place{}, fmt.Errorf("the URL has an unknown parameter %.40q", name)
		}
	}
	p := place{bucket: u.Host, prefix: strings.Trim(u.Path, "/")}
	for part := range strings.SplitSeq(p.prefix, "/") {
		if p.prefix != "" && (part == "" || part == "." || part == "..") ||
			strings.ContainsFunc(part, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return place{}, fmt.Errorf("bad prefix %.80q", p.prefix)
		}
	}
	if p.prefix != "" {
		p.prefix += "/"
	}
	endpoint := first(query.Get("endpoint"), getenv("AWS_ENDPOINT_URL_S3"),
		getenv("AWS_ENDPOINT_URL"), amazon)
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	e, err := url.Parse(endpoint)
	if err != nil || e.Host == "" || e.User != nil || e.Scheme != "https" && e.Scheme != "http" ||
		strings.Trim(e.Path, "/") != "" || e.RawQuery != "" {
		return place{}, errors.New("the endpoint does not have the form https://HOST")
	}
	p.endpoint, p.secure = e.Host, e.Scheme == "https"
	p.region = first(query.Get("region"), getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))
	if p.region == "" && endpoint != amazon {
		p.region = "us-east-1" // which most others call theirs
	}
	return p, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// client returns a client of the place. It tries each request once: what a failed request did has
// to be looked at before it is tried again.
func (p place) client(ctx context.Context, getenv func(string) string) (*minio.Client, error) {
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	// A machine that has none of these variables would be asked for a role over the network, and
	// waited for.
	if first(getenv("AWS_WEB_IDENTITY_TOKEN_FILE"),
		getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"),
		getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")) != "" {
		chain = append(chain, &credentials.IAM{})
	}
	creds := credentials.NewChainCredentials(chain)
	client, err := minio.New(p.endpoint,
		&minio.Options{Creds: creds, Secure: p.secure, Region: p.region, MaxRetries: 1})
	if err != nil {
		return nil, err
	}
	client.SetAppInfo("ctx-remote-s3", "1")
	if value, err := client.GetCreds(); err != nil || value.AccessKeyID == "" {
		return nil,
			errors.New(
				"no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write " +
					"~/.aws/credentials")
	}
	return client, ctx.Err()
}

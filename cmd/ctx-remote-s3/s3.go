package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// tries is how often a request is sent that meets a conflict or fails. With the pauses of wait it
// takes some 6 seconds on average until the last.
const tries = 8

// bucket is a remote in a bucket of S3, or of another store that honours its conditional requests,
// or in the part of it under a prefix. A file is an object. PutNew and Swap are one conditional
// request each, so no lock object is needed; Check proves that the store honours the conditions. It
// implements remote.Remote and remote.Checker. What a verb stored is durable when the verb returns.
type bucket struct {
	client         *minio.Client
	bucket, prefix string
	// patience is how long one request may take, beside the time that its bytes take.
	patience time.Duration
	// wait pauses before try number n, from 1 on, or until ctx ends.
	wait func(ctx context.Context, n int) error
}

// openBucket returns the remote of s3://BUCKET/PREFIX, with ?endpoint=URL and ?region=NAME. Keys
// come from the environment and the files of AWS. It makes no request, so errors are of the URL and
// the keys.
func openBucket(ctx context.Context, url string) (*bucket, error) {
	p, err := parse(url, os.Getenv)
	if err != nil {
		return nil, err
	}
	client, err := p.client(ctx, os.Getenv)
	if err != nil {
		return nil, err
	}
	return &bucket{client: client, bucket: p.bucket, prefix: p.prefix, patience: time.Minute,
		wait: pause}, nil
}

// pause waits for a random time that grows with the number of tries, so that clients that met each
// other do not meet again.
func pause(ctx context.Context, n int) error {
	most := min(50*time.Millisecond<<n, 4*time.Second)
	timer := time.NewTimer(most/4 + mathrand.N(most))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// limited returns a context for one request that carries n bytes: a line of 50 kB/s is fast enough.
func (r *bucket) limited(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, r.patience+time.Duration(n)*time.Second/50_000)
}

// status returns the HTTP status of an error, or 0 if no answer came.
func status(err error) int { return minio.ToErrorResponse(err).StatusCode }

// uncertain reports whether a request that failed with err may have been carried out, or may
// succeed later.
func uncertain(err error) bool {
	code := status(err)
	return code == 0 || code >= 500 || code == http.StatusTooManyRequests ||
		code == http.StatusRequestTimeout
}

// explain makes an error of the library one of a remote.
func explain(ctx context.Context, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case status(err) == http.StatusNotFound && minio.ToErrorResponse(err).Code != "NoSuchBucket":
		return fmt.Errorf("%w: %s", remote.ErrNotFound, what)
	case uncertain(err) || status(err) == http.StatusConflict:
		return fmt.Errorf("%w: %s: %w", remote.ErrTemporary, what, err)
	}
	return fmt.Errorf("%s: %w (%s)", what, err, minio.ToErrorResponse(err).Code)
}

// retry runs a request that may be repeated, until it ends in something that is not uncertain.
func (r *bucket) retry(
	ctx context.Context, what string, request func(ctx context.Context) error,
) error {
	for n := 1; ; n++ {
		err := func() error {
			limited, cancel := r.limited(ctx, remote.MaxFile)
			defer cancel()
			return request(limited)
		}()
		if err == nil || !uncertain(err) || n == tries || ctx.Err() != nil {
			return explain(ctx, what, err)
		}
		if err := r.wait(ctx, n); err != nil {
			return err
		}
	}
}

// List implements remote.Remote.
func (r *bucket) List(ctx context.Context, prefix string) ([]remote.File, error) {
	var files []remote.File
	var last string // a list that fails on the way goes on behind it
	err := r.retry(ctx, "the bucket "+r.bucket, func(ctx context.Context) error {
		for o := range r.client.ListObjects(ctx, r.bucket,
			minio.ListObjectsOptions{Prefix: r.prefix + prefix, Recursive: true,
				StartAfter: last}) {
			if o.Err != nil {
				return o.Err
			}
			last = o.Key
			// Objects of others in the bucket are no files of the remote.
			if name := strings.TrimPrefix(o.Key, r.prefix); remote.CheckName(name) == nil {
				files = append(files, remote.File{Name: name, Size: o.Size, Tag: o.ETag})
			}
		}
		return ctx.Err()
	})
	slices.SortFunc(files, func(a, b remote.File) int { return strings.Compare(a.Name, b.Name) })
	return files, err
}

// Get implements remote.Remote.
func (r *bucket) Get(ctx context.Context, name string) ([]byte, error) {
	data, _, err := r.get(ctx, name)
	return data, err
}

// get returns a file, and the ETag that came in the same answer.
func (r *bucket) get(ctx context.Context, name string) (data []byte, etag string, err error) {
	if err := remote.CheckName(name); err != nil {
		return nil, "", err
	}
	err = r.retry(ctx, name, func(ctx context.Context) error {
		core := minio.Core{Client: r.client}
		body, info, _, err := core.GetObject(ctx, r.bucket, r.prefix+name,
			minio.GetObjectOptions{})
		if err != nil {
			return err
		}
		defer body.Close()
		etag = info.ETag
		data, err = io.ReadAll(io.LimitReader(body, remote.MaxFile+1))
		return err
	})
	if len(data) > remote.MaxFile {
		return nil, "",
			fmt.Errorf("%s: a remote has files of %d bytes at most", name, remote.MaxFile)
	}
	return data, etag, err
}

// put sends a file once, if the condition holds: etag is that of the object to be replaced, or ""
// if there must be none.
func (r *bucket) put(ctx context.Context, name, etag string, data []byte) error {
	options := minio.PutObjectOptions{DisableMultipart: true, SendContentMd5: true,
		ContentType: "application/octet-stream"}
	if etag == "" {
		options.SetMatchETagExcept("*")
	} else {
		options.SetMatchETag(etag)
	}
	limited, cancel := r.limited(ctx, len(data))
	defer cancel()
	_, err := r.client.PutObject(limited, r.bucket, r.prefix+name, bytes.NewReader(data),
		int64(len(data)), options)
	return err
}

// PutNew implements remote.Remote.
func (r *bucket) PutNew(ctx context.Context, name string, data []byte) error {
	if err := remote.CheckName(name); err != nil {
		return err
	}
	for n := 1; ; n++ {
		err := r.put(ctx, name, "", data)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case status(err) != http.StatusPreconditionFailed && status(err) != http.StatusConflict &&
			!uncertain(err):
			return explain(ctx, name, err)
		}
		// Somebody stored it: another client, or this one, and the answer was lost.
		now, _, readErr := r.get(ctx, name)
		switch {
		case readErr == nil && bytes.Equal(now, data):
			return nil
		case readErr == nil:
			return fmt.Errorf("%w: %s", remote.ErrExists, name)
		case !errors.Is(readErr, remote.ErrNotFound):
			return readErr
		case n == tries:
			return explain(ctx, name, err)
		}
		if err := r.wait(ctx, n); err != nil {
			return err
		}
	}
}

// Swap implements remote.Remote.
//
// The condition is the ETag that came with the old content, so a swap of somebody else makes it
// fail. If an answer is lost, the content says whether this client's request was carried out.
func (r *bucket) Swap(ctx context.Context, name string, old, new []byte) error {
	if err := remote.CheckName(name); err != nil {
		return err
	}
	lost := false // an answer to a request that may have been carried out
	for n := 1; ; n++ {
		etag := ""
		now, tag, err := r.get(ctx, name)
		there := err == nil
		switch {
		case err != nil && !errors.Is(err, remote.ErrNotFound):
			return err
		case lost && there && bytes.Equal(now, new) && !bytes.Equal(old, new):
			return nil
		case there != (old != nil) || !bytes.Equal(now, old):
			if lost {
				return fmt.Errorf("%w: %s: no answer came, and the file has changed since",
					remote.ErrTemporary, name)
			}
			return fmt.Errorf("%w: %s", remote.ErrStale, name)
		case there && tag == "":
			return fmt.Errorf("%s: the endpoint sends no ETag", name)
		case there:
			etag = tag
		}
		err = r.put(ctx, name, etag, new)
		switch code := status(err); {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case uncertain(err):
			lost = true
		case code == http.StatusPreconditionFailed, code == http.StatusConflict,
			code == http.StatusNotFound && etag != "":
			// Somebody was faster, or is at it: the next look tells.
		default:
			return explain(ctx, name, err)
		}
		if n == tries {
			return fmt.Errorf("%w: %s: %w", remote.ErrTemporary, name, err)
		}
		if err := r.wait(ctx, n); err != nil {
			return err
		}
	}
}

// Delete implements remote.Remote.
func (r *bucket) Delete(ctx context.Context, names []string) error {
	if err := errors.Join(lists.Map(names, remote.CheckName)...); err != nil {
		return err
	}
	for _, name := range names {
		err := r.retry(ctx, name, func(ctx context.Context) error {
			return r.client.RemoveObject(ctx, r.bucket, r.prefix+name, minio.RemoveObjectOptions{})
		})
		if err != nil && !errors.Is(err, remote.ErrNotFound) {
			return err
		}
	}
	return nil
}

// Check implements remote.Checker. Several stores take the conditional headers and ignore them:
// with these, two clients that write at once lose one of the two writes.
func (r *bucket) Check(ctx context.Context) (err error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return err
	}
	name := "check/" + hex.EncodeToString(b[:])
	defer func() {
		if gone := r.Delete(context.WithoutCancel(ctx), []string{name}); err == nil {
			err = gone
		}
	}()
	if err := r.PutNew(ctx, name, []byte("one")); err != nil {
		return err
	}
	_, etag, err := r.get(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		etag, header string
		refused      bool
	}{
		{"", "If-None-Match: *", true},
		{strings.Repeat("0", 32), "If-Match", true},
		{etag, "If-Match", false},
		{etag, "If-Match", true}, // it is that of the content before
	} {
		err := r.put(ctx, name, c.etag, fmt.Appendf(nil, "two %s", c.header))
		switch code := status(err); {
		case c.refused && err == nil:
			return fmt.Errorf(
				"the endpoint ignores the header %s: it cannot be a remote, because clients that "+
					"write at once would lose work", c.header)
		case c.refused && code != http.StatusPreconditionFailed, !c.refused && err != nil:
			return explain(ctx, "the check of "+c.header, err)
		}
	}
	return nil
}

// Close implements remote.Remote. Everything was stored.
func (r *bucket) Close() error { return nil }

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
		return place{}, errors.New(
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
		return nil, errors.New(
			"no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write " +
				"~/.aws/credentials")
	}
	return client, ctx.Err()
}

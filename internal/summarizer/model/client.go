package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// Client asks one provider. It follows no redirect, because the key must not go to a host that
// nobody named.
type Client struct {
	base   *url.URL
	header http.Header // of every request; the only place of the key
	secret string      // the key, which is removed from errors
	http   *http.Client

	sleep  func(ctx context.Context, d time.Duration) error
	jitter func() float64 // from 0 to 1
	now    func() time.Time
}

// The limits of what a provider may send, and of repeated requests.
const (
	maxBody  = 8 << 20  // bytes of an answer: a thousand times a summary
	maxError = 64 << 10 // bytes of an error answer
	tries    = 4
	backoff  = time.Second // before the second try; doubled before each further one
)

// Options are the settings of a Client.
type Options struct {
	Base     string // the base URL of the provider
	Header   string // the name of the header for the key
	Prefix   string // the text before the key in that header
	Key      string // "" for none
	Insecure bool   // allow http to other hosts
	Sleep    func(ctx context.Context, d time.Duration) error
	Jitter   func() float64   // from 0 to 1
	Now      func() time.Time // the clock
}

// NewClient checks the options. Without Insecure, the key goes out only over TLS or to this
// machine.
func NewClient(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(o.Base, "/"))
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("base URL is not of the form https://HOST/PATH")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil,
			errors.New(
				"base URL has a user, a query or a fragment; a key goes into its own variable")
	case base.Scheme == "http" && !isLocal(base.Hostname()) && !o.Insecure:
		return nil,
			fmt.Errorf("base URL is not https, and %q is another machine; --insecure allows it",
				base.Hostname())
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() // always of this type
	transport.MaxResponseHeaderBytes = maxError
	c := &Client{base: base,
		header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
		secret: o.Key,
		http: &http.Client{Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			}},
		sleep: o.Sleep, jitter: o.Jitter, now: o.Now}
	if o.Key != "" {
		if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, errors.New("key has invalid characters")
		}
		c.header.Set(o.Header, o.Prefix+o.Key)
	}
	return c, nil
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Post sends a document and decodes the answer into into. It repeats a request that may succeed
// later, up to four times in total. It waits one, two and four seconds, each varied by half, or as
// long as the provider asks, and stops if the time of ctx would run out. The error is an *Error
// without the key.
func (c *Client) Post(ctx context.Context, path string, body, into any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		e := c.once(ctx, path, b, into)
		if e == nil {
			return nil
		}
		e.Message = c.scrub(e.Message)
		wait := c.pause(n, e.after)
		if !e.retry || n == tries || ctx.Err() != nil || c.tooLate(ctx, wait) ||
			c.sleep(ctx, wait) != nil {
			return e
		}
	}
}

// pause returns how long to wait after try n.
func (c *Client) pause(n int, after time.Duration) time.Duration {
	wait := backoff << (n - 1)
	wait = wait/2 + time.Duration(c.jitter()*float64(wait))
	return max(wait, after)
}

// tooLate reports whether the deadline of ctx will have passed after a wait.
func (c *Client) tooLate(ctx context.Context, wait time.Duration) bool {
	end, ok := ctx.Deadline()
	return ok && c.now().Add(wait).After(end)
}

func (c *Client) scrub(s string) string {
	if c.secret == "" {
		return s
	}
	return strings.ReplaceAll(s, c.secret, "[key]")
}

func (c *Client) once(ctx context.Context, path string, body []byte, into any) *Error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+path,
		bytes.NewReader(body))
	if err != nil {
		return &Error{Kind: summarizer.Terminal, Message: "request cannot be made: " + err.Error()}
	}
	request.Header = c.header.Clone()
	response, err := c.http.Do(request)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		// An error without readable text is still an error.
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxError))
		return statusError(response, text, c.now())
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return c.unreachable(ctx, err)
	}
	return c.read(response, text, into)
}

// unreachable returns the error of a request that got no complete answer.
func (c *Client) unreachable(ctx context.Context, err error) *Error {
	if ctx.Err() != nil {
		return &Error{Kind: summarizer.Transient,
			Message: fmt.Sprintf("%s did not answer in time", c.base.Host)}
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // without the long URL, which is known
	}
	return &Error{Kind: summarizer.Transient, Message: fmt.Sprintf("%s: %v", c.base.Host, err),
		retry: true}
}

// read decodes the document of a successful answer.
func (c *Client) read(response *http.Response, text []byte, into any) *Error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case len(text) > maxBody:
		return &Error{Kind: summarizer.Transient,
			Message: fmt.Sprintf("%s sent more than %d bytes", c.base.Host, maxBody)}
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return &Error{Kind: summarizer.Terminal,
			Message: fmt.Sprintf("%s answered with %q, not JSON: is the base URL right?",
				c.base.Host, kind)}
	}
	if status := statusWithin(text); status != 0 {
		inner := *response
		inner.StatusCode = status
		return statusError(&inner, text, c.now())
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &Error{Kind: summarizer.Transient,
			Message: fmt.Sprintf("%s sent JSON that cannot be read: %v", c.base.Host, err),
			retry:   true}
	}
	return nil
}

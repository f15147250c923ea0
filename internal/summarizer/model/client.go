package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
		return nil, errors.New(
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
		return failure(summarizer.Terminal, "request cannot be made: %v", err)
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
		return failure(summarizer.Transient, "%s did not answer in time", c.base.Host)
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
		return failure(summarizer.Transient, "%s sent more than %d bytes", c.base.Host, maxBody)
	case kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return failure(summarizer.Terminal, "%s answered with %q, not JSON: is the base URL right?",
			c.base.Host, kind)
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

// complaint is the content of a provider's error answer, in the form of Gemini or OpenAI, or as the
// bare text of Ollama.
type complaint struct {
	message string
	codes   []string      // code, status, type, reasons and quotas, in the provider's words
	after   time.Duration // when to ask again; 0 if unknown
}

// has reports whether one of the codes contains a part, in any case.
func (c complaint) has(part string) bool {
	return slices.ContainsFunc(c.codes, func(code string) bool {
		return strings.Contains(strings.ToLower(code), part)
	})
}

// says reports whether the message contains a part, in any case.
func (c complaint) says(part string) bool {
	return strings.Contains(strings.ToLower(c.message), part)
}

func readComplaint(text []byte) complaint {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0] // Gemini streams put the error into a list
	}
	if json.Unmarshal(text, &outer) != nil || outer.Error == nil {
		return complaint{message: string(text)}
	}
	var c complaint
	if json.Unmarshal(outer.Error, &c.message) == nil {
		return c
	}
	var inner struct {
		Message string `json:"message"`
		Status  string `json:"status"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Details []struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
			Violations []struct {
				QuotaID string `json:"quotaId"`
			} `json:"violations"`
		} `json:"details"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		return complaint{message: string(outer.Error)}
	}
	c.message = inner.Message
	c.codes = append(c.codes, inner.Status, inner.Type, fmt.Sprint(inner.Code))
	for _, d := range inner.Details {
		c.codes = append(c.codes, d.Reason)
		if after, err := time.ParseDuration(d.RetryDelay); err == nil && after > 0 {
			c.after = after
		}
		for _, v := range d.Violations {
			c.codes = append(c.codes, v.QuotaID)
		}
	}
	return c
}

var retryIn = regexp.MustCompile(`(?i)(?:retry|try again) in ((?:[0-9.]+(?:ms|s|m|h))+)`)

// statusError returns the error for an answer with an error status.
func statusError(response *http.Response, text []byte, now time.Time) *Error {
	c := readComplaint(text)
	after := cmp.Or(retryAfter(response.Header.Get("Retry-After"), now), c.after)
	if m := retryIn.FindStringSubmatch(c.message); after == 0 && m != nil {
		after, _ = time.ParseDuration(m[1]) // 0 if it cannot be parsed
	}
	e := &Error{
		Message: fmt.Sprintf("HTTP %d: %s", response.StatusCode, strings.TrimSpace(c.message)),
		after:   max(after, 0),
	}
	if strings.TrimSpace(c.message) == "" {
		e.Message = fmt.Sprintf("HTTP %d %s", response.StatusCode,
			http.StatusText(response.StatusCode))
	}
	e.Kind, e.retry = meaning(response.StatusCode, c, after)
	if response.StatusCode/100 == 3 {
		e.Message = fmt.Sprintf(
			"HTTP %d: leads to %q, and no redirect is followed: is the base URL right?",
			response.StatusCode, response.Header.Get("Location"))
	}
	return e
}

// meaning returns the kind of an error, and whether asking again may help. The provider's words
// distinguish a used-up quota from a rate that was too high: a daily quota or an unpaid bill lasts,
// a named delay passes.
func meaning(status int, c complaint, after time.Duration) (summarizer.Kind, bool) {
	switch {
	case status == http.StatusTooManyRequests &&
		(c.has("perday") || c.has("insufficient_quota") || c.says("billing") && after == 0 ||
			c.says("quota") && after == 0):
		return summarizer.Quota, false
	case status == http.StatusPaymentRequired:
		return summarizer.Quota, false
	// 529 means overloaded at some providers
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable,
		status == 529:
		return summarizer.Capacity, true
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return summarizer.Transient, true
	case status == http.StatusRequestEntityTooLarge, c.has("context_length"),
		status == http.StatusBadRequest && c.says("token count"):
		return summarizer.Refused, false // too long, which concerns only this claim
	}
	return summarizer.Terminal, false
}

// statusWithin returns the status of an error that came with HTTP 200, as gateways pass on errors
// from behind them. It returns 0 if the answer is no error, and 502 (the server behind the gateway
// failed) if the error has no status.
func statusWithin(text []byte) int {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(text, &outer) != nil || len(outer.Error) == 0 ||
		string(outer.Error) == "null" {
		return 0
	}
	for _, code := range readComplaint(text).codes {
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	return http.StatusBadGateway
}

// retryAfter parses the value of the header Retry-After: seconds, or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

package model

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

const key = "key-0123456789abcdef"

type document struct {
	Text string `json:"text"`
}

// asked is a client of a test server, with a record of its waits.
type asked struct {
	client *Client
	waits  []time.Duration
}

func clientOf(t *testing.T, base string) *asked {
	t.Helper()
	a := &asked{}
	client, err := NewClient(Options{Base: base, Header: "X-Key", Key: key, Now: time.Now,
		Jitter: func() float64 { return 0.5 },
		Sleep: func(_ context.Context, d time.Duration) error {
			a.waits = append(a.waits, d)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.http.CloseIdleConnections)
	a.client = client
	return a
}

func ok(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = io.WriteString(w, `{"text":"port 5433","error":null}`)
}

// status answers with an error.
func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// body answers 200 with a text of a content type.
func body(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

// hijacked answers with raw bytes and closes the connection.
func hijacked(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = buf.WriteString(raw)
		_ = buf.Flush()
		_ = conn.Close()
	}
}

const (
	perDay    = `{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 37.2s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}`
	perMinute = `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]},{"retryDelay":"37s"}]}}`
	noMoney   = `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`
	tooFast   = `{"error":{"message":"Rate limit reached for m on requests per min. Please try again in 120ms.","type":"requests","code":"rate_limit_exceeded"}}`
	badKey    = `{"error":{"code":400,"message":"API key not valid: ` + key +
		`","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`
	tooMany  = `{"error":{"message":"Rate limit reached. Please try again in 1m2.5s. Visit https://x","code":"rate_limit_exceeded"}}`
	noModel  = `{"error":"model 'x' not found, try pulling it first"}`
	tooLong  = `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`
	tooLong2 = `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum.","status":"INVALID_ARGUMENT"}}]`
)

// TestFailures has a server that always fails, in every way that a real one does. It checks the
// number of requests, the waits, and the error.
func TestFailures(t *testing.T) {
	s := time.Second
	backoff := []time.Duration{s, 2 * s, 4 * s}
	for _, c := range []struct {
		name  string
		serve http.HandlerFunc
		kind  summarizer.Kind
		say   string // a part of the message
		waits []time.Duration
	}{
		{"429", status(429, `{}`), summarizer.Capacity, "HTTP 429", backoff},
		{"429 within 200",
			body("application/json", `{"error":{"code":429,"message":"upstream is busy"}}`),
			summarizer.Capacity, "HTTP 429: upstream is busy", backoff},
		{"401 within 200",
			body("application/json", `{"error":{"code":401,"message":"No auth"},"choices":[]}`),
			summarizer.Terminal, "HTTP 401: No auth", nil},
		{"no status within 200", body("application/json", `{"error":"provider returned error"}`),
			summarizer.Transient, "HTTP 502: provider returned error", backoff},
		{"429 with seconds", status(429, `{}`, "Retry-After", "7"), summarizer.Capacity, "HTTP 429",
			[]time.Duration{7 * s, 7 * s, 7 * s}},
		{"429 with less than the backoff", status(429, `{}`, "Retry-After", "2"),
			summarizer.Capacity, "HTTP 429", []time.Duration{2 * s, 2 * s, 4 * s}},
		{"429 with nonsense", status(429, `{}`, "Retry-After", "-1e9"), summarizer.Capacity,
			"HTTP 429", backoff},
		{"429 with a date that was",
			status(429, `{}`, "Retry-After", "Fri, 02 Jan 1998 00:00:00 GMT"), summarizer.Capacity,
			"HTTP 429", backoff},
		{"429 with an hour", status(429, `{}`, "Retry-After", "3600"), summarizer.Capacity,
			"HTTP 429", nil},
		{"429, a day's quota", status(429, perDay), summarizer.Quota,
			"exceeded your current quota", nil},
		{"429, a minute's quota", status(429, perMinute), summarizer.Capacity, "quota",
			[]time.Duration{37 * s, 37 * s, 37 * s}},
		{"429, quota in words", status(429, `{"error":{"message":"Quota exceeded"}}`),
			summarizer.Quota, "Quota exceeded", nil},
		{"429, not paid", status(429, noMoney), summarizer.Quota, "billing", nil},
		{"429, too fast", status(429, tooFast), summarizer.Capacity, "Rate limit", backoff},
		{"429, too many", status(429, tooMany), summarizer.Capacity, "Rate limit",
			slices.Repeat([]time.Duration{62500 * time.Millisecond}, 3)},
		{"402", status(402, `{"error":{"message":"Insufficient credits"}}`), summarizer.Quota,
			"credits", nil},
		{"500", status(500, `{"error":{"message":"Internal"}}`), summarizer.Transient,
			"HTTP 500: Internal", backoff},
		{"500 with text", status(500, "stack trace\nline 2"), summarizer.Transient,
			"stack trace", backoff},
		{"502 with nothing", status(502, ""), summarizer.Transient,
			"HTTP 502 Bad Gateway", backoff},
		{"503", status(503, `{"error":{"message":"The model is overloaded."}}`),
			summarizer.Capacity, "overloaded", backoff},
		{"529", status(529, ""), summarizer.Capacity, "HTTP 529", backoff},
		{"400, bad key", status(400, badKey), summarizer.Terminal, "API key not valid: [key]", nil},
		{"401", status(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`),
			summarizer.Terminal, "[key]", nil},
		{"403", status(403, ""), summarizer.Terminal, "HTTP 403 Forbidden", nil},
		{"404", status(404, noModel), summarizer.Terminal, "try pulling it", nil},
		{"404 that is a page", status(404, "<html>not found</html>"), summarizer.Terminal,
			"not found", nil},
		{"413", status(413, ""), summarizer.Refused, "HTTP 413", nil},
		{"too long", status(400, tooLong), summarizer.Refused, "8192", nil},
		{"too long, in a list", status(400, tooLong2), summarizer.Refused, "token count", nil},
		{"an error of 100 MB", flood(500, "application/json"), summarizer.Transient,
			"HTTP 500", backoff},
		{"no connection", hijacked(""), summarizer.Transient, "EOF", backoff},
		{"cut",
			hijacked(
				"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
					"100\r\n\r\n{\"text\":"), summarizer.Transient, "unexpected EOF", backoff},
		{"cut in a chunk",
			hijacked(
				"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: " +
					"chunked\r\n\r\n10\r\n{\"te"), summarizer.Transient, "EOF", backoff},
		{"cut without a length",
			hijacked("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"text\":\"po"),
			summarizer.Transient, "JSON", backoff},
		{"not HTTP", hijacked("220 mail.example ready\r\n"), summarizer.Transient,
			"malformed", backoff},
		{"headers of 100 MB",
			hijacked("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"),
			summarizer.Transient, "header", backoff},
		{"not JSON", body("application/json", "Sure, here is"), summarizer.Transient,
			"JSON", backoff},
		{"empty", body("application/json", ""), summarizer.Transient, "JSON", backoff},
		{"another shape", body("application/json", `{"text":["a"]}`), summarizer.Transient,
			"JSON", backoff},
		{"a page", body("text/html", "<html>Log in</html>"), summarizer.Terminal,
			`"text/html"`, nil},
		{"no type", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
			summarizer.Terminal, `with ""`, nil},
		{"100 MB", flood(200, "application/json"), summarizer.Transient,
			"more than 8388608 bytes", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(c.serve)
			defer server.Close()
			a := clientOf(t, server.URL)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			var got document
			err := a.client.Post(ctx, "/ask", document{"q"}, &got)
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.say) ||
				!slices.Equal(a.waits, c.waits) {
				t.Fatalf("got %v after %v", err, a.waits)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("the key is in %v", err)
			}
		})
	}
}

// flood answers with 100 MB.
func flood(code int, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		b := []byte(strings.Repeat(" ", 1<<20))
		for range 100 {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	}
}

// A server that answers too slowly, in three ways, costs the time of the answer and no more.
func TestTooSlow(t *testing.T) {
	for name, serve := range map[string]func(http.ResponseWriter, *http.Request){
		"hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"hang in the body": func(w http.ResponseWriter, r *http.Request) {
			ok(w)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"drip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			drop := time.NewTicker(5 * time.Millisecond)
			defer drop.Stop()
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				<-drop.C
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(readFirst(serve))
			defer server.Close()
			a := clientOf(t, server.URL)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			err := a.client.Post(ctx, "/", document{}, &document{})
			var e *Error
			if !errors.As(err, &e) || e.Kind != summarizer.Transient ||
				!strings.Contains(e.Message, "in time") || len(a.waits) > 0 {
				t.Errorf("got %v after %v", err, a.waits)
			}
		})
	}
}

// readFirst reads the request first, so that the server notices when the client leaves.
func readFirst(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		serve(w, r)
	}
}

// A request that fails once or three times and then succeeds, succeeds.
func TestRecovers(t *testing.T) {
	for name, fail := range map[string]http.HandlerFunc{
		"429": status(429, "", "Retry-After", "3"), "500": status(500, ""), "503": status(503, ""),
		"cut":      hijacked(""),
		"half":     hijacked("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"),
		"not JSON": body("application/json", "<"),
	} {
		for _, times := range []int32{1, 3} {
			t.Run(fmt.Sprintf("%s, %d times", name, times), func(t *testing.T) {
				var n atomic.Int32
				server := httptest.NewServer(
					readFirst(func(w http.ResponseWriter, r *http.Request) {
						if r.Method != http.MethodPost || r.URL.Path != "/base/ask" ||
							r.Header.Get("X-Key") != key ||
							r.Header.Get("Content-Type") != "application/json" {
							t.Errorf("asked %s %s %v", r.Method, r.URL, r.Header)
						}
						if n.Add(1) <= times {
							fail(w, r)
							return
						}
						ok(w)
					}))
				defer server.Close()
				a := clientOf(t, server.URL+"/base/")
				var got document
				if err := a.client.Post(t.Context(), "/ask", document{"q"}, &got); err != nil ||
					got.Text != "port 5433" || len(a.waits) != int(times) {
					t.Errorf("got %+v, %v after %v", got, err, a.waits)
				}
			})
		}
	}
}

// A server of HTTP 1.0 ends its answer by closing the connection.
func TestHTTP10(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(conn,
					"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"text\":\"port "+
						"5433\"}")
			}
			_ = conn.Close()
		}
	}()
	var got document
	if err := clientOf(t, "http://"+listener.Addr().String()).client.Post(t.Context(), "/",
		document{}, &got); err != nil || got.Text != "port 5433" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The key does not follow a redirect, neither to another host nor to the same one.
func TestRedirect(t *testing.T) {
	var reached atomic.Int32
	other := httptest.NewServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{other.URL, "/elsewhere"} {
			server := httptest.NewServer(
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/ask" {
						reached.Add(1)
					}
					http.Redirect(w, r, to, code)
				}))
			err := clientOf(t, server.URL).client.Post(t.Context(), "/ask", document{}, &document{})
			var e *Error
			if !errors.As(err, &e) || e.Kind != summarizer.Terminal ||
				!strings.Contains(e.Message, "no redirect") {
				t.Errorf("%d: got %v", code, err)
			}
			server.Close()
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d requests followed", n)
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	a := clientOf(t, server.URL)
	err := a.client.Post(t.Context(), "/", document{}, &document{})
	var e *Error
	if !errors.As(err, &e) || e.Kind != summarizer.Transient || len(a.waits) != tries-1 {
		t.Errorf("got %v after %v", err, a.waits)
	}
}

func TestNewClient(t *testing.T) {
	for base, why := range map[string]string{
		"https://api.example/v1": "", "http://localhost:11434/v1/": "", "http://127.0.0.1": "",
		"http://[::1]:8080/": "",
		"http://api.example": "not https", "http://localhost.example": "not https",
		"http://10.0.0.1": "not https",
		"ftp://x":         "https://HOST", "api.example": "https://HOST",
		"https://":                  "https://HOST",
		":":                         "https://HOST",
		"https://u:p@api.example":   "its own variable",
		"https://api.example?key=x": "its own variable",
		"https://api.example#x":     "its own variable",
	} {
		_, err := NewClient(Options{Base: base})
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %v", base, err)
		}
	}
	if _, err := NewClient(Options{Base: "http://10.0.0.1", Insecure: true}); err != nil {
		t.Error(err)
	}
	if _, err := NewClient(Options{Base: "https://api.example", Key: "two words"}); err == nil ||
		strings.Contains(err.Error(), "two") {
		t.Errorf("got %v", err)
	}
}

// Every error of a provider has a kind that ctx knows, and a delay that is not negative.
func FuzzStatusError(f *testing.F) {
	for code, text := range complaintSeeds() {
		f.Add(code, text, "7")
	}
	f.Fuzz(func(t *testing.T, code int, text, after string) {
		r := &http.Response{StatusCode: code,
			Header: http.Header{"Retry-After": {after}, "Location": {text}}}
		e := statusError(r, []byte(text), time.Unix(0, 0))
		said := []summarizer.Kind{summarizer.Quota, summarizer.Capacity, summarizer.Transient,
			summarizer.Terminal, summarizer.Refused}
		if !slices.Contains(said, e.Kind) || e.after < 0 || e.Message == "" {
			t.Errorf("got %+v", e)
		}
	})
}

func complaintSeeds() map[int]string {
	return map[int]string{429: perDay, 430: perMinute, 431: noMoney, 432: tooFast, 400: badKey,
		404: noModel, 413: tooLong, 401: tooLong2, 500: "[]", 302: "null"}
}

func TestSeeds(t *testing.T) {
	if len(complaintSeeds()) == 0 {
		t.Error("a fuzz target has no seeds")
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "5": 5 * time.Second, " 5 ": 5 * time.Second, "-5": 0, "1.5": 0,
		"99999999999":                   0,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0, "soon": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

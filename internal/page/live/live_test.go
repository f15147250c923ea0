package live

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// started is a server of a store with a session "work", on a port of this machine.
type started struct {
	t *testing.T
	s *session.Store
	*Server
}

func start(t *testing.T) *started {
	t.Helper()
	s := storetest.Create(t)
	storetest.Say(t, s, "work", "user", "Why is the <b>parser</b> slow?")
	on := httptest.NewUnstartedServer(nil)
	server := NewServer(&project{storetest.Env(s.Dir, nil)}, on.Listener.Addr().String())
	server.ask, server.beat = time.Millisecond, time.Millisecond
	on.Config.Handler = server
	on.Start()
	t.Cleanup(on.Close)
	return &started{t, s, server}
}

// get sends a request and returns its answer, which is open.
func (s *started) get(method, address, host string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if host != "" {
		r.Host = host
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (s *started) page(name string) string {
	s.t.Helper()
	resp := s.get("GET", s.Address(name), "")
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%q: %s %v: %s", name, resp.Status, err, b)
	}
	return string(b)
}

// TestWhoMayAsk sends requests of all kinds. Only one that has the token and names the host gets
// something of the store.
func TestWhoMayAsk(t *testing.T) {
	s := start(t)
	good := s.Address("s-work.html")
	port := s.host[strings.LastIndexByte(s.host, ':'):]
	for _, r := range []struct {
		method, address, host string
		status                int
	}{
		{"GET", good, "", 200},
		{"HEAD", good, "", 200},
		{"GET", s.Address(""), "", 200},
		{"POST", good, "", 405},
		{"DELETE", good, "", 405},
		{"GET", s.Address("s-other.html"), "", 404},
		{"GET", s.Address("s-work-2.html"), "", 404},
		{"GET", s.Address("../format"), "", 404},
		{"GET", strings.TrimSuffix(s.Address(""), "/"), "", 404},
		{"GET", "http://" + s.host + "/", "", 404},
		{"GET", "http://" + s.host + "//s-work.html", "", 404},
		{"GET", "http://" + s.host + "/favicon.ico", "", 404},
		{"GET", "http://" + s.host + "/" + strings.Repeat("0", 32) + "/s-work.html", "", 404},
		{"GET", "http://" + s.host + "/" + s.token[:31] + "/s-work.html", "", 404},
		{"GET", "http://" + s.host + "/" + s.token + "0/s-work.html", "", 404},
		{"GET", "http://" + s.host + "/" + strings.Repeat("0", 32) + "/events", "", 404},
		{"GET", good, "evil.example" + port, 421},
		{"GET", good, "localhost" + port, 421},
		{"GET", good, "127.0.0.1", 421},
		{"GET", good, s.host + ".evil.example", 421},
		{"GET", s.Address("events?page=s-work.html"), "evil.example" + port, 421},
	} {
		resp := s.get(r.method, r.address, r.host)
		b, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != r.status {
			t.Errorf("%s %s of %q: %s", r.method, r.address, r.host, resp.Status)
		}
		if r.status != 200 &&
			(strings.Contains(string(b), "parser") || strings.Contains(string(b), s.token)) {
			t.Errorf("%s %s: %s says %q", r.method, r.address, resp.Status, b)
		}
		h := resp.Header
		if h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" ||
			h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Access-Control-Allow-Origin") != "" ||
			h.Get("Content-Security-Policy") != Policy(true)+"; frame-ancestors 'none'" {
			t.Errorf("%s %s: headers %v", r.method, r.address, h)
		}
	}
	if other := NewServer(nil, s.host); len(s.token) != 32 || other.token == s.token {
		t.Errorf("tokens %q and %q", s.token, other.token)
	}
}

// TestPolicies: the policy of a live page is that of a file, and connections to itself.
func TestPolicies(t *testing.T) {
	file, live := strings.Split(Policy(false), "; "),
		strings.Split(Policy(true), "; ")
	if len(live) != len(file)+1 || live[len(file)] != "connect-src 'self'" {
		t.Fatalf("%q and %q", file, live)
	}
	for i := range file {
		if file[i] != live[i] && !strings.HasPrefix(file[i], "script-src 'sha256-") {
			t.Errorf("%q and %q", file[i], live[i])
		}
	}
}

// TestNews waits for what is said after a page was read. What concerns other pages does not count.
func TestNews(t *testing.T) {
	s := start(t)
	first := s.page("s-work.html")
	if first != s.page("s-work.html") {
		t.Error("the same store gives two pages")
	}
	events := bufio.NewReader(
		s.get("GET", s.Address("events?page=s-work.html&state="+stateOf(t, first)), "").Body)
	for range 3 {
		storetest.Say(t, s.s, "other", "user", "something else")
		if line := next(t, events); line != ":" && line != "retry: 2000" {
			t.Fatalf("%q, and nothing is new on the page", line)
		}
	}
	storetest.Say(t, s.s, "work", "model", "The <i>parser</i> reads twice.")
	line := next(t, events)
	for line == ":" || line == "retry: 2000" {
		line = next(t, events)
	}
	if line != "event: changed" {
		t.Fatalf("%q", line)
	}
	second := s.page("s-work.html")
	if !strings.Contains(second, "reads twice") || strings.Contains(first, "reads twice") {
		t.Error("the page does not say what is new")
	}
	if line := next(t, events); line != "data: "+stateOf(t, second) {
		t.Errorf("%q, and the page is at %s", line, stateOf(t, second))
	}
	if _, err := events.ReadByte(); err == nil {
		if _, err = io.Copy(io.Discard, events); err != nil {
			t.Errorf("the stream does not end: %v", err)
		}
	}
	if all := s.page(""); !strings.Contains(all, `href="./s-work.html"`) ||
		!strings.Contains(all, `href="./s-other.html"`) {
		t.Error("the page of the project does not lead to its sessions")
	}
}

// next returns the next line of events that is not empty.
func next(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			return line
		}
	}
}

func stateOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "<body data-live=")
	state, _, ended := strings.Cut(rest, " ")
	if !found || !ended || len(state) != 32 || state == strings.Repeat("0", 32) {
		t.Fatalf("state %q", state)
	}
	return state
}

// TestTooMany: a server does not hold any number of connections.
func TestTooMany(t *testing.T) {
	s := start(t)
	s.mu.Lock()
	s.listeners = mostListeners
	s.mu.Unlock()
	if resp := s.get("GET", s.Address("events?page=s-work.html"),
		""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Error(resp.Status)
	}
}

// TestRun starts the program, reads a page while another one waits for news, and interrupts it.
func TestRun(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "work", "user", "hello")
	env := storetest.Env(s.Dir, nil)
	c, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int)
	go func() { code <- run(c, []string{"-s", "work"}, env, w, io.Discard) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	if !strings.HasPrefix(address, "http://127.0.0.1:") ||
		!strings.HasSuffix(address, "/s-work.html") {
		t.Fatalf("address %q", address)
	}
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || !strings.Contains(string(b), "hello") {
		t.Fatalf("%v %s", err, b)
	}
	events, err := http.Get(strings.TrimSuffix(address, "s-work.html") +
		"events?page=s-work.html&state=" + stateOf(t, string(b)))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	next(t, bufio.NewReader(events.Body))
	cancel()
	if n := <-code; n != command.Done {
		t.Errorf("exit code %d", n)
	}
}

func TestRunFails(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	s := storetest.Create(t)
	for _, r := range []struct {
		env  repo.Env
		args []string
		code int
		says string
	}{
		{storetest.Env(s.Dir, nil), []string{"-port", port}, command.Failed, "hint: --port N"},
		{storetest.Env(s.Dir, nil), []string{"-port", "x"}, command.Usage, "invalid value"},
		{storetest.Env(s.Dir, nil), []string{"more"}, command.Usage, `takes no argument: "more"`},
		{storetest.Env(t.TempDir(), nil), nil, command.NoStore, "ctx init"},
	} {
		var out, errs strings.Builder
		if code := run(t.Context(), r.args, r.env, &out, &errs); code != r.code ||
			!strings.Contains(errs.String(), r.says) || out.Len() > 0 {
			t.Errorf("%q: %d, %q, %q", r.args, code, out.String(), errs.String())
		}
	}
}

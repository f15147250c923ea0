// Package live writes the pages of a project (markup.go), and serves them to a browser on this
// machine. A page hears of it when there is more to show, and reads itself again.
//
// Begin with Server, which asks a Site for pages. Run is the program ctx-view-serve.
package live

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Site has the pages that a Server serves.
type Site interface {
	// Operation returns the number of the newest operation. Pages change only with it.
	Operation(c context.Context) (uint64, error)
	// Page returns a live page, without its state; "" names that of the project. ok is false if
	// there is no such page.
	Page(c context.Context, name string) (page []byte, ok bool, err error)
}

// The bounds of a server. A page that is looked at holds one connection.
const (
	mostListeners = 64
	askEvery      = 500 * time.Millisecond
	// Shows that the server is there, and notices a browser that is not
	beatEvery  = 15 * time.Second
	mostHeader = 16 << 10 // bytes
	mostPages  = 8        // that are kept until the next operation
)

// Server answers a browser. Every address begins with a token that nobody can guess, and every
// request has to name the host that the server listens on: a page of somebody else that has its
// name lead here (DNS rebinding) is refused before its token is looked at.
type Server struct {
	site  Site
	host  string
	token string
	ask   time.Duration // between two looks for news
	beat  time.Duration

	mu        sync.Mutex
	kept      map[string]made // by name
	listeners int
}

// made is a page with its state, as it was at an operation.
type made struct {
	operation uint64
	page      []byte
	state     string
}

// NewServer returns a server of a site that listens on host, as in "127.0.0.1:8000".
func NewServer(site Site, host string) *Server {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return &Server{site: site, host: host, token: hex.EncodeToString(b), ask: askEvery,
		beat: beatEvery, kept: map[string]made{}}
}

// Address returns the address of a page; "" names that of the project.
func (s *Server) Address(name string) string {
	return "http://" + s.host + "/" + s.token + "/" + name
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Content-Security-Policy", Policy(true)+"; frame-ancestors 'none'")
	token, name, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Host != s.host:
		http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
	case subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 || !found:
		http.Error(w, "not found: the address that `ctx view --serve` printed has a token",
			http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "pages are only read", http.StatusMethodNotAllowed)
	case name == "events":
		s.events(w, r)
	default:
		s.page(w, r, name)
	}
}

func (s *Server) page(w http.ResponseWriter, r *http.Request, name string) {
	m, ok, err := s.read(r.Context(), name)
	switch {
	case err != nil:
		http.Error(w, "cannot read the store: "+err.Error(), http.StatusInternalServerError)
	case !ok:
		http.Error(w, "not found: the store has no session with this page", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(m.page) // the browser may have gone
	}
}

// read returns a page. It is made at most once for each operation, by one request at a time.
func (s *Server) read(c context.Context, name string) (m made, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	operation, err := s.site.Operation(c)
	if err != nil {
		return m, false, err
	}
	if m, ok = s.kept[name]; ok && m.operation == operation {
		return m, true, nil
	}
	m = made{operation: operation}
	if m.page, ok, err = s.site.Page(c, name); err != nil || !ok {
		delete(s.kept, name)
		return m, ok, err
	}
	m.state = Stamp(m.page)
	if _, known := s.kept[name]; !known && len(s.kept) >= mostPages {
		clear(s.kept)
	}
	s.kept[name] = m
	return m, true, nil
}

// events tells a page, by server-sent events, when its state is not the newest any more.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	flusher, ok := w.(http.Flusher)
	if !ok || !s.enter() {
		http.Error(w, "too many pages listen", http.StatusServiceUnavailable)
		return
	}
	defer s.leave()
	w.Header().Set("Content-Type", "text/event-stream")
	query := r.URL.Query()
	name, state := query.Get("page"), query.Get("state")
	if _, err := fmt.Fprint(w, "retry: 2000\n\n"); err != nil {
		return
	}
	flusher.Flush()
	ask, beat := time.NewTicker(s.ask), time.NewTicker(s.beat)
	defer ask.Stop()
	defer beat.Stop()
	for {
		// A store that cannot be read now, or a page that is not there, may be back the next time.
		if m, ok, err := s.read(r.Context(), name); err == nil && ok && m.state != state {
			_, _ = fmt.Fprintf(w, "event: changed\ndata: %s\n\n", m.state)
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-ask.C:
		case <-beat.C:
			if _, err := fmt.Fprint(w, ":\n\n"); err != nil {
				return
			}
			flusher.Flush()
		}
	}
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listeners == mostListeners {
		return false
	}
	s.listeners++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners--
}

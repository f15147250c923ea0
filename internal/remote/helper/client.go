package helper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// The times for which ctx waits for a helper if nothing else is set.
const (
	StartTimeout  = 10 * time.Second // for the first line
	AnswerTimeout = 10 * time.Minute // for an answer: a file of 50 MB at 1 Mbit/s takes 7 minutes
)

// Config says which program serves a remote.
type Config struct {
	URL string
	// The directory of ctx, where its own helpers are searched first; "" for none
	Beside string
	Answer time.Duration // 0 means AnswerTimeout
	// Cache is a directory where the helper may keep a copy of what the place has, which may be
	// removed at any time. It need not exist. "" for none.
	Cache string
}

// Scheme returns the scheme of a URL that a helper may serve: a letter, then letters and digits,
// all in lower case, before "://", or before "+" and another URL. It returns "" for any other text.
func Scheme(url string) string {
	scheme, _, found := strings.Cut(url, "://")
	if at := strings.IndexAny(url, ":+"); at >= 0 && url[at] == '+' {
		scheme, found = url[:at], true
	}
	if !found || scheme == "" || len(scheme) > 32 || scheme[0] < 'a' || scheme[0] > 'z' {
		return ""
	}
	for _, c := range []byte(scheme) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return ""
		}
	}
	return scheme
}

// Find returns the name and the path of the program for a scheme, which is in the directory beside
// or on PATH. Its error wraps exec.ErrNotFound if it is in neither.
func Find(scheme, beside string) (program, path string, err error) {
	program = "ctx-remote-" + scheme
	path, err = child.Find(program, beside)
	return program, path, err
}

// Open starts the helper of a URL and has it connect to the place. The remote implements
// remote.Checker; remote.Searcher if the helper can search, or else remote.Grouper if it can tell
// members. It is used by one goroutine at a
// time; Close ends the helper.
//
// The helper is killed when a call's context ends or an answer does not come in time, and when it
// writes what is not of the protocol. From then on every call returns an error, because the files
// that PutNew took before may be lost: open the remote again, and put them again.
func Open(ctx context.Context, c Config) (remote.Remote, error) {
	scheme := Scheme(c.URL)
	if scheme == "" {
		return nil, errors.New("the URL has no scheme that a remote helper could have")
	}
	if len(c.URL) > MaxLine/2 {
		return nil, errors.New("the URL is too long")
	}
	program, path, err := Find(scheme, c.Beside)
	if err != nil {
		return nil, fmt.Errorf("%s remotes need the program %s: %w", scheme, program, err)
	}
	h := &Client{name: program, timeout: c.Answer}
	if h.timeout == 0 {
		h.timeout = AnswerTimeout
	}
	if h.running, err = launch(path, c.Cache); err != nil {
		return nil,
			fmt.Errorf("cannot start %s: %s", program, child.OneLine(err.Error(), maxMessage))
	}
	err = h.greet(ctx)
	if err == nil {
		_, err = h.call(ctx, request{Do: "open", URL: c.URL})
	}
	if err != nil {
		h.abandon(ctx) // no caller gets a Client to close
		return nil, err
	}
	if has(h.can.Features, FeatureSearch) {
		return &searching{h}, nil
	}
	if has(h.can.Features, FeatureMembers) {
		return &grouping{h}, nil
	}
	return h, nil
}

// maxMessage is the largest length in bytes of a helper's message to people.
const maxMessage = 300

// Client is a remote that a helper serves. Open makes it.
type Client struct {
	name    string
	timeout time.Duration
	running *conn // nil after it ended
	can     hello
	last    int64 // id of the last request
	ended   error // why it ended
}

// greet reads the first line of the helper.
func (h *Client) greet(ctx context.Context) error {
	return h.talk(ctx, StartTimeout, func(_ *bufio.Writer, r *bufio.Reader) error {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(line, &h.can); err != nil {
			return fmt.Errorf("the first line is not of the protocol: %.60q", line)
		}
		return h.can.check()
	})
}

// talk runs what writes to the helper and reads from it, and kills the helper if that does not end
// in time or fails. Errors are those of ctx, or say what the helper did.
func (h *Client) talk(
	ctx context.Context, timeout time.Duration, do func(*bufio.Writer, *bufio.Reader) error,
) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case h.running == nil:
		return h.ended
	}
	p := h.running
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	spare := context.AfterFunc(limited, p.kill)
	err := do(p.w, p.r)
	if spare() && err == nil {
		return nil
	}
	gone := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || pipeClosed(err)
	patience := time.Duration(0)
	if gone && limited.Err() == nil {
		patience = grace // it ends by itself, and may still say why
	}
	how := p.stop(patience)
	h.running = nil
	h.ended = fmt.Errorf("%s has ended", h.name)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		return fmt.Errorf("%w: %s said nothing for %v%s", remote.ErrTemporary, h.name, timeout,
			p.stderr.Said())
	case gone:
		return fmt.Errorf("%s ended before it answered%s%s", h.name, how, p.stderr.Said())
	}
	return fmt.Errorf("%s: %s", h.name, child.OneLine(err.Error(), maxMessage))
}

// call sends a request and returns the bodies of all parts of the answer. An error that the helper
// reports leaves it running.
func (h *Client) call(
	ctx context.Context, req request, bodies ...[]byte,
) (got [][]byte, err error) {
	h.last++
	req.ID, req.Bodies = h.last, sizesOf(bodies)
	timeout := h.timeout
	if end, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(end))
	}
	req.Timeout = max(timeout.Milliseconds(), 1)
	var failed *failure
	err = h.talk(ctx, h.timeout, func(w *bufio.Writer, r *bufio.Reader) error {
		if err := write(w, req, bodies...); err != nil {
			return err
		}
		for more := true; more; {
			var a answer
			part, err := read(r, &a)
			switch {
			case err != nil:
				return err
			case a.ID != req.ID:
				return fmt.Errorf("answered request %d instead of %d", a.ID, req.ID)
			case a.Error != nil && (a.More || len(part) > 0):
				return errors.New("an error with a body or more parts")
			case len(part) > 1:
				return errors.New("an answer with two bodies")
			}
			got, failed, more = append(got, part...), a.Error, a.More
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, h.errorOf(failed)
	}
	return got, nil
}

// errorOf returns the error that a helper reports. Its words are cleaned.
func (h *Client) errorOf(f *failure) error {
	said := child.OneLine(f.Message, maxMessage)
	for _, k := range kinds() {
		switch {
		case k.kind == f.Kind && said == "":
			return k.err
		case k.kind == f.Kind:
			return fmt.Errorf("%w: %s", k.err, said)
		}
	}
	if said == "" {
		said = "an error, and it did not say which"
	}
	return fmt.Errorf("%s: %s", h.name, said)
}

// List implements remote.Remote. The names and the order of the answer are checked.
func (h *Client) List(ctx context.Context, prefix string) ([]remote.File, error) {
	bodies, err := h.call(ctx, request{Do: "list", Prefix: prefix})
	if err != nil {
		return nil, err
	}
	var files []remote.File
	for _, body := range bodies {
		found, err := items[fileItem](body)
		if err != nil {
			return nil, h.broke(err)
		}
		for _, f := range found {
			if err := remote.CheckName(f.Name); err != nil || f.Size < 0 || len(f.Tag) > maxTag ||
				!strings.HasPrefix(f.Name, prefix) {
				return nil,
					h.broke(fmt.Errorf("lists what is no file under %q: %.80q, %d bytes", prefix,
						f.Name, f.Size))
			}
			files = append(files, remote.File(f))
		}
	}
	slices.SortFunc(files, func(a, b remote.File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// broke ends a helper whose answer is not of the protocol.
func (h *Client) broke(err error) error {
	if h.running != nil {
		h.running.stop(0)
		h.running = nil
	}
	h.ended = fmt.Errorf("%s has ended", h.name)
	return fmt.Errorf("%s: %s", h.name, child.OneLine(err.Error(), maxMessage))
}

// Get implements remote.Remote.
func (h *Client) Get(ctx context.Context, name string) ([]byte, error) {
	if err := remote.CheckName(name); err != nil {
		return nil, err
	}
	bodies, err := h.call(ctx, request{Do: "get", Name: name, N: -1})
	switch {
	case err != nil:
		return nil, err
	case len(bodies) != 1 || len(bodies[0]) > remote.MaxFile:
		return nil, h.broke(errors.New("answered with more or less than was asked for"))
	}
	return bodies[0], nil
}

// PutNew implements remote.Remote.
func (h *Client) PutNew(ctx context.Context, name string, data []byte) error {
	if err := checkFile(name, data); err != nil {
		return err
	}
	_, err := h.call(ctx, request{Do: "put", Name: name}, data)
	return err
}

// Swap implements remote.Remote.
func (h *Client) Swap(ctx context.Context, name string, old, new []byte) error {
	if err := errors.Join(checkFile(name, old), checkFile(name, new)); err != nil {
		return err
	}
	bodies := [][]byte{old, new}
	if old == nil {
		bodies = bodies[1:]
	}
	_, err := h.call(ctx, request{Do: "swap", Name: name}, bodies...)
	return err
}

func checkFile(name string, data []byte) error {
	if len(data) > remote.MaxFile {
		return fmt.Errorf("%s: %d bytes, a remote has files of %d at most", name, len(data),
			remote.MaxFile)
	}
	return remote.CheckName(name)
}

// Delete implements remote.Remote.
func (h *Client) Delete(ctx context.Context, names []string) error {
	if err := errors.Join(lists.Map(names, remote.CheckName)...); err != nil {
		return err
	}
	return parts(names, func(body []byte, _ bool) error {
		_, err := h.call(ctx, request{Do: "delete"}, body)
		return err
	})
}

// Check implements remote.Checker. It does nothing if the helper has no check of its own.
func (h *Client) Check(ctx context.Context) error {
	if !has(h.can.Features, FeatureCheck) {
		return nil
	}
	_, err := h.call(ctx, request{Do: "check"})
	return err
}

// abandon ends a helper that nobody will use. It waits for the helper only while ctx lasts.
func (h *Client) abandon(ctx context.Context) {
	if ctx.Err() != nil && h.running != nil {
		h.running.kill()
	}
	_ = h.Close()
}

// Close implements remote.Remote. The helper's input ends, and it is killed if it still runs after
// a short time.
func (h *Client) Close() error {
	if h.running != nil {
		h.running.stop(grace)
		h.running = nil
		h.ended = fmt.Errorf("the remote is closed")
	}
	return nil
}

// grouping is a Client whose helper knows the members of an encrypted remote.
type grouping struct{ *Client }

// Members implements remote.Grouper.
func (g *grouping) Members(
	ctx context.Context, change remote.MemberChange,
) (out remote.Group, err error) {
	body, err := json.Marshal(change)
	if err != nil {
		return out, err
	}
	bodies, err := g.call(ctx, request{Do: "members"}, body)
	if err != nil {
		return out, err
	}
	if len(bodies) != 1 {
		return out, g.broke(errors.New("did not say who the members are"))
	}
	if err := json.Unmarshal(bodies[0], &out); err != nil {
		return out, g.broke(fmt.Errorf("members are not of the protocol: %.60q", bodies[0]))
	}
	return out, nil
}

// searching is a Client whose helper can search.
type searching struct{ *Client }

// Index implements remote.Searcher. It sends large numbers of messages in parts, so after an error
// some may be known.
func (s *searching) Index(ctx context.Context, messages []remote.Message) error {
	for _, m := range messages {
		if len(m.Text) > remote.MaxText {
			return fmt.Errorf("message %.12s has %d bytes, an index takes %d", m.ID, len(m.Text),
				remote.MaxText)
		}
	}
	return parts(messages, func(body []byte, _ bool) error {
		_, err := s.call(ctx, request{Do: "index"}, body)
		return err
	})
}

// Forget implements remote.Searcher.
func (s *searching) Forget(ctx context.Context, store string, ids []string) error {
	return parts(ids, func(body []byte, _ bool) error {
		_, err := s.call(ctx, request{Do: "forget", Store: store}, body)
		return err
	})
}

// Search implements remote.Searcher.
func (s *searching) Search(ctx context.Context, query string, n int) ([]remote.Hit, error) {
	if len(query) > remote.MaxQuery {
		return nil, fmt.Errorf("a query of %d bytes: at most %d", len(query), remote.MaxQuery)
	}
	bodies, err := s.call(ctx,
		request{Do: "search", Query: query, N: int64(min(max(n, 1), remote.MaxHits))})
	if err != nil {
		return nil, err
	}
	var hits []remote.Hit
	for _, body := range bodies {
		found, err := items[remote.Hit](body)
		if err != nil {
			return nil, s.broke(err)
		}
		hits = append(hits, found...)
	}
	if len(hits) > n {
		return nil, s.broke(errors.New("found more than was asked for"))
	}
	return hits, nil
}

// CacheVariable is the variable of the environment that has Config.Cache.
const CacheVariable = "CTX_REMOTE_CACHE"

// grace is the time for which a helper may run after its input ended, before it is killed.
const grace = 2 * time.Second

// conn is what a Client has of a running helper.
type conn struct {
	peer
	w      *bufio.Writer
	r      *bufio.Reader
	stderr *child.Tail
}

// peer is what runs at the other end of a conn.
type peer interface {
	// kill kills the helper, and unblocks who writes to it or reads from it.
	kill()
	// stop ends the helper after at most patience, and returns how it ended, as the end of a
	// sentence. It may be called once, and nobody reads meanwhile.
	stop(patience time.Duration) string
}

// process is a helper that runs as a process. It implements peer.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.ReadCloser
	dir    string // its own working directory, empty
	ending sync.Once
}

// launch starts a program directly, never through a shell, in its own process group and in an empty
// directory, so that no file of a project is taken for its settings. Its environment is that of ctx
// with CTX_REMOTE_HELPER, which names the version of the protocol, and CTX_REMOTE_CACHE.
func launch(path, cache string) (*conn, error) {
	dir, err := os.MkdirTemp("", "ctx-remote-")
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(path), dir: dir}
	c := &conn{peer: p, stderr: &child.Tail{}}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("CTX_REMOTE_HELPER=%d", Version),
		CacheVariable+"="+cache)
	p.cmd.Stderr = c.stderr
	p.cmd.WaitDelay = grace // for a standard error that a grandchild keeps open
	child.OwnGroup(p.cmd)
	if err = p.start(c); err != nil {
		_ = os.Remove(dir)
		return nil, err
	}
	return c, nil
}

func (p *process) start(c *conn) error {
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.stdin, p.stdout = stdin, stdout
	c.w, c.r = bufio.NewWriterSize(stdin, 64<<10), bufio.NewReaderSize(stdout, 64<<10)
	return p.cmd.Start()
}

func (p *process) kill() {
	p.ending.Do(func() {
		child.KillGroup(p.cmd)
		_ = p.stdin.Close()
		_ = p.stdout.Close()
	})
}

func (p *process) stop(patience time.Duration) string {
	if patience == 0 {
		p.kill()
	}
	_ = p.stdin.Close()
	late := time.AfterFunc(patience, p.kill)
	_, _ = io.Copy(io.Discard, p.stdout) // until the helper ends or is killed
	err := p.cmd.Wait()
	late.Stop()
	p.kill() // what it started; a process group keeps its number while it has members
	_ = os.RemoveAll(p.dir)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf(" (%s)", exit.ProcessState)
	}
	return ""
}

// pipeClosed reports whether a pipe to the helper failed because either end of it is closed.
func pipeClosed(err error) bool {
	return errors.Is(err, fs.ErrClosed) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.ErrClosedPipe)
}

package helper

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/remote"
)

// Serve answers requests until in ends, then closes the remote and returns nil. It returns an error
// if a request is not of the protocol or an answer cannot be written, after which no byte of either
// side can be relied on. Errors of the remote are answers.
func Serve(ctx context.Context, p Program, in io.Reader, out io.Writer) (err error) {
	s := &server{program: p, r: bufio.NewReaderSize(in, 64<<10),
		w: bufio.NewWriterSize(out, 64<<10)}
	if err := write(s.w,
		hello{Ctx: "remote", V: Version, Name: p.Name, Version: child.Version(),
			Features: p.Features}); err != nil {
		return err
	}
	defer func() {
		if s.remote != nil {
			err = errors.Join(err, s.remote.Close())
		}
	}()
	for {
		var req request
		bodies, err := read(s.r, &req)
		switch {
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
		if err := s.serve(ctx, &req, bodies); err != nil {
			return err
		}
	}
}

type server struct {
	program Program
	r       *bufio.Reader
	w       *bufio.Writer
	remote  remote.Remote // nil before open
}

// serve answers one request. It returns an error only if the answer cannot be written.
func (s *server) serve(ctx context.Context, req *request, bodies [][]byte) error {
	if req.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx,
			time.Duration(min(req.Timeout, int64(24*time.Hour/time.Millisecond)))*time.Millisecond)
		defer cancel()
	}
	switch err := s.do(ctx, req, bodies); {
	case errors.As(err, new(brokenPipe)):
		return err
	case err != nil:
		return s.say(answer{ID: req.ID, Error: failureOf(err)})
	}
	return nil
}

// brokenPipe marks an error of writing an answer.
type brokenPipe struct{ error }

func (b brokenPipe) Unwrap() error { return b.error }

func (s *server) say(a answer, bodies ...[]byte) error {
	a.Bodies = sizesOf(bodies)
	if err := write(s.w, a, bodies...); err != nil {
		return brokenPipe{err}
	}
	return nil
}

// failureOf returns an error as the protocol tells it. The server does not repeat the words of a
// kind, which the client adds again.
func failureOf(err error) *failure {
	f := &failure{Kind: kindOther, Message: err.Error()}
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			f.Kind = k.kind
			f.Message = strings.TrimPrefix(strings.TrimPrefix(f.Message, k.err.Error()), ": ")
			break
		}
	}
	f.Message = strings.Join(strings.Fields(f.Message), " ")
	if len(f.Message) > 1000 {
		f.Message = strings.ToValidUTF8(f.Message[:1000], "") + "…"
	}
	return f
}

// do does what a request asks, and answers it unless it returns an error.
func (s *server) do(ctx context.Context, req *request, bodies [][]byte) error {
	if want, known := bodiesOf()[req.Do]; !known {
		return fmt.Errorf("unknown request %.40q", req.Do)
	} else if len(bodies) < want.least || len(bodies) > want.most {
		return fmt.Errorf("%s with %d bodies", req.Do, len(bodies))
	}
	if req.Do == "open" {
		return s.open(ctx, req)
	}
	if s.remote == nil {
		return errors.New("no remote is open")
	}
	done := func(err error) error {
		if err != nil {
			return err
		}
		return s.say(answer{ID: req.ID})
	}
	switch req.Do {
	case "list":
		return s.list(ctx, req)
	case "get":
		data, err := s.remote.Get(ctx, req.Name)
		if err != nil {
			return err
		}
		return s.say(answer{ID: req.ID}, data)
	case "put":
		return done(s.remote.PutNew(ctx, req.Name, bodies[0]))
	case "swap":
		var old []byte
		if len(bodies) == 2 {
			old = bodies[0]
		}
		return done(s.remote.Swap(ctx, req.Name, old, bodies[len(bodies)-1]))
	case "delete":
		names, err := items[string](bodies[0])
		if err != nil {
			return err
		}
		return done(s.remote.Delete(ctx, names))
	case "check":
		c, ok := s.remote.(remote.Checker)
		if !ok || !has(s.program.Features, FeatureCheck) {
			return errors.New("this remote has no check")
		}
		return done(c.Check(ctx))
	case "members":
		return s.members(ctx, req, bodies[0])
	}
	return s.search(ctx, req, bodies)
}

// bounds are the least and the most bodies of a request.
type bounds struct{ least, most int }

// bodiesOf says how many bodies each request has.
func bodiesOf() map[string]bounds {
	return map[string]bounds{
		"open": {0, 0}, "list": {0, 0}, "get": {0, 0}, "put": {1, 1}, "swap": {1, 2},
		"delete": {1, 1},
		"check":  {0, 0}, "members": {1, 1}, "index": {1, 1}, "forget": {1, 1}, "search": {0, 0},
	}
}

func (s *server) open(ctx context.Context, req *request) error {
	if s.remote != nil {
		return errors.New("a remote is open already")
	}
	r, err := s.program.Open(ctx, req.URL)
	if err != nil {
		return err
	}
	s.remote = r
	return s.say(answer{ID: req.ID})
}

func (s *server) list(ctx context.Context, req *request) error {
	files, err := s.remote.List(ctx, req.Prefix)
	if err != nil {
		return err
	}
	found := lists.Map(files, func(f remote.File) fileItem { return fileItem(f) })
	return parts(found, func(body []byte, more bool) error {
		return s.say(answer{ID: req.ID, More: more}, body)
	})
}

// members answers the request of the feature of this name.
func (s *server) members(ctx context.Context, req *request, body []byte) error {
	g, ok := s.remote.(remote.Grouper)
	if !ok || !has(s.program.Features, FeatureMembers) {
		return errors.New("this remote has no members")
	}
	var change remote.MemberChange
	if err := json.Unmarshal(body, &change); err != nil {
		return fmt.Errorf("a change of members is not of the protocol: %.60q", body)
	}
	out, err := g.Members(ctx, change)
	if err != nil {
		return err
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return s.say(answer{ID: req.ID}, b)
}

// search answers the requests of the feature of this name.
func (s *server) search(ctx context.Context, req *request, bodies [][]byte) error {
	engine, ok := s.remote.(remote.Searcher)
	if !ok || !has(s.program.Features, FeatureSearch) {
		return errors.New("this remote cannot search")
	}
	switch req.Do {
	case "index":
		messages, err := items[remote.Message](bodies[0])
		if err == nil {
			err = engine.Index(ctx, messages)
		}
		if err != nil {
			return err
		}
	case "forget":
		ids, err := items[string](bodies[0])
		if err == nil {
			err = engine.Forget(ctx, req.Store, ids)
		}
		if err != nil {
			return err
		}
	case "search":
		if req.N < 1 || req.N > remote.MaxHits || len(req.Query) > remote.MaxQuery {
			return errors.New("a search for too many hits, or too long a query")
		}
		hits, err := engine.Search(ctx, req.Query, int(req.N))
		if err != nil {
			return err
		}
		return parts(hits, func(body []byte, more bool) error {
			return s.say(answer{ID: req.ID, More: more}, body)
		})
	}
	return s.say(answer{ID: req.ID})
}

// Program is a helper: as it describes itself, and what else its executable does.
type Program struct {
	Name  string // of the executable
	Usage string
	// Features are the optional features that the remotes of Open have, such as FeatureSearch.
	Features []string
	// Open connects to the place that a URL names. It is called once.
	Open func(ctx context.Context, url string) (remote.Remote, error)
	// Verbs are what a person can have the executable do, by their names.
	Verbs map[string]Verb
}

// Verb takes from Least to Most arguments.
type Verb struct {
	Least, Most int
	Run         func(ctx context.Context, args []string, in io.Reader, out io.Writer) error
}

// The exit codes of a program: 0 for done.
const (
	failed     = 1
	wrongUsage = 2
)

// Main runs the program with the arguments of the process, and ends the process.
func (p Program) Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(p.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run serves if there are no arguments, or does what they say. It returns the exit code.
func (p Program) Run(
	ctx context.Context, args []string, in io.Reader, out, errs io.Writer,
) (code int) {
	err := p.do(ctx, args, in, out)
	switch {
	case err == errUsage:
		fmt.Fprint(errs, p.Usage)
		return wrongUsage
	case err != nil:
		fmt.Fprintf(errs, "%s: %v\n", p.Name, err)
		return failed
	}
	return 0
}

const errUsage = usageError("wrong usage")

// usageError is a type of its own, so that errUsage needs no initialiser when ctx starts.
type usageError string

func (e usageError) Error() string { return string(e) }

func (p Program) do(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return Serve(ctx, p, in, out)
	}
	name, args := args[0], args[1:]
	if verb, ok := p.Verbs[name]; ok && len(args) >= verb.Least && len(args) <= verb.Most {
		return verb.Run(ctx, args, in, out)
	}
	switch {
	case name == "version" && len(args) == 0:
		fmt.Fprintf(out, "%s version %s\n", p.Name, child.Version())
	case name == "help" || name == "-h" || name == "--help":
		fmt.Fprint(out, p.Usage)
	default:
		return errUsage
	}
	return nil
}

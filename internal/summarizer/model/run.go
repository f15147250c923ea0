package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// The limits of what an agent may write.
const (
	maxOutput = 8 << 20  // bytes of its standard output: a thousand times a summary
	maxErrors = 64 << 10 // the last bytes of its standard error, which are kept
)

// grace is the time to wait for output that a child of the agent keeps open after the agent was
// killed.
const grace = 2 * time.Second

// hookDisable is the variable that makes `ctx hook` do nothing. It is set for an agent that writes
// a summary, so that hooks in the user's settings do not record that run.
const hookDisable = "CTX_HOOK_DISABLE"

// Options are the settings of a Runner.
type AgentOptions struct {
	Agent   Agent
	Program string // an absolute path, or "" to search PATH
	Model   string // "" for the agent's default
	Environ []string
}

// Runner asks one agent.
type Runner struct {
	AgentOptions
	path    string
	listed  bool
	servers []string
	unknown bool // the agent does not know its small model
}

// New finds the agent's program, at the given path or on PATH, but never in the working directory.
func NewRunner(o AgentOptions) (*Runner, error) {
	if o.Program != "" && !filepath.IsAbs(o.Program) {
		return nil, fmt.Errorf("--program is not an absolute path: %.80q", o.Program)
	}
	name := cmp.Or(o.Program, o.Agent.Program)
	path, err := exec.LookPath(name)
	if err != nil {
		return nil,
			fmt.Errorf("%s cannot be run: %w: install it, or take it out of summarize.chain",
				o.Agent.Name, errors.Unwrap(err))
	}
	return &Runner{AgentOptions: o, path: path}, nil
}

// Ask makes the agent answer a request. It implements model.Ask: the agent is killed when ctx is
// done.
func (r *Runner) Ask(ctx context.Context, in summarizer.WireRequest) (Reply, error) {
	dir, err := os.MkdirTemp("", "ctx-agent-")
	if err != nil {
		return Reply{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // nothing can be done about what remains
	if err := r.listServers(ctx, dir); err != nil {
		return Reply{}, err
	}
	name := r.Model
	if name == "" && !r.unknown {
		name = r.Agent.Small
	}
	reply, err := r.askModel(ctx, dir, name, in)
	var failed *Error
	if name == r.Model || r.Agent.Name == "gemini" || !errors.As(err, &failed) ||
		failed.Kind != summarizer.Terminal || strings.HasSuffix(failed.Message, r.Agent.Login) {
		return reply, err
	}
	r.unknown = true // the user's provider may have no such model, but has their own
	return r.askModel(ctx, dir, r.Model, in)
}

// askModel asks a model; "" stands for the agent's default.
func (r *Runner) askModel(
	ctx context.Context, dir, name string, in summarizer.WireRequest,
) (Reply, error) {
	c, err := r.Agent.call(call{
		dir: dir, prompt: in.Prompt, model: name, servers: r.servers, getenv: r.getenv,
	})
	if err != nil {
		return Reply{}, err
	}
	for path, text := range c.files {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return Reply{}, err
		}
	}
	ended, err := r.run(ctx, dir, c, Text(in))
	if err != nil {
		return Reply{}, err
	}
	reply, err := r.Agent.read(ended.out)
	if err == nil && ended.err == nil {
		reply.Model = cmp.Or(reply.Model, name)
		return reply, nil
	}
	return Reply{}, r.explain(ended, err)
}

// listServers finds the user's MCP servers, once.
func (r *Runner) listServers(ctx context.Context, dir string) error {
	l := r.Agent.list
	if l == nil || r.listed {
		return nil
	}
	ended, err := r.run(ctx, dir, command{args: l.args, env: l.env}, "")
	if err == nil {
		if err = ended.err; err == nil {
			r.servers, err = l.names(ended.out)
		}
	}
	switch {
	case errors.Is(err, errLate):
		return r.explain(ended, nil)
	case err != nil && l.must:
		return failure(summarizer.Terminal, "%s does not name its MCP servers (`%s %s`), so they "+
			"cannot be turned off: %v%s", r.Agent.Name, r.Agent.Program, strings.Join(l.args, " "),
			err, ended.told())
	}
	r.listed = true
	return nil
}

// ended is the result of a run.
type ended struct {
	out    []byte
	stderr []byte
	err    error // of the process; errLate if it was killed because its time was over
}

// told returns the last line of the standard error that has a letter, as the end of a sentence, or
// "".
func (e ended) told() string {
	lines := strings.Split(string(e.stderr), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.ContainsFunc(line, unicode.IsLetter) {
			return ": " + strings.TrimSpace(line)
		}
	}
	return ""
}

// run starts the agent directly, never through a shell, in an empty directory. The agent stays in
// the helper's process group, so killing the helper also kills the agent and its children.
func (r *Runner) run(ctx context.Context, dir string, c command, in string) (ended, error) {
	work := filepath.Join(dir, "ctx-summary")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return ended{}, err
	}
	if r.Agent.after != nil {
		defer r.Agent.after(work, r.getenv)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	offline := false
	out, errs := &bounded{most: maxOutput, over: stop}, &bounded{most: maxErrors, newest: true}
	if r.Agent.offline != nil {
		out.line = func(line []byte) {
			if !offline && r.Agent.offline(line) {
				offline = true
				stop()
			}
		}
	}
	cmd := exec.CommandContext(ctx, r.path, c.args...)
	cmd.Dir, cmd.Env = work, r.environ(work, c.env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), out, errs
	cmd.WaitDelay = grace
	err := cmd.Run()
	switch {
	case out.full:
		return ended{}, failure(summarizer.Transient, "%s wrote more than %d bytes",
			r.Agent.Name, maxOutput)
	case offline:
		err = errOffline
	case ctx.Err() != nil:
		err = errLate
	case errors.Is(err, io.ErrClosedPipe), errors.Is(err, exec.ErrWaitDelay):
		err = nil // the agent itself ended successfully
	}
	return ended{out: out.kept, stderr: errs.kept, err: err}, nil
}

// environ returns the environment of the agent: the user's environment, changed as the agent's row
// says.
func (r *Runner) environ(work string, set map[string]string) []string {
	all := map[string]string{hookDisable: "1", "NO_COLOR": "1", "PWD": work}
	maps.Copy(all, set)
	out := slices.DeleteFunc(slices.Clone(r.Environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, ours := all[name]
		return ours || slices.Contains(r.Agent.clear, name)
	})
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, name+"="+all[name])
	}
	return out
}

func (r *Runner) getenv(name string) string {
	for _, v := range slices.Backward(r.Environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// bounded keeps the first bytes that are written to it, or the last ones.
type bounded struct {
	most   int
	newest bool
	over   func() // called on overflow, unless newest is set
	kept   []byte
	full   bool

	line func(line []byte) // called for each line, unless nil or newest is set
	read int               // bytes of kept whose lines were given
}

// Write implements io.Writer. It never fails.
func (b *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if b.newest {
		b.kept = append(b.kept, p[max(0, n-b.most):]...)
		b.kept = bytes.Clone(b.kept[max(0, len(b.kept)-b.most):])
		return n, nil
	}
	room := b.most - len(b.kept)
	b.kept = append(b.kept, p[:min(n, room)]...)
	for b.line != nil {
		end := bytes.IndexByte(b.kept[b.read:], '\n')
		if end < 0 {
			break
		}
		b.line(b.kept[b.read : b.read+end])
		b.read += end + 1
	}
	if n > room && !b.full {
		b.full = true
		b.over()
	}
	return n, nil
}

// said is an error that the agent reports in its output.
type said struct{ text string }

func (e *said) Error() string { return e.text }

// errNoOutput says that the output of an agent has neither an answer nor an error.
var errNoOutput = errors.New("no answer in its output")

// errLate says that the agent was killed because its time was over.
var errLate = errors.New("did not answer in time; " +
	"summarizer.NAME.timeout sets how long it may take")

// errOffline is the error of an agent that was killed because it reaches no server.
var errOffline = errors.New("no connection")

// errTool says that the agent used a tool. None was offered, so this version of the agent does not
// follow its flags.
var errTool = errors.New("a tool was used, though none is allowed: " +
	"this version is not known to work without tools")

// sign maps words in an agent's error to a kind.
type sign struct {
	kind    summarizer.Kind
	pattern *regexp.Regexp
}

// signOf returns a sign of regular expressions that ignore case.
func signOf(kind summarizer.Kind, patterns ...string) sign {
	return sign{kind, regexp.MustCompile("(?i)" + strings.Join(patterns, "|"))}
}

// signs are searched in this order: lasting errors come before temporary ones, because both are
// often called a quota and both come with HTTP 429.
var signs = []sign{
	signOf(summarizer.Refused, `prompt is too long`, `context (window|length)`, `context_length`,
		`input token count`, `too many tokens`, `\b413\b`),
	signOf(summarizer.Quota, `insufficient_quota`, `billing`, `credit`, `usage limit`,
		`spend limit`, `(hit|reached) your\b.*\blimit`, `daily`, `per ?day`, `\b402\b`),
	signOf(summarizer.Capacity, `overloaded`, `rate.?limit`, `too many requests`, `capacity`,
		`high demand`, `resource.?exhausted`, `\b(429|503|529)\b`),
	signOf(summarizer.Quota, `quota`),
	signOf(login, `log ?in\b`, `logged (in|out)`, `api.?key`, `auth method`, `authenticat`,
		`unauthori[sz]ed`, `credential`, `oauth`, `\b(401|403)\b`),
	signOf(summarizer.Terminal, `not ?found`, `unknown (option|argument|flag|model)`,
		`unexpected argument`, `invalid (model|value)`, `unsupported`, `\b(400|404)\b`),
}

// login is a terminal failure with its own remedy. It is never reported to ctx.
const login summarizer.Kind = "login"

// explain returns the reason why a run gave no answer. err is the error of the reader. The agent's
// own error comes first, which some agents write to their standard error, then the last line of the
// standard error.
func (r *Runner) explain(e ended, err error) error {
	if errors.Is(err, errNoOutput) {
		if _, other := r.Agent.read(e.stderr); other != nil {
			err = other
		}
	}
	var own *said
	text := ""
	switch {
	case errors.As(err, &own):
		text = strings.TrimSpace(own.text)
	case errors.Is(err, errTool):
		return failure(summarizer.Terminal, "%s: %v", r.Agent.Name, err)
	default:
		text = strings.TrimPrefix(e.told(), ": ")
	}
	kind := kindOf(text)
	switch {
	case errors.Is(e.err, errLate) && text != "":
		text = fmt.Sprintf("%v; the last that it said: %s", errLate, text)
	case errors.Is(e.err, errLate):
		text = errLate.Error()
	case errors.Is(e.err, errOffline):
		kind, text = summarizer.Transient, fmt.Sprintf("%v: %s", errOffline, text)
	case text == "":
		text = errNoOutput.Error()
		if err != nil {
			text = err.Error()
		}
		if e.err != nil {
			text += fmt.Sprintf(" (%v)", e.err)
		}
	}
	if kind == login {
		kind, text = summarizer.Terminal, text+": "+r.Agent.Login
	}
	return failure(kind, "%s: %s", r.Agent.Name, text)
}

func failure(kind summarizer.Kind, text string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(text, args...)}
}

func kindOf(text string) summarizer.Kind {
	for _, s := range signs {
		if s.pattern.MatchString(text) {
			return s.kind
		}
	}
	return summarizer.Transient
}

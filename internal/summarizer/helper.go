package summarizer

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/internal/child"
)

// The default times for which ctx waits for a helper.
const (
	StartTimeout  = 10 * time.Second  // for its first line
	AnswerTimeout = 120 * time.Second // for an answer, from the request on
)

// Helper is a program that answers claims. It is started at its first use and then asked
// repeatedly; Close ends it. It implements summarize.Summarizer, and must not be used by several
// goroutines at once.
type Helper struct {
	Name    string   // as in the user's settings
	Command []string // the program and its arguments
	// The directory of ctx, where its own helpers are searched first; "" for none
	Beside string
	Start  time.Duration // 0 means StartTimeout
	Answer time.Duration // 0 means AnswerTimeout

	// Context kills the helper when it is done, also between requests; nil for never.
	Context context.Context

	running  *process // nil if the helper does not run
	can      Capability
	answered map[string]bool // claims that the running process has answered
}

// Limit returns the most tokens of the inputs of one Ask. It starts the helper to learn the limit;
// if that fails, the next Ask returns the error.
func (h *Helper) Limit() int {
	if h.ready(context.Background()) != nil {
		return maxInput
	}
	return h.can.MaxInputTokens
}

// Summarize asks the helper. The text of the result is clean, within ask.Tokens, and shorter than
// the inputs. Errors: *Failure, and the error of ctx. After a failure that concerns more than this
// answer, and after ctx is done, the helper and its children have been killed, and the next call
// starts the helper again.
func (h *Helper) Summarize(ctx context.Context, ask summarize.Request) (summarize.Response, error) {
	if err := h.ready(ctx); err != nil {
		return summarize.Response{}, err
	}
	if n := sourceTokens(ask); n > h.can.MaxInputTokens {
		return summarize.Response{}, h.fail(because(TooLong, "inputs have %d tokens, it takes %d",
			n, h.can.MaxInputTokens))
	}
	if h.answered[ask.Claim.String()] {
		// The claim is asked again. A late second answer to the first request could not be
		// distinguished from the answer to this one.
		h.kill()
		if err := h.ready(ctx); err != nil {
			return summarize.Response{}, err
		}
	}
	answer, err := h.ask(ctx, ask)
	if err != nil {
		return summarize.Response{}, err
	}
	text, f := Clean(ask, answer.Text)
	if f == nil {
		f = aboutInputs(ask, text)
	}
	if f != nil {
		return summarize.Response{}, h.fail(f)
	}
	told := summarize.Response{Text: text, Summarizer: h.Name,
		Version: versionOf(h.can, answer.Model)}
	if h.can.PromptVersion == "" || h.can.PromptVersion == PromptVersion {
		told.Prompt = PromptID(ask.Focus)
	}
	return told, nil
}

// ready starts the helper and reads its first line, unless it is running.
func (h *Helper) ready(ctx context.Context) error {
	if h.running != nil {
		return nil
	}
	if len(h.Command) == 0 {
		return h.fail(because(Missing, "no program is set for it"))
	}
	path, err := child.Find(h.Command[0], h.Beside)
	if err == nil {
		h.running, err = launch(h.Context, path, h.Command[1:])
	}
	if err != nil {
		return h.fail(because(Missing, "%s", Plain(err.Error())))
	}
	h.answered = map[string]bool{}
	first, err := h.next(ctx, cmp.Or(h.Start, StartTimeout), Silent)
	if err != nil {
		return err
	}
	can, f := decodeCapability(first.text)
	if f != nil {
		return h.fail(f)
	}
	if len(first.waiting) > 0 {
		return h.fail(because(Garbage, "wrote more than its first line before it was asked: %s",
			quoted(first.waiting)))
	}
	h.can = can
	return nil
}

// ask sends one request and reads its answer. An error that the helper reports is a *Failure.
func (h *Helper) ask(ctx context.Context, ask summarize.Request) (WireAnswer, error) {
	timeout := cmp.Or(h.Answer, AnswerTimeout)
	b, err := encodeLine(requestOf(ask, timeout))
	if err != nil {
		return WireAnswer{}, fmt.Errorf("cannot write the request: %w", err)
	}
	h.running.send(b)
	l, err := h.next(ctx, timeout, Slow)
	if err != nil {
		return WireAnswer{}, err
	}
	claim := ask.Claim.String()
	answer, f := decodeAnswer(l.text, claim, h.answered)
	if f == nil || f.Kind.ofAnswer() {
		h.answered[claim] = true
		if more := h.unasked(l.waiting); more != nil {
			f = more
		}
	}
	if f != nil {
		return WireAnswer{}, h.fail(f)
	}
	return answer, nil
}

// unasked returns the failure for further lines right after an answer, or nil if there are none.
func (h *Helper) unasked(waiting []byte) *Failure {
	if len(waiting) == 0 {
		return nil
	}
	first, _, _ := strings.Cut(string(waiting), "\n")
	_, f := decodeAnswer([]byte(first), "", h.answered)
	return f
}

// next returns the helper's next line. late is the kind of the failure if none comes in time.
func (h *Helper) next(ctx context.Context, timeout time.Duration, late Kind) (line, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case l, ok := <-h.running.lines:
		switch {
		case !ok:
			return line{}, h.gone(late)
		case errors.Is(l.err, errOversized):
			return l, h.fail(because(Oversized, "wrote a line of more than %d bytes", MaxLine))
		case l.err != nil:
			return l, h.fail(because(Crashed, "%s", Plain(l.err.Error())))
		}
		return l, nil
	case <-timer.C:
		said := h.running.stderr.Said()
		return line{}, h.fail(because(late, "said nothing for %v%s", timeout, said))
	case <-ctx.Done():
		h.kill()
		return line{}, ctx.Err()
	}
}

// gone returns the failure of a helper whose output ended. If it wrote nothing and ended with
// success, it is silent instead of crashed.
func (h *Helper) gone(late Kind) error {
	p := h.running
	h.running = nil
	err := p.stop(grace)
	kind := Crashed
	if late == Silent && err == nil {
		kind = Silent
	}
	return h.fail(because(kind, "%s", p.ending(err)))
}

// fail sets the name of a failure, and kills the helper unless it can be asked again.
func (h *Helper) fail(f *Failure) error {
	f.Name = h.Name
	if !f.Kind.ofAnswer() {
		h.kill()
	}
	return f
}

func (h *Helper) kill() {
	if h.running != nil {
		_ = h.running.stop(0)
		h.running = nil
	}
}

// Close ends the helper. It closes the helper's input and kills the processes that run after a
// short grace period. It returns the first line that the helper writes now, which nobody asked for,
// as a *Failure.
func (h *Helper) Close() error {
	p := h.running
	if p == nil {
		return nil
	}
	h.running = nil
	_ = p.stdin.Close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	var f *Failure
	select {
	case l, ok := <-p.lines:
		if ok && l.err == nil {
			_, f = decodeAnswer(l.text, "", h.answered)
		}
	case <-timer.C:
	}
	_ = p.stop(grace)
	if f != nil {
		return h.fail(f)
	}
	return nil
}

// grace is the time for which a helper may run after its input ended, before it is killed.
const grace = 2 * time.Second

// process is a running helper. It must not be used by several goroutines at once.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan line     // unbuffered; closed at the end of the output
	quit   chan struct{} // closed when nobody receives lines any more
	sent   chan struct{} // closed when the last request is written; nil before the first
	stderr *child.Tail
	dir    string      // its own working directory
	spare  func() bool // stops the killing at the end of the context
	mark   string      // an environment entry that its descendants inherit
}

// runVariable is an environment variable that names a run of a helper. The processes that the
// helper starts are found by it.
const runVariable = "CTX_SUMMARIZER_RUN"

// line is a line of a helper's output without its end, or the reason why there is none.
type line struct {
	text    []byte
	waiting []byte // output after the line that had arrived when the line was read
	err     error
}

// launch starts a program directly, never through a shell, in its own process group and in an empty
// directory. The directory keeps an agent that is asked for a summary from reading the project or
// using its settings. The environment is passed through. The helper is killed when ctx is done; ctx
// may be nil.
func launch(ctx context.Context, path string, args []string) (*process, error) {
	dir, err := os.MkdirTemp("", "ctx-summarizer-")
	if err != nil {
		return nil, err
	}
	p := &process{
		cmd: exec.Command(path, args...), lines: make(chan line), quit: make(chan struct{}),
		stderr: &child.Tail{}, dir: dir,
		mark: runVariable + "=" + filepath.Base(dir),
	}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), p.mark)
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = grace // for output that a grandchild keeps open
	child.OwnGroup(p.cmd)
	adoptOrphans()
	stdout, err := p.open()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		_ = os.Remove(dir)
		return nil, err
	}
	p.spare = func() bool { return true }
	if ctx != nil {
		p.spare = context.AfterFunc(ctx, p.kill)
	}
	go p.read(stdout)
	return p, nil
}

func (p *process) open() (stdout io.Reader, err error) {
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return p.cmd.StdoutPipe()
}

// read passes on non-empty lines until the output ends or a line is too long.
func (p *process) read(stdout io.Reader) {
	defer close(p.lines)
	r := bufio.NewReaderSize(stdout, 64<<10)
	for {
		text, err := ReadLine(r, MaxLine)
		if len(bytes.TrimSpace(text)) == 0 && err == nil {
			continue
		}
		if err == io.EOF && len(bytes.TrimSpace(text)) == 0 {
			return
		}
		l := line{text: text}
		if err != io.EOF {
			l.err = err
		}
		waiting, _ := r.Peek(r.Buffered())
		l.waiting = bytes.Clone(bytes.TrimSpace(waiting))
		select {
		case p.lines <- l:
		case <-p.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

var errOversized = errors.New("line is too long")

// ReadLine reads a line of at most so many bytes, and never holds more. A last line without an end
// comes with io.EOF.
func ReadLine(r *bufio.Reader, most int) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > most {
			return nil, errOversized
		}
		text = append(text, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(text, "\r\n"), err
		}
	}
}

// send writes a line to the helper without waiting, because a helper that does not read is handled
// like one that does not answer. When the helper has answered, the line has been written, unless
// the helper answers without reading.
func (p *process) send(b []byte) {
	before := p.sent
	p.sent = make(chan struct{})
	go func(now chan struct{}) {
		defer close(now)
		if before != nil {
			<-before // so that lines do not mix
		}
		_, _ = p.stdin.Write(b) // if the helper has ended, its output ends too
	}(p.sent)
}

// stop ends a helper and all its descendants, after at most patience, and returns how the helper
// ended. It may be called once.
func (p *process) stop(patience time.Duration) error {
	close(p.quit)
	if patience == 0 {
		p.kill()
	}
	_ = p.stdin.Close()
	late := time.AfterFunc(patience, p.kill)
	err := p.cmd.Wait()
	late.Stop()
	p.spare()
	p.kill() // the helper's descendants; a process group keeps its number while it has members
	_ = os.RemoveAll(p.dir)
	return err
}

// kill kills a helper with its process group and, on Linux, with descendants outside of the group.
func (p *process) kill() {
	child.KillGroup(p.cmd)
	killTree(p.cmd.Process.Pid, p.mark)
}

// ending describes how a helper ended before it answered, with the last line of its standard error.
func (p *process) ending(err error) string {
	how := "ended without an answer"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		how += fmt.Sprintf(" (%s)", exit.ProcessState)
	}
	return how + p.stderr.Said()
}

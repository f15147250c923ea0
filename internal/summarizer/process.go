package summarizer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
)

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
		text, err := readLine(r)
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

// readLine reads a line of at most MaxLine bytes, and never holds more. A last line without an end
// comes with io.EOF.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > MaxLine {
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

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
	"strings"
	"sync"
	"time"
)

// grace is how long a helper may take to end after its input did, before it is killed.
const grace = 2 * time.Second

// process is a helper that runs. It is used from one goroutine.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  chan line     // one at a time; closed at the end of its output
	quit   chan struct{} // closed when nobody takes lines any more
	sent   chan struct{} // closed when the last request was written; nil before the first
	stderr *tail
	dir    string      // its working directory, its own
	spare  func() bool // has the end of the context not kill it any more
	mark   string      // an entry of its environment, and so of what it starts
}

// runVariable is in the environment of a helper and names its run: what the helper starts is known by it.
const runVariable = "CTX_SUMMARIZER_RUN"

// line is a line of a helper's output without its end, or why there is none.
type line struct {
	text    []byte
	waiting []byte // what it had written after the line by the time the line was read
	err     error
}

// launch starts a program by its arguments, never through a shell, in a process group of its own and in an empty directory: what lies in the
// project is none of its business, and an agent that is asked for a summary shall not take the project's settings for its own. The environment is
// passed through. stderr is kept from the start. The helper is killed when ctx is done; ctx may be nil.
func launch(ctx context.Context, path string, args []string) (*process, error) {
	dir, err := os.MkdirTemp("", "ctx-summarizer-")
	if err != nil {
		return nil, err
	}
	p := &process{
		cmd: exec.Command(path, args...), lines: make(chan line), quit: make(chan struct{}), stderr: &tail{}, dir: dir,
		mark: runVariable + "=" + filepath.Base(dir),
	}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), p.mark)
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = grace // for output that a grandchild keeps open
	ownGroup(p.cmd)
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

// read hands over lines until the output ends, or a line is too long. Empty ones do not count.
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

// readLine reads a line of at most MaxLine bytes; no more than that is ever held. io.EOF comes with a last line that has no end.
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

// send writes a line to the helper, without waiting: one that does not read is one that does not answer. Once it was answered the line has been
// written, unless the helper answers what it has not read.
func (p *process) send(b []byte) {
	before := p.sent
	p.sent = make(chan struct{})
	go func(now chan struct{}) {
		defer close(now)
		if before != nil {
			<-before // so that lines do not mix
		}
		_, _ = p.stdin.Write(b) // a helper that has gone shows at the other end
	}(p.sent)
}

// stop ends a helper and everything it started, after at most patience, and returns how it ended. It may be called once.
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
	p.kill() // what the helper left running; its group has its number for as long as anybody is in it
	_ = os.RemoveAll(p.dir)
	return err
}

// kill kills a helper and what it started: its process group and, on Linux, what has left that group.
func (p *process) kill() {
	killGroup(p.cmd)
	killTree(p.cmd.Process.Pid, p.mark)
}

// ending says how a helper ended before it answered, with the last thing it told on its standard error.
func (p *process) ending(err error) string {
	how := "ended without an answer"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		how += fmt.Sprintf(" (%s)", exit.ProcessState)
	}
	return how + p.stderr.told()
}

// tail keeps the newest MaxStderr bytes of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements io.Writer and never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-MaxStderr):]...)
	if over := len(t.kept) - MaxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// told returns the last line that says something, as the end of a sentence, or "".
func (t *tail) told() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.kept))
	last := oneLine(text[strings.LastIndexByte(text, '\n')+1:], maxWhy)
	if last == "" {
		return ""
	}
	return ": " + last
}

// find returns the path of a program. An absolute path is taken as it is; a bare name is looked for beside ctx, where it is one of ctx's own, and
// then on PATH, never in the working directory; anything else would depend on where ctx is run, and is refused.
func find(name, beside string) (string, error) {
	switch {
	case filepath.IsAbs(name):
		return name, nil
	case strings.ContainsAny(name, `/\`) || name == "":
		return "", fmt.Errorf("program is neither a name nor an absolute path: %.80q", name)
	}
	if beside != "" && strings.HasPrefix(name, "ctx-") {
		if path, err := exec.LookPath(filepath.Join(beside, name)); err == nil {
			return path, nil
		}
	}
	return exec.LookPath(name)
}

package helper

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/gemini-ctx/ctx/internal/child"
)

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

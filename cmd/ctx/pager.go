package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// isPaged reports whether a pager shows the output of a command when standard output is a terminal:
// a person reads it, and it may be more than fits on a screen.
func isPaged(command string) bool {
	return slices.Contains([]string{
		"blame", "brief", "config", "config list", "diff", "epoch preview", "epoch show", "expand",
		"forest", "grep", "help", "log", "mask plan",
		"op log", "op show", "provenance", "reflog", "render", "search", "session list",
		"session show", "show", "stats",
	}, command)
}

// errPagerGone ends a command whose reader has left the pager. It is no failure.
var errPagerGone = errors.New("the pager has ended")

// pager is a writer that starts a program at the first write and gives it everything.
type pager struct {
	start func() (io.WriteCloser, error) // nil after the start
	to    io.WriteCloser
	other io.Writer // where the output goes if the program cannot be started
}

// Write implements io.Writer. It returns errPagerGone once the program has ended.
func (p *pager) Write(b []byte) (int, error) {
	if p.start != nil {
		to, err := p.start()
		p.start = nil
		if err == nil {
			p.to = to
		}
	}
	if p.to == nil {
		return p.other.Write(b)
	}
	n, err := p.to.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		err = errPagerGone
	}
	return n, err
}

// Close waits until the reader has left the pager.
func (p *pager) Close() error {
	if p.to == nil {
		return nil
	}
	return p.to.Close()
}

// usePager sends the output of a command, whose name it gets, through a pager, if a person reads
// it. The second call does nothing.
func (a *app) usePager(cmd *cobra.Command, name string) {
	if _, used := a.out.w.(*pager); used || a.noPager || a.json || a.nul || a.page == nil ||
		!asked(a.outTerm) || !isPaged(name) {
		return
	}
	if follow := cmd.Flags().Lookup("follow"); follow != nil && follow.Changed {
		return
	}
	words := pagerCommand(a.getenv)
	if words == "" {
		return
	}
	p := &pager{start: func() (io.WriteCloser, error) { return a.page(words) }, other: a.out.w}
	a.out.w = p
	a.opened = append(a.opened, p)
}

// pagerCommand returns the command of the pager, for a shell; "" for none. As with git, the
// variable of ctx itself goes before PAGER, and less is the default.
func pagerCommand(getenv func(string) string) string {
	words := "less"
	for _, name := range []string{"PAGER", "CTX_PAGER"} {
		if v := getenv(name); v != "" {
			words = v
		}
	}
	if words = strings.TrimSpace(words); words == "cat" {
		return ""
	}
	return words
}

// startPager starts a pager on this process's terminal. While it runs, an interrupt is for it
// alone: less stops a search with it, and goes on.
func startPager(words string) (io.WriteCloser, error) {
	var cmd *exec.Cmd
	if runtime.GOOS == "windows" {
		list := strings.Fields(words)
		path, err := exec.LookPath(list[0])
		if err != nil {
			return nil, err
		}
		cmd = exec.Command(path, list[1:]...)
	} else {
		if name, _, _ := strings.Cut(words, " "); name != "" {
			if _, err := exec.LookPath(name); err != nil {
				return nil, err
			}
		}
		cmd = exec.Command("/bin/sh", "-c", words)
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Env = pagerEnv(os.Environ())
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("pager: %w", err)
	}
	signal.Ignore(os.Interrupt)
	return &pagerInput{WriteCloser: in, cmd: cmd}, nil
}

// pagerEnv adds what git sets for its pager: less ends by itself when everything fits on one
// screen, keeps colours, and leaves the screen as it is.
func pagerEnv(env []string) []string {
	for _, one := range []string{"LESS=FRX", "LV=-c"} {
		name, _, _ := strings.Cut(one, "=")
		if !slices.ContainsFunc(env,
			func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			env = append(env, one)
		}
	}
	return env
}

// pagerInput is the standard input of a pager.
type pagerInput struct {
	io.WriteCloser
	cmd *exec.Cmd
}

// Close tells the pager that the output is complete, and waits until its reader leaves it.
func (p *pagerInput) Close() error {
	return errors.Join(p.WriteCloser.Close(), p.cmd.Wait())
}

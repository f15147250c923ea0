// Package program has tests run ctx as users do: the real binary, a process a command, which can be killed.
package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Variable names a ctx that is there already: Build then builds none. It is for machines without a Go toolchain.
const Variable = "CTX_TEST_BINARY"

// Build returns the path of a ctx made from this module, with more flags for go build where a test wants them. The file goes with the test.
func Build(tb testing.TB, flags ...string) string {
	tb.Helper()
	if path := os.Getenv(Variable); path != "" {
		return path
	}
	if err := look(); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "ctx")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	args := append([]string{"build", "-trimpath", "-o", path}, flags...)
	build := exec.Command("go", append(args, "github.com/gemini-ctx/ctx/cmd/ctx")...)
	if !slices.Contains(flags, "-race") {
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped: no loader runs before it
	}
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return path
}

// look looks at every source of the module: go test remembers results by what a test looked at, and knows nothing of what it built.
func look() error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(root)
		if parent == root {
			return errors.New("no go.mod above the test")
		}
		root = parent
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && d.Name() != "go.sum":
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
}

// Program is a ctx and where it runs. Its commands see nothing of the machine's own settings.
type Program struct {
	Path string
	Dir  string
	Env  []string // on top of what Run sets
}

// Result is how a command went.
type Result struct {
	Args       []string
	Start, End time.Time // just before it was started, and just after it was seen to have ended
	Code       int       // its exit code; -1 where it was killed
	Out, Err   string
}

// OK says that it did what it was asked to.
func (r Result) OK() bool { return r.Code == 0 }

// String is a line that says what was run and how it ended.
func (r Result) String() string {
	return fmt.Sprintf("ctx %s: exit code %d: %s", strings.Join(r.Args, " "), r.Code, strings.TrimSpace(r.Err))
}

// Run runs a command to its end.
func (p Program) Run(args ...string) Result { return p.RunKill(-1, args...) }

// RunKill kills the command after a time, unless it has ended by then. A negative one is never.
func (p Program) RunKill(after time.Duration, args ...string) Result {
	r := Result{Args: args}
	c := p.Command(args...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	r.Start = time.Now()
	err := c.Start()
	if err == nil {
		var timer *time.Timer
		if after >= 0 {
			timer = time.AfterFunc(after, func() { _ = c.Process.Kill() })
		}
		err = c.Wait()
		if timer != nil {
			timer.Stop()
		}
	}
	r.End = time.Now()
	r.Out, r.Err = out.String(), errs.String()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		r.Code = exit.ExitCode()
		if runtime.GOOS == "windows" && after >= 0 && r.Code == 1 && r.Err == "" {
			r.Code = -1 // what a killed process leaves there
		}
	case err != nil:
		r.Code, r.Err = -2, err.Error()
	}
	return r
}

// Command is a command that is about to run.
func (p Program) Command(args ...string) *exec.Cmd {
	c := exec.Command(p.Path, args...)
	c.Dir = p.Dir
	home := filepath.Join(p.Dir, ".home")
	c.Env = append(outside(), "HOME="+home, "USERPROFILE="+home, "AppData="+home, "XDG_CONFIG_HOME=", "CTX_USER_CONFIG="+filepath.Join(home, "none.toml"),
		"GORACE=atexit_sleep_ms=0 halt_on_error=1")
	c.Env = append(c.Env, p.Env...)
	return c
}

// outside is the environment of the test without the settings of ctx that are in it.
var outside = sync.OnceValue(func() []string {
	var kept []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CTX_") {
			kept = append(kept, v)
		}
	}
	return kept
})

// Must is Run, and the end of the test where the command fails. It returns what was printed.
func (p Program) Must(tb testing.TB, args ...string) string {
	tb.Helper()
	r := p.Run(args...)
	if !r.OK() {
		tb.Fatal(r)
	}
	return r.Out
}

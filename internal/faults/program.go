// Tests run ctx as users do: the real binary, one process per command, which can be killed. Begin
// with Build and Program.Run.

package faults

import (
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/gemini-ctx/ctx/lock"
)

// variable names the environment variable with the path of an existing ctx, for machines without a
// Go toolchain. If it is set, Build builds nothing.
const variable = "CTX_TEST_BINARY"

// Build returns the path of a ctx built from this module, with the given additional flags for go
// build. All tests that ask for the same program and flags share the file: none may change it.
func Build(tb testing.TB, flags ...string) string {
	tb.Helper()
	return BuildBeside(tb, "ctx", flags...)
}

// BuildBeside is Build for another program of this module, such as ctx-mcp.
func BuildBeside(tb testing.TB, name string, flags ...string) string {
	tb.Helper()
	if path := os.Getenv(variable); path != "" {
		return filepath.Join(filepath.Dir(path), name) + filepath.Ext(path)
	}
	return compile(tb, name, append([]string{"build"}, flags...))
}

// Programs returns a new directory that has the named programs of this module beside each other. It
// is the test's own.
func Programs(tb testing.TB, names ...string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	for _, name := range names {
		from := BuildBeside(tb, name)
		to := filepath.Join(dir, filepath.Base(from))
		if os.Link(from, to) == nil {
			continue
		}
		text, err := os.ReadFile(from) // it is on another disk
		if err == nil {
			err = os.WriteFile(to, text, 0o700)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// BuildTests is Build for the tests of ctx.
func BuildTests(tb testing.TB) string {
	tb.Helper()
	return compile(tb, "ctx", []string{"test", "-c", "-vet=off"})
}

// compile runs go with args for a program. The file has a name that follows from the module, the
// program and args: go does not link anew what is up to date.
func compile(tb testing.TB, name string, args []string) string {
	tb.Helper()
	root, err := look()
	if err != nil {
		tb.Fatal(err)
	}
	caches, err := os.UserCacheDir()
	if err != nil {
		caches = os.TempDir()
	}
	of := sha256.Sum256([]byte(strings.Join(append(args, root, os.Getenv("GOFLAGS")), "\n")))
	dir := filepath.Join(caches, "ctx-tests", hex.EncodeToString(of[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	// No flags that compile anew: go test has compiled the packages without them.
	args = append(args, "-ldflags", "-s -w", "-o", path, "github.com/gemini-ctx/ctx/cmd/"+name)
	// The tests of several packages run at once.
	err = lock.With(tb.Context(), nil, dir, time.Hour, lock.Owner{}, func() error {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// look examines every source file of the module, and returns its directory. go test caches results
// by the files that a test examined, and does not know what the test built.
func look() (root string, err error) {
	root, err = os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(root)
		if parent == root {
			return "", errors.New("no go.mod above the test")
		}
		root = parent
	}
	return root, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != root:
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(path, "_test.go") ||
			!strings.HasSuffix(path, ".go") && d.Name() != "go.sum":
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
}

// Program is a ctx and its working directory. Its commands do not see the machine's own settings.
type Program struct {
	Path string
	Dir  string
	Env  []string // in addition to what Run sets
}

// Result is the result of a command.
type Result struct {
	Args       []string
	Start, End time.Time // just before its start, and just after its end was noticed
	Code       int       // exit code; -1 if it was killed
	Out, Err   string
}

// OK reports whether the command succeeded.
func (r Result) OK() bool { return r.Code == 0 }

// String returns a line with the command and its result.
func (r Result) String() string {
	return fmt.Sprintf("ctx %s: exit code %d: %s", strings.Join(r.Args, " "), r.Code,
		strings.TrimSpace(r.Err))
}

// Run runs a command to its end.
func (p Program) Run(args ...string) Result { return p.RunKill(-1, args...) }

// RunKill kills the command after a time, unless it has ended by then. A negative time means never.
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
			r.Code = -1 // as a killed process ends on Windows
		}
	case err != nil:
		r.Code, r.Err = -2, err.Error()
	}
	return r
}

// Command returns a command that is ready to be started.
func (p Program) Command(args ...string) *exec.Cmd {
	c := exec.Command(p.Path, args...)
	c.Dir = p.Dir
	home := filepath.Join(p.Dir, ".home")
	c.Env = append(outside(), "HOME="+home, "USERPROFILE="+home, "AppData="+home,
		"XDG_CONFIG_HOME=", "XDG_DATA_HOME=",
		"CTX_USER_CONFIG="+filepath.Join(home, "none.toml"),
		"GORACE=atexit_sleep_ms=0 halt_on_error=1")
	c.Env = append(c.Env, p.Env...)
	return c
}

// outside is the environment of the test without settings of ctx.
var outside = sync.OnceValue(func() []string {
	var kept []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CTX_") {
			kept = append(kept, v)
		}
	}
	return slices.Clip(kept) // each command adds variables of its own
})

// Must is Run, but ends the test if the command fails. It returns the standard output.
func (p Program) Must(tb testing.TB, args ...string) string {
	tb.Helper()
	r := p.Run(args...)
	if !r.OK() {
		tb.Fatal(r)
	}
	return r.Out
}

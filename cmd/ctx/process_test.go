package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/faults"
	"github.com/gemini-ctx/ctx/lock"
)

// project makes a store with one message in a new directory, and returns the directory.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"init"},
		{"append", "-s", "work", "--role", "user", "-m", "one"}} {
		if code, _, stderr := runIn(t, dir, "", args...); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	return dir
}

// An interrupt ends a command that waits for input, with 130 and nothing left behind.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: a process cannot be sent an interrupt here")
	}
	dir := project(t)
	for _, c := range []struct {
		args         []string
		line, answer string
	}{
		{[]string{"cat-file", "--batch-check"}, "nobody", "nobody missing"},
		{[]string{"append", "-s", "more", "--jsonl"}, `{"role":"user","text":"hello"}`, ""},
	} {
		p := startCtx(t, dir, c.args...)
		fmt.Fprintln(p.in, c.line)
		answer, err := bufio.NewReader(p.out).ReadString('\n')
		if err != nil || !strings.HasPrefix(answer, c.answer) {
			t.Errorf("%v: answer %q, %v", c.args, answer, err)
		}
		if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := p.cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
			t.Errorf("%v: ended with %v, want code 130", c.args, err)
		}
		if !strings.HasSuffix(p.stderr.String(), "ctx: interrupted\n") {
			t.Errorf("%v: stderr %q", c.args, p.stderr.String())
		}
		noLeftovers(t, dir)
	}
	if _, said, _ := runIn(t, dir, "", "log", "-s", "more"); !strings.Contains(said, "hello") {
		t.Errorf("what was acknowledged is not there: %s", said)
	}
}

// process is a ctx that runs beside the test.
type process struct {
	cmd    *exec.Cmd
	in     io.Writer
	out    io.Reader
	stderr strings.Builder
}

func startCtx(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("ctx", args...)}
	p.cmd.Dir = dir
	p.cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "WORK="+dir)
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if durable.IsTemp(filepath.Base(path)) {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A command that would write while another holds the lock ends with 11 and names the holder; one
// that reads does not care.
func TestLocked(t *testing.T) {
	dir := project(t)
	store := filepath.Join(dir, ".gemini", "context")
	held, err := lock.Acquire(context.Background(), nil, store, 0,
		lock.Owner{PID: 42, Host: "elsewhere", Command: "ctx compact", Since: scriptStart()})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	code, _, stderr := runIn(t, dir, "", "-c", "lock.timeout=0s", "append", "-s", "work", "--role",
		"user", "-m", "two")
	if code != exitLocked || !strings.Contains(stderr, "42") ||
		!strings.Contains(stderr, "elsewhere") || !strings.Contains(stderr, "ctx compact") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, stdout, stderr := runIn(t, dir, "", "log", "-s", "work", "--json"); code != 0 ||
		!strings.Contains(stdout, `"one"`) {
		t.Errorf("reading: exit code %d: %s%s", code, stdout, stderr)
	}
}

// At whichever write the disk is full: 1, a hint, what was there is there, and nothing half done.
func TestDiskFull(t *testing.T) {
	dir := project(t)
	for n := 1; ; n++ {
		left := n
		full := &durable.FS{Hook: func(c durable.Call) error {
			if c.Op != durable.OpWrite && c.Op != durable.OpAppend {
				return nil
			}
			if left--; left > 0 {
				return nil
			}
			return &fs.PathError{Op: "write", Path: c.Path, Err: syscall.ENOSPC}
		}}
		code, stdout, stderr := runWith(t, full, dir, "append", "-s", "work", "--role",
			"user", "-m", "two")
		if code == 0 {
			if n < 2 || stdout == "" {
				t.Errorf("done after %d writes: %s", n, stdout)
			}
			break
		}
		if code != exitFailed || stdout != "" ||
			!strings.Contains(stderr, "hint: the disk is full") {
			t.Errorf("write %d: exit code %d: %s%s", n, code, stdout, stderr)
		}
		if _, said, _ := runIn(t, dir, "", "log", "-s", "work",
			"--json"); strings.Count(said, "\n") != 1 {
			t.Errorf("write %d: %s", n, said)
		}
		noLeftovers(t, dir)
	}
	if code, stdout, stderr := runIn(t, dir, "", "fsck"); code != 0 {
		t.Errorf("fsck: exit code %d: %s%s", code, stdout, stderr)
	}
}

// Output that cannot be written is an error, not silence.
func TestFullOutput(t *testing.T) {
	dir := project(t)
	var stderr strings.Builder
	w := testWorld(dir, "")
	w.stdout, w.stderr = failingWriter{}, &stderr
	if code := run(context.Background(), w, []string{"op", "log"}); code != exitFailed ||
		!strings.Contains(stderr.String(), "cannot write the output") {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
}

// What is linked runs before main does. A package that makes start-up slower shows here as
// initialisers and allocations, which do not depend on how busy the machine is. Raise the bounds
// knowingly. A package of ctx has none: it makes what it needs when it is first used.
func TestStartUp(t *testing.T) {
	// Four of the packages are those of Ed25519, by which a store signs on remotes: 0.04 ms. Two are
	// those of gzip, in which people keep old transcripts: 0.02 ms, and one is that of bzip2: a
	// table of 0.002 ms and no byte; and norm, for other forms of letters in a search: 0.006 ms and
	// no byte.
	const maxPackages, maxAllocs, maxBytes = 67, 217, 44 << 10
	const first, after = "github.com/gemini-ctx/ctx/internal/bigstack", "os"
	c := exec.Command(faults.Build(t), "version")
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	c.Stderr = &trace
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	packages, allocs, bytes := 0, 0, 0
	place := map[string]int{}
	for line := range strings.Lines(trace.String()) {
		// init <package> @<time> ms, <time> ms clock, <n> bytes, <n> allocs
		f := strings.Fields(line)
		if len(f) != 11 || f[0] != "init" {
			continue
		}
		n, err := strconv.Atoi(f[9])
		size, sizeErr := strconv.Atoi(f[7])
		if err != nil || sizeErr != nil {
			t.Fatalf("cannot read %q", line)
		}
		packages, allocs, bytes = packages+1, allocs+n, bytes+size
		place[f[1]] = packages
		if strings.HasPrefix(f[1], "github.com/gemini-ctx/ctx/") && f[1] != first {
			t.Errorf("a package of ctx does something before main: %s", line)
		}
	}
	if place[first] == 0 || place[first] > place[after] {
		t.Errorf("%s is initialized too late: in place %d, and %s in place %d", first, place[first],
			after, place[after])
	}
	t.Logf("%d packages with initialisers, %d allocations, %d bytes", packages, allocs, bytes)
	if packages == 0 || packages > maxPackages || allocs > maxAllocs || bytes > maxBytes {
		t.Errorf(
			"%d packages with initialisers, %d allocations, %d bytes: more than %d, %d, %d\n%s",
			packages, allocs, bytes,
			maxPackages, maxAllocs, maxBytes, trace.String())
	}
}

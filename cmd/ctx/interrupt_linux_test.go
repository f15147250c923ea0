package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/lock"
)

// waiting is a command that waits for something that does not come.
type waiting struct {
	name string
	args []string
	// until returns when the process waits, or is certain to.
	until func(t *testing.T, dir string, p *process)
}

// SIGINT and SIGTERM end every command, wherever it waits: with 130, or with 0 where it is a hook.
// A test that hangs here is the fault.
func TestInterruptEverywhere(t *testing.T) {
	t.Setenv("CTX_HOOK_DEADLINE", "1h") // or a hook ends by itself where the machine is slow
	n := 0
	for _, w := range waitingCommands() {
		for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
			if n++; !thirds.Mine(t, n) {
				continue
			}
			t.Run(w.name+"/"+signal.String(), func(t *testing.T) { interruptOne(t, w, signal) })
		}
	}
}

func interruptOne(t *testing.T, w waiting, signal os.Signal) {
	dir := project(t)
	if w.name == "lock" {
		store := filepath.Join(dir, ".gemini", "context")
		held, err := lock.Acquire(context.Background(), nil, store, 0, lock.Owner{PID: 42})
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release()
	}
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "{\"role\":\"user\",\"text\":\"message %d, %s\"}\n", i,
			strings.Repeat("x", 100))
	}
	if w.args[len(w.args)-1] == "long" {
		if code, _, stderr := runIn(t, dir, lines.String(), "append", "-s", "long",
			"--jsonl"); code != 0 {
			t.Fatal(stderr)
		}
	}
	p := startCtx(t, dir, w.args...)
	w.until(t, dir, p)
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	want := exitInterrupted
	if w.args[0] == "hook" {
		want = exitDone
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if got := p.cmd.ProcessState.ExitCode(); got != want || err != nil && !errors.As(err, &exit) {
		t.Errorf("exit code %d, want %d: %v: %s", got, want, err, p.stderr.String())
	}
}

func waitingCommands() []waiting {
	return []waiting{
		{"lock", []string{"-c", "lock.timeout=24h", "append", "-s", "work", "--role", "user", "-m",
			"two"}, opensLock},
		{"text on standard input", []string{"append", "-s", "work", "--role", "user"}, reads},
		{"lines on standard input", []string{"append", "-s", "work", "--jsonl"}, reads},
		{"transcript on standard input", []string{"import", "claude-code", "-"}, reads},
		{"document on standard input", []string{"import", "union-find-json", "-"}, reads},
		{"object on standard input", []string{"hash-object", "--stdin"}, reads},
		{"answers on standard input", []string{"compact", "--commit", "-"}, reads},
		{"state on standard input", []string{"session", "state", "set", "--jsonl"}, reads},
		{"event of a hook", []string{"hook", "gemini-cli"}, reads},
		{"new messages", []string{"log", "-s", "work", "--follow"}, prints},
		{"reader of standard output", []string{"log", "-s", "long"}, prints},
	}
}

// reads returns once the process reads its standard input: more was written than a pipe holds.
func reads(t *testing.T, _ string, p *process) {
	t.Helper()
	if _, err := io.WriteString(p.in, strings.Repeat(" ", 1<<20)); err != nil {
		t.Fatal(err)
	}
}

// prints returns once the process has printed something; nobody reads the rest.
func prints(t *testing.T, _ string, p *process) {
	t.Helper()
	if _, err := bufio.NewReaderSize(p.out, 16).ReadByte(); err != nil {
		t.Fatal(err)
	}
}

// opensLock returns once the process has the lock's file open: it then tries to take the lock.
func opensLock(t *testing.T, dir string, p *process) {
	t.Helper()
	fds := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	for {
		list, err := os.ReadDir(fds)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range list {
			if to, _ := os.Readlink(filepath.Join(fds, fd.Name())); strings.HasSuffix(to,
				"/context/lock") {
				return
			}
		}
		runtime.Gosched()
	}
}

// A helper that does not answer is ended with the command that waits for it, and so are the
// helper's children.
func TestInterruptHelper(t *testing.T) {
	dir := project(t)
	alive := filepath.Join(dir, "alive")
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	helper := filepath.Join(dir, "helper")
	script := "#!/bin/sh\nexec 9>" + alive +
		"\necho started >&9\nsetsid sleep 1000 &\nexec cat >&9\n"
	if err := os.WriteFile(helper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf(
		"summarize.chain = [\"h\"]\n[summarizer.h]\ncommand = [%q]\ntimeout = \"1h\"\n", helper)
	if err := os.WriteFile(filepath.Join(dir, "user.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CTX_USER_CONFIG", filepath.Join(dir, "user.toml"))
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "{\"role\":\"user\",\"text\":\"message %d\"}\n", i)
	}
	if code, _, stderr := runIn(t, dir, lines.String(), "append", "-s", "work",
		"--jsonl"); code != 0 {
		t.Fatal(stderr)
	}
	p := startCtx(t, dir, "compact", "-s", "work")
	pipe, err := os.Open(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	r := bufio.NewReader(pipe)
	if said, err := r.ReadString('\n'); said != "started\n" {
		t.Fatalf("%q, %v", said, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d: %s", got, p.stderr.String())
	}
	if _, err := io.Copy(io.Discard, r); err != nil { // until nobody has the pipe open
		t.Error(err)
	}
}

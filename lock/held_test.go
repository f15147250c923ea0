package lock_test

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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

var me = lock.Owner{PID: 42, Host: "box", Command: "ctx append",
	Since: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)}

func TestAcquire(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	held, err := lock.Acquire(ctx, nil, dir, 0, me)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Of(dir); err != nil {
		t.Error(err)
	}
	_, err = lock.Acquire(ctx, nil, dir, 0, lock.Owner{PID: 43})
	var busy *lock.BusyError
	if !errors.As(err, &busy) || busy.Owner != me {
		t.Fatalf("second: %v", err)
	}
	for _, want := range []string{"ctx append", "42", "box", "2026-11-21T00:00:00Z"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
	if err := errors.Join(held.Release(), held.Release()); err != nil {
		t.Error(err)
	}
	again, err := lock.Acquire(ctx, nil, dir, 0, me)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestAcquireCancelled(t *testing.T) {
	dir := t.TempDir()
	held, err := lock.Acquire(context.Background(), nil, dir, 0, me)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lock.Acquire(ctx, nil, dir, time.Hour, me); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAcquireAfterStop(t *testing.T) {
	dir := t.TempDir()
	f := &durable.FS{Hook: func(durable.Call) error { return durable.ErrStopped }}
	_ = f.Mkdir(filepath.Join(dir, "x"))
	if _, err := lock.Acquire(context.Background(), f, dir, 0, me); !errors.Is(err,
		durable.ErrStopped) {
		t.Error(err)
	}
	if got, err := os.ReadDir(dir); err != nil || len(got) != 0 {
		t.Errorf("left %v, %v", got, err)
	}
}

func TestD13OwnerIsAHint(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "{", `{"pid":"x"}`, strings.Repeat("x", 5000)} {
		if err := os.WriteFile(filepath.Join(dir, "lock.owner"), []byte(content),
			0o600); err != nil {
			t.Fatal(err)
		}
		if got := lock.ReadOwner(dir); got != (lock.Owner{}) {
			t.Errorf("%.20q: %v", content, got)
		}
	}
	if s := (lock.Owner{Command: "a\x1b[2Jb"}).String(); strings.Contains(s, "\x1b") {
		t.Errorf("%q", s)
	}
}

// What is not known of an owner is not told.
func TestOwnerString(t *testing.T) {
	for _, c := range []struct {
		owner lock.Owner
		want  string
	}{
		{lock.Owner{}, "an unknown process"},
		{me, "ctx append (process 42 on box since 2026-11-21T00:00:00Z)"},
		{lock.Owner{PID: 7, Command: "ctx push", Store: "5a6f"},
			"ctx push (process 7 of store 5a6f)"},
		{lock.Owner{PID: 7, Command: "ctx push"}, "ctx push (process 7)"},
	} {
		if got := c.owner.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A counter in a file, read and written under the lock, counts every holder once.
func TestOneAtATime(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "count")
	const workers, rounds = 8, 10
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for range rounds {
				held, err := lock.Acquire(context.Background(), nil, dir, time.Minute, me)
				if err != nil {
					t.Error(err)
					return
				}
				b, _ := os.ReadFile(path)
				n, _ := strconv.Atoi(string(b))
				_ = os.WriteFile(path, []byte(strconv.Itoa(n+1)), 0o600)
				_ = held.Release()
			}
		})
	}
	wg.Wait()
	if b, _ := os.ReadFile(path); string(b) != strconv.Itoa(workers*rounds) {
		t.Errorf("counted %s", b)
	}
}

// The lock of a process that is killed is free.
func TestKilledHolder(t *testing.T) {
	const env = "LOCK_TEST_HOLD"
	if dir := os.Getenv(env); dir != "" {
		held, err := lock.Acquire(context.Background(), nil, dir, 0, me)
		if err != nil {
			os.Exit(1)
		}
		fmt.Println("held")
		// Which does not end: waiting for nothing at all would be a deadlock, and the end of the
		// process
		_, _ = io.Copy(io.Discard, os.Stdin)
		runtime.KeepAlive(held)
		os.Exit(1)
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Skip("the test binary has no path: ", err)
	}
	child := exec.Command(exe, "-test.run=^TestKilledHolder$")
	child.Env = append(os.Environ(), env+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	_, busy := lock.Acquire(context.Background(), nil, dir, 0, me)
	_ = child.Process.Kill()
	_ = child.Wait()
	if line != "held\n" || busy == nil {
		t.Fatalf("child said %q, second holder: %v", line, busy)
	}
	held, err := lock.Acquire(context.Background(), nil, dir, time.Minute, me)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Release(); err != nil {
		t.Error(err)
	}
}

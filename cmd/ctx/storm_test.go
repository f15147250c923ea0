package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// testBinary returns the path of a ctx that is this test binary: TestMain looks at the name it is
// run by.
func testBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "ctx")
	if err := os.Symlink(self, name); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	return name
}

// Sixteen processes append 14 messages each to one session, or a hundred if CTX_FAULTS is all, a
// process a message, while another compacts and one reads. Every message is there, once, in one
// line of history.
func TestSixteenWriters(t *testing.T) {
	writers, each := 16, 14
	if os.Getenv("CTX_FAULTS") == "all" {
		each = 100
	}
	if testing.Short() {
		writers, each = 8, 12
	}
	bin, dir := testBinary(t), t.TempDir()
	ctx := func(args ...string) (string, error) {
		c := exec.Command(bin, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "HOME="+dir+"/home", "WORK="+dir, "GORACE=atexit_sleep_ms=0",
			"CTX_LOCK_TIMEOUT=5m")
		var stderr strings.Builder
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("ctx %s: %w: %s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out), nil
	}
	if _, err := ctx("init"); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range each {
				if _, err := ctx("append", "-s", "talk", "--role", "user", "-m",
					fmt.Sprintf("writer %d message %d", w, n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	var others sync.WaitGroup
	for _, args := range [][]string{{"compact", "--all"}, {"log", "-s", "talk", "--json"}} {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := ctx(args...); err != nil &&
					!strings.Contains(err.Error(), "no session") {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	close(done)
	others.Wait()
	if t.Failed() {
		return
	}
	out, err := ctx("log", "-s", "talk", "--json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	next := make([]int, writers)
	for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var e struct {
			Seq  int
			Text string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Seq != i+1 {
			t.Fatalf("line %d has seq %d", i+1, e.Seq)
		}
		var w, n int
		if _, err := fmt.Sscanf(e.Text, "writer %d message %d", &w, &n); err != nil {
			t.Fatal(err)
		}
		if next[w] != n {
			t.Fatalf("writer %d: message %d where %d belongs", w, n, next[w])
		}
		next[w]++
		seen[e.Text]++
	}
	if len(seen) != writers*each {
		t.Fatalf("%d messages, want %d", len(seen), writers*each)
	}
	if out, err := ctx("fsck"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d messages of %d writers, once each, in one line", len(seen), writers)
}

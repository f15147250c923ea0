package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/lock"
)

// pusher is the variable that makes this test a process that pushes to a folder, and kills itself
// before the step of a number.
const pusher = "CTX_TEST_PUSHER"

func TestMain(m *testing.M) {
	step, root, ok := strings.Cut(os.Getenv(pusher), " ")
	if !ok {
		os.Exit(m.Run())
	}
	if err := pushOnce(context.Background(), step, root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pushOnce swaps the head from one to two, with a pack. It prints how many steps that took.
func pushOnce(ctx context.Context, step, root string) error {
	last := 0
	fsys := &durable.FS{Hook: func(c durable.Call) error {
		if last = c.N; strconv.Itoa(c.N) != step {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			return err
		}
		select {} // until the signal arrives
	}}
	d, err := remote.OpenDir(root, fsys, lock.Owner{Command: "a test"})
	if err == nil {
		err = d.PutNew(ctx, "stores/a/pack/2", []byte("pack two"))
	}
	if err == nil {
		err = d.Swap(ctx, "heads/a", []byte("one"), []byte("two"))
	}
	fmt.Print(last)
	return err
}

// A pusher that is killed at any step leaves the old state or the new one, holds up nobody, and
// leaves nothing that others take for a file.
func TestKilledPusher(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	steps := killedAt(t, 0, seen)
	if steps < 6 {
		t.Fatalf("a push takes %d steps", steps)
	}
	for step := 1; step <= steps; step++ {
		killedAt(t, step, seen)
	}
	if seen["one"] == 0 || seen["two"] < 2 {
		t.Errorf("the pushers left %v: some were to come before the new head, some after", seen)
	}
}

// killedAt runs a pusher in a folder of its own, which is killed at a step, and checks what it
// left. It returns how many steps the pusher took, if it was not killed.
func killedAt(t *testing.T, step int, seen map[string]int) (steps int) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "shared")
	if err := open(t, root).Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", pusher, step, root))
	out, err := c.Output()
	if (err == nil) != (step == 0) {
		t.Fatalf("killed at step %d: the pusher ends with error %v", step, err)
	}
	if step == 0 {
		if steps, err = strconv.Atoi(string(out)); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, root)
	head, err := d.Get(t.Context(), "heads/a")
	if err != nil || string(head) != "one" && string(head) != "two" {
		t.Fatalf("killed at step %d: others see the head %q, error %v", step, head, err)
	}
	seen[string(head)]++
	pack, err := d.Get(t.Context(), "stores/a/pack/2")
	if string(head) == "two" && err != nil || err == nil && string(pack) != "pack two" ||
		err != nil && !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("killed at step %d: the head is %q, the pack %q, error %v", step, head, pack, err)
	}
	// The next push does what the killed one did not.
	next := errors.Join(
		d.PutNew(t.Context(), "stores/a/pack/2", []byte("pack two")),
		d.Swap(t.Context(), "heads/a", head, []byte("three")))
	files, err := d.List(t.Context(), "")
	if err != nil || next != nil || len(files) != 2 {
		t.Errorf("killed at step %d: the next push has error %v, and leaves %v, error %v", step,
			next, files, err)
	}
	err = filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasPrefix(e.Name(), ".") ||
			strings.Contains(path, ".unfinished"+string(filepath.Separator)) {
			t.Errorf("killed at step %d: the next push leaves %s", step, path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return steps
}

package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// pusher is the variable that makes this test a process that pushes, and is killed.
const pusher = "CTX_TEST_PUSHER"

func TestMain(m *testing.M) {
	bare, url, ok := strings.Cut(os.Getenv(pusher), "\n")
	if !ok {
		os.Exit(m.Run())
	}
	if err := pushOnce(context.Background(), bare, url); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// pushOnce swaps the head from one to two, with a pack.
func pushOnce(ctx context.Context, bare, url string) error {
	r, err := git.Open(ctx, git.Config{URL: url, Bare: bare, Now: now})
	if err == nil {
		err = r.PutNew(ctx, "stores/a/pack/2", []byte("pack two"))
	}
	if err == nil {
		err = r.Swap(ctx, "heads/a", []byte("one"), []byte("two"))
	}
	if err != nil {
		return err
	}
	return r.Close()
}

// killer stands for git. At its call number KILL_AT it kills the pusher before git runs, or after;
// for the hooks of the remote it notes who pushes.
const killer = `
mkdir "$AT/$(ls "$AT" | wc -l)-$verb"
[ "$verb" = push ] && echo "$PPID $$" >"$PIDS"
[ "$(ls "$AT" | wc -l)" = "$KILL_AT" ] || exec "$GIT" "$@"
[ "$KILL" = before ] || "$GIT" "$@" </dev/stdin
kill -9 "$PPID"
`

// hook is one of the remote's, which kills the pusher and its git.
const hook = `#!/bin/sh
[ "$KILL" = "$(basename "$0")" ] || exit 0
kill -9 $(cat "$PIDS")
exit 1
`

// A pusher that is killed, at any step, leaves the old state or the new one to others, and what it
// leaves of its copy does not keep the next client from going on.
func TestKilledPusher(t *testing.T) {
	t.Parallel()
	at, env := wrapGit(t, killer)
	env["PIDS"] = filepath.Join(t.TempDir(), "pids")
	run := func(step int, how, want string) int {
		t.Helper()
		env["KILL_AT"], env["KILL"] = strconv.Itoa(step), how
		return runPusher(t, at, env, want)
	}
	calls := run(0, "", "two")
	if calls < 4 {
		t.Fatalf("a push took %d runs of git", calls)
	}
	for step := range thirds.Range(t, calls-1) {
		run(step+1, "before", "one")
	}
	// A kill after one run is a kill before the next. The last run is the push.
	run(calls, "before", "one")
	run(calls, "after", "two")
	run(0, "pre-receive", "one")
	run(0, "post-receive", "two")
}

// runPusher runs a pusher in a remote of its own, which the environment kills, and checks what it
// left. It returns how often it ran git.
func runPusher(t *testing.T, at string, env map[string]string, want string) int {
	t.Helper()
	which := fmt.Sprintf("killed %s run %s", env["KILL"], env["KILL_AT"])
	path, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
	for _, name := range []string{"pre-receive", "post-receive"} {
		file := filepath.Join(path, "hooks", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
			os.WriteFile(file, []byte(hook), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		openAt(t, path, bare).Swap(t.Context(), "heads/a", nil, []byte("one")),
		os.RemoveAll(at), os.Mkdir(at, 0o700)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), pusher+"="+bare+"\n"+path)
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); (err != nil) != (env["KILL"] != "") || said.Len() > 0 {
		t.Errorf("%s: the pusher ends with error %v and says %q", which, err, said.String())
	}
	calls, err := os.ReadDir(at)
	if err != nil {
		t.Fatal(err)
	}

	other := open(t, path)
	head, err := other.Get(t.Context(), "heads/a")
	if err != nil || string(head) != want {
		t.Errorf("%s: others see the head %q, want %q; error %v", which, head, want, err)
	}
	_, err = other.Get(t.Context(), "stores/a/pack/2")
	if want == "one" && !errors.Is(err, remote.ErrNotFound) || want == "two" && err != nil {
		t.Errorf("%s: the head is %q, and of its pack others have: %v", which, head, err)
	}
	next := openAt(t, path, bare)
	if got, err := next.Get(t.Context(), "heads/a"); err != nil || string(got) != want {
		t.Errorf("%s: the next client of its copy sees the head %q, want %q; error %v", which,
			got, want, err)
	}
	if err := errors.Join(next.Swap(t.Context(), "heads/a", head, []byte("three")),
		other.Close()); err != nil {
		t.Errorf("%s: the next client of its copy: %v", which, err)
	}
	return len(calls)
}

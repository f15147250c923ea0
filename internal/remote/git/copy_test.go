package git_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// Two processes of one store push at the same time, as hooks of two agents do, from one bare
// repository. Both have made their commits before either pushes, and the second pushes when the
// first has: one wins, the other is told so.
func TestTwoClientsOfOneCopy(t *testing.T) {
	path := repository(t)
	at, env := wrapGit(t, `
if [ "$verb" = push ] && mkdir "$AT/first" 2>/dev/null; then
	read -r _ <"$AT/both"
	"$GIT" "$@"
	code=$?
	echo >"$AT/pushed"
	exit $code
elif [ "$verb" = push ] && mkdir "$AT/second" 2>/dev/null; then
	echo >"$AT/both"
	read -r _ <"$AT/pushed"
fi
exec "$GIT" "$@"
`)
	if out, err := exec.Command("mkfifo", filepath.Join(at, "both"),
		filepath.Join(at, "pushed")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
	bare := filepath.Join(t.TempDir(), "copy.git")
	clients := []remote.Remote{openAt(t, path, bare), openAt(t, path, bare)}
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, r := range clients {
		wg.Go(func() {
			errs[i] = r.PutNew(t.Context(), fmt.Sprintf("stores/1/pack/%d", i),
				fmt.Appendf(nil, "pack %d", i))
			if errs[i] == nil {
				errs[i] = r.Swap(t.Context(), "heads/1", nil, fmt.Appendf(nil, "by %d", i))
			}
		})
	}
	wg.Wait()
	won := 0
	if errs[0] != nil {
		won = 1
	}
	if errs[won] != nil || !errors.Is(errs[1-won], remote.ErrStale) {
		t.Fatalf("got errors %v and %v, want one nil and one ErrStale", errs[0], errs[1])
	}
	r := openAt(t, path, filepath.Join(t.TempDir(), "other.git"))
	for name, want := range map[string]string{
		"heads/1":                            fmt.Sprintf("by %d", won),
		fmt.Sprintf("stores/1/pack/%d", won): fmt.Sprintf("pack %d", won),
	} {
		if got, err := r.Get(t.Context(), name); err != nil || string(got) != want {
			t.Errorf("%s: got %q, want %q, error %v", name, got, want, err)
		}
	}
}

// The copy is derived: whatever a stop has left of it, the next client goes on.
func TestDamagedCopy(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(bare string) error{
		"a locked ref": func(bare string) error { return leave(bare, "refs/ctx/a.lock") },
		"locked refs":  func(bare string) error { return leave(bare, "packed-refs.lock") },
		"torn objects": func(bare string) error { return tear(bare, "objects/??/*") },
		"a torn ref":   func(bare string) error { return tear(bare, "refs/ctx/a") },
		"no HEAD":      func(bare string) error { return os.Remove(filepath.Join(bare, "HEAD")) },
		"half made": func(bare string) error {
			return errors.Join(os.RemoveAll(filepath.Join(bare, "objects/info")),
				leave(bare, "config.lock"))
		},
		"a torn HEAD": func(bare string) error { return tear(bare, "HEAD") },
		"torn settings": func(bare string) error {
			return os.WriteFile(filepath.Join(bare, "config"), []byte("[core"), 0o600)
		},
		"no objects": func(bare string) error {
			return os.RemoveAll(filepath.Join(bare, "objects"))
		},
		"no refs": func(bare string) error {
			return os.RemoveAll(filepath.Join(bare, "refs"))
		},
		"nothing at all": os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := repository(t)
			bare := filepath.Join(t.TempDir(), "copy.git")
			steps := []error{
				openAt(t, path, bare).Swap(t.Context(), "heads/a", nil, []byte("one")),
				openAt(t, path, bare).Swap(t.Context(), "heads/a", []byte("one"), []byte("two")),
				open(t, path).Swap(t.Context(), "heads/a", []byte("two"), []byte("three")),
				damage(bare),
			}
			if err := errors.Join(steps...); err != nil {
				t.Fatal(err)
			}
			got, err := openAt(t, path, bare).Get(t.Context(), "heads/a")
			if err != nil || string(got) != "three" {
				t.Errorf("got %q, error %v", got, err)
			}
			if err := openAt(t, path, bare).Swap(t.Context(), "heads/a", []byte("three"),
				[]byte("four")); err != nil {
				t.Error(err)
			}
		})
	}
}

// leave puts an empty file into a bare repository, where a git that is killed leaves it.
func leave(bare, name string) error {
	return os.WriteFile(filepath.Join(bare, filepath.FromSlash(name)), nil, 0o600)
}

// tear empties files, as a power cut leaves those that were not synced.
func tear(bare, pattern string) error {
	files, err := filepath.Glob(filepath.Join(bare, filepath.FromSlash(pattern)))
	if len(files) == 0 {
		err = errors.Join(err, fmt.Errorf("there is no %s", pattern))
	}
	for _, f := range files {
		err = errors.Join(err, os.Chmod(f, 0o600), os.Truncate(f, 0))
	}
	return err
}

// Another process has made the copy anew between a fetch and a push of this one, which then lacks
// what it stands on, and fetches again.
func TestCopyMadeAnew(t *testing.T) {
	t.Parallel()
	path := repository(t)
	bare := filepath.Join(t.TempDir(), "copy.git")
	r := openAt(t, path, bare)
	if err := open(t, path).Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Get(t.Context(), "heads/a"); err != nil || string(got) != "one" {
		t.Fatalf("got %q, error %v", got, err)
	}
	fresh := filepath.Join(t.TempDir(), "fresh.git")
	if err := errors.Join(openAt(t, path, fresh).Close(), os.RemoveAll(bare),
		os.Rename(fresh, bare)); err != nil {
		t.Fatal(err)
	}
	if err := r.Swap(t.Context(), "heads/a", []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, path).Get(t.Context(), "heads/a"); err != nil ||
		string(got) != "two" {
		t.Errorf("got %q, error %v", got, err)
	}
}

// A remote that is away costs the copy nothing: it is whole, stays, and is not looked at.
func TestAwayKeepsCopy(t *testing.T) {
	path := repository(t)
	at, env := wrapGit(t, `
[ "$verb" = fsck ] && : >"$AT/fsck"
exec "$GIT" "$@"
`)
	for name, value := range env {
		t.Setenv(name, value)
	}
	bare := filepath.Join(t.TempDir(), "copy.git")
	if err := openAt(t, path, bare).Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	before, err := filepath.Glob(filepath.Join(bare, "objects", "??", "*"))
	if err != nil || len(before) == 0 {
		t.Fatalf("the copy has no objects, error %v", err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, path, bare).Get(t.Context(), "heads/a"); err == nil {
		t.Error("a remote that is away answers")
	}
	if _, err := os.Stat(filepath.Join(at, "fsck")); err == nil {
		t.Error("the copy was looked at")
	}
	after, err := filepath.Glob(filepath.Join(bare, "objects", "??", "*"))
	if err != nil || !slices.Equal(before, after) {
		t.Errorf("the copy had %d objects and has %d, error %v", len(before), len(after), err)
	}
}

// The ssh that a user has set for git is the one that reaches the remote.
func TestSSHOfUser(t *testing.T) {
	repository(t) // or skip
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: a shell script stands for ssh")
	}
	dir := t.TempDir()
	ssh, settings := filepath.Join(dir, "ssh"), filepath.Join(dir, "gitconfig")
	if err := errors.Join(
		os.WriteFile(ssh, []byte("#!/bin/sh\necho called >\"$0.called\"\nexit 1\n"), 0o700),
		os.WriteFile(settings, []byte("[core]\n\tsshCommand = '"+ssh+"'\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", settings)
	for _, name := range []string{"GIT_SSH", "GIT_SSH_COMMAND"} {
		t.Setenv(name, "") // which restores it after the test
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, "ssh://localhost/x.git").Get(t.Context(), "heads/a"); err == nil {
		t.Error("a host that refuses answers")
	}
	if _, err := os.Stat(ssh + ".called"); err != nil {
		t.Error("the ssh of the user's settings was not called")
	}
}

// A store that comes from elsewhere may bring a copy whose settings name a program. Git does not
// run it: the copy is made anew.
func TestCopyFromElsewhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the program is a line for a shell")
	}
	t.Parallel()
	repository(t) // skips where there is no git
	bare, ran := filepath.Join(t.TempDir(), "copy.git"), filepath.Join(t.TempDir(), "ran")
	for _, args := range [][]string{{"init", "--quiet", "--bare", bare},
		{"-C", bare, "config", "core.sshCommand", "touch '" + ran + "'; false"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	r := openAt(t, "ssh://host.invalid/memory.git", bare)
	if _, err := r.List(t.Context(), ""); err == nil {
		t.Error("a host that is none has answered")
	}
	if _, err := os.Stat(ran); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program of the copy ran: %v", err)
	}
}

// A forget removes the copy, as all of the cache, and another process may make it anew. A push that
// has begun asks to look again.
func TestCopyGoesDuringPush(t *testing.T) {
	for name, c := range map[string]struct {
		times, then string
	}{
		"gone":       {"1", ""},
		"gone twice": {"1 2", ""},
		"anew":       {"1", `"$GIT" init -q --bare "$BARE"`},
		"anew twice": {"1 2", `"$GIT" init -q --bare "$BARE"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, env := wrapGit(t, `
for n in `+c.times+`; do
	if [ "$verb" = push ] && mkdir "$AT/gone$n" 2>/dev/null; then
		rm -rf "$BARE"/*; `+c.then+`
		break
	fi
done
exec "$GIT" "$@"
`)
			path, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
			env["BARE"] = bare
			for name, value := range env {
				t.Setenv(name, value)
			}
			r := openAt(t, path, bare)
			for range strings.Fields(c.times) {
				err := r.Swap(t.Context(), "heads/a", nil, []byte("one"))
				if !errors.Is(err, remote.ErrStale) {
					t.Errorf("a push whose copy has gone: %v", err)
				}
			}
			if err := r.Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A forget removes the copy just after a fetch, and another process makes it anew: an empty one,
// which does not say what the remote has.
func TestCopyGoesDuringFetch(t *testing.T) {
	_, env := wrapGit(t, `
if [ "$verb" = fetch ] && [ -n "$BARE" ] && mkdir "$AT/gone" 2>/dev/null; then
	"$GIT" "$@"
	rm -rf "$BARE"/*
	"$GIT" init -q --bare "$BARE"
	exit
fi
exec "$GIT" "$@"
`)
	path, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
	if err := open(t, path).Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	env["BARE"] = bare
	for name, value := range env {
		t.Setenv(name, value)
	}
	r := openAt(t, path, bare)
	if got, err := r.Get(t.Context(), "heads/a"); err != nil || string(got) != "one" {
		t.Errorf("got %q, error %v", got, err)
	}
}

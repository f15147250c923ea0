package git_test

import (
	"bytes"
	"errors"
	"net"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

func now() time.Time { return time.Date(2026, 11, 21, 0, 42, 9, 0, time.UTC) }

// repository makes a bare repository, or skips where there is no git.
func repository(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	path := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare",
		path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func open(t testing.TB, url string) *git.Remote {
	t.Helper()
	r, err := git.Open(t.Context(),
		git.Config{URL: url, Bare: filepath.Join(t.TempDir(), "copy.git"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestConformance(t *testing.T) {
	t.Parallel()
	inThird(t, 0)
	path := repository(t)
	remotetest.Check(t, func(t *testing.T) remote.Remote { return open(t, path) })
}

func TestConformanceByURL(t *testing.T) {
	t.Parallel()
	inThird(t, 0)
	path := repository(t)
	remotetest.Check(t,
		func(t *testing.T) remote.Remote { return open(t, "file://"+filepath.ToSlash(path)) })
}

// Over git's own protocol, by a daemon on a port of this machine.
func TestConformanceByDaemon(t *testing.T) {
	t.Parallel()
	inThird(t, 1)
	path := repository(t)
	// The program itself: git would start it as a child, which outlives a kill.
	daemon := program(t, "git-daemon")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(daemon, "--listen=127.0.0.1", "--port="+strconv.Itoa(port),
		"--base-path="+filepath.Dir(path),
		"--export-all", "--enable=receive-pack", "--reuseaddr")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		if err := c.Process.Kill(); err == nil && <-ended == nil {
			t.Error("the daemon has ended by itself")
		}
	})
	address := "127.0.0.1:" + strconv.Itoa(port)
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			break
		}
		select {
		case err := <-ended:
			ended <- err
			t.Skipf("SKIPPED: git daemon does not start: %v", err)
		default:
		}
	}
	remotetest.Check(t,
		func(t *testing.T) remote.Remote { return open(t, "git://"+address+"/remote.git") })
}

// Over HTTP, as hosts serve it.
func TestConformanceByHTTP(t *testing.T) {
	t.Parallel()
	inThird(t, 2)
	path := repository(t)
	backend := program(t, "git-http-backend")
	if out, err := exec.Command("git", "-C", path, "config", "http.receivepack",
		"true").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	server := httptest.NewServer(&cgi.Handler{Path: backend, Root: "/", Env: []string{
		"GIT_PROJECT_ROOT=" + filepath.Dir(path), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=somebody",
	}})
	t.Cleanup(server.Close)
	remotetest.Check(t,
		func(t *testing.T) remote.Remote { return open(t, server.URL+"/remote.git") })
}

// program returns the path of one of git's own programs, or skips.
func program(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath(filepath.Join(strings.TrimSpace(string(out)), name))
	if err != nil {
		t.Skipf("SKIPPED: there is no %s", name)
	}
	return path
}

// inThird skips a way to reach a repository that is not in the third that runs.
func inThird(t *testing.T, third int) {
	t.Helper()
	if !thirds.Mine(t, third) {
		t.Skip("in another third: CTX_THIRDS=all")
	}
}

// What is deleted is in no commit of the repository any more.
func TestDeleteLeavesNoWay(t *testing.T) {
	t.Parallel()
	path := repository(t)
	r := open(t, path)
	steps := []error{
		r.PutNew(t.Context(), "stores/a/pack/1", []byte("the words")),
		r.Swap(t.Context(), "heads/a", nil, []byte("one")),
		r.PutNew(t.Context(), "stores/a/pack/2", []byte("what stays")),
		r.Swap(t.Context(), "heads/a", []byte("one"), []byte("two")),
		r.Delete(t.Context(), []string{"stores/a/pack/1"}),
	}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"reflog", "expire", "--expire=now", "--all"},
		{"gc", "--quiet", "--prune=now"}} {
		if out, err := exec.Command("git",
			append([]string{"-C", path}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	out, err := exec.Command("git", "-C", path, "cat-file", "--batch-all-objects",
		"--batch").Output()
	if err != nil || bytes.Contains(out, []byte("the words")) ||
		!bytes.Contains(out, []byte("what stays")) {
		t.Errorf("the repository has %q, error %v", out, err)
	}
}

// A pusher that was stopped with its commit made and not pushed loses nothing, and harms nobody.
func TestStoppedPusher(t *testing.T) {
	t.Parallel()
	path := repository(t)
	bare := filepath.Join(t.TempDir(), "copy.git")
	begin := func(url string) *git.Remote {
		r, err := git.Open(t.Context(), git.Config{URL: url, Bare: bare, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := begin(path)
	if err := r.Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	// The place goes away between the commit and the push.
	gone := path + ".gone"
	hook := filepath.Join(path, "hooks", "pre-receive")
	if err := errors.Join(os.MkdirAll(filepath.Dir(hook), 0o700),
		os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := r.Swap(t.Context(), "heads/a", []byte("one"), []byte("two")); err == nil {
		t.Fatal("a push that the host refuses succeeds")
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, gone); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(path).Get(t.Context(), "heads/a"); err == nil ||
		errors.Is(err, remote.ErrNotFound) {
		t.Errorf("a remote that is away: error %v", err)
	}
	if err := os.Rename(gone, path); err != nil {
		t.Fatal(err)
	}
	for _, reader := range []*git.Remote{open(t, path), begin(path)} {
		if got, err := reader.Get(t.Context(), "heads/a"); err != nil ||
			string(got) != "one" {
			t.Errorf("got %q, error %v", got, err)
		}
	}
	if err := begin(path).Swap(t.Context(), "heads/a", []byte("one"), []byte("three")); err != nil {
		t.Error(err)
	}
}

// A URL is a place, and neither a flag nor a program; what git says of one has no password.
func TestURLs(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"--upload-pack=touch x", "ext::sh -c true", "a\nb"} {
		if _, err := git.Open(t.Context(),
			git.Config{URL: bad, Bare: filepath.Join(t.TempDir(), "x.git"), Now: now}); err == nil {
			t.Errorf("takes %q", bad)
		}
	}
	repository(t) // or skip
	_, err := open(t, "http://somebody:hunter2@127.0.0.1:1/x.git").Get(t.Context(),
		"heads/a")
	if err == nil || strings.Contains(err.Error(), "hunter2") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v", err)
	}
}

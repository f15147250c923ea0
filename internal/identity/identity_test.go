package identity

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"git@github.com:a/b.git":               "github.com/a/b",
		"https://github.com/a/b":               "github.com/a/b",
		"https://user:word@GitHub.com/a/b.git": "github.com/a/b",
		"ssh://git@github.com:22/a/b.git/":     "github.com/a/b",
		"host.example:a/b":                     "host.example/a/b",
		"/srv/git/b.git":                       "",
		"../b":                                 "",
		`C:\work\b`:                            "",
		"file:///srv/b":                        "",
		"https://github.com/":                  "",
		"":                                     "",
	} {
		if got := Address(remote); got != want {
			t.Errorf("%q: %q, not %q", remote, got, want)
		}
	}
}

func TestRemotes(t *testing.T) {
	config :=
		"[core]\n\turl = https://x.example/no\n[remote \"origin\"]\n\tURL = " +
			"git@h.example:b.git\n\tfetch = +refs\n[branch \"m\"]\n\turl = z.example:y\n[remote " +
			"\"a\"]\nurl=\"https://a.example/b\"\n"
	if got := Remotes([]byte(config)); !slices.Equal(got, []string{"a.example/b", "h.example/b"}) {
		t.Error(got)
	}
}

func FuzzRemotes(f *testing.F) {
	f.Add("[remote \"o\"]\nurl = git@h.example:b.git")
	f.Add("[remote \"o\"]\nurl = https://u:p@h.example:1/b")
	f.Fuzz(func(t *testing.T, config string) {
		for _, a := range Remotes([]byte(config)) {
			if a == "" || !strings.Contains(a, "/") || strings.HasSuffix(a, "/") {
				t.Fatalf("%q", a)
			}
		}
	})
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git",
		append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.com", "-c",
			"commit.gpgsign=false"}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// A clone, a work tree and a moved checkout are the same project; a fork with another remote, what
// began as a copy of it, and another repository are not.
func TestSame(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	top := t.TempDir()
	dir := func(name string) string { return filepath.Join(top, name) }
	for _, name := range []string{"one", "other"} {
		if err := os.Mkdir(dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		git(t, dir(name), "init", "-q")
		git(t, dir(name), "commit", "-q", "--allow-empty", "-m", name)
	}
	git(t, top, "clone", "-q", "one", "clone")
	git(t, dir("one"), "worktree", "add", "-q", dir("tree"))
	git(t, top, "clone", "-q", "one", "fork")
	git(t, dir("fork"), "remote", "set-url", "origin", "https://h.example/fork.git")
	git(t, top, "clone", "-q", "one", "template")
	git(t, dir("template"), "remote", "remove", "origin")
	git(t, top, "clone", "-q", "file://"+filepath.ToSlash(dir("one"))+"/.git", "file")
	git(t, top, "clone", "-q", "one", "remote")
	git(t, dir("remote"), "remote", "set-url", "origin", "https://h.example/one.git")
	git(t, top, "clone", "-q", "other", "renamed")
	git(t, dir("renamed"), "remote", "set-url", "origin", "git@h.example:one")
	if err := os.Mkdir(filepath.Join(dir("clone"), "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	of := func(name string) *Checkout {
		t.Helper()
		c, ok := Of(dir(name))
		if !ok {
			t.Fatalf("%s is no checkout", name)
		}
		return &c
	}
	for _, c := range []struct{ a, b, want string }{
		{"one", "one", "the same repository"},
		{"one", "tree", "the same repository"},
		{"one", "clone", "a clone of the same repository"},
		{"clone", "one", "a clone of the same repository"},
		{"one", "clone/sub", "a clone of the same repository"},
		{"clone", "file", "a clone of the same repository"},
		{"one", "fork", ""},
		{"one", "template", ""},
		{"remote", "fork", ""},
		{"remote", "renamed", "the same remote"},
		{"one", "other", ""},
	} {
		if got := same(of(c.a), of(c.b)); got != c.want {
			t.Errorf("%s and %s: %q, not %q", c.a, c.b, got, c.want)
		}
	}
	if c, ok := Of(dir("nowhere")); ok && strings.HasPrefix(c.Dir, top) {
		t.Errorf("nowhere is in %s", c.Dir)
	}
}

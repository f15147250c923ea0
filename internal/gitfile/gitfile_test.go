package gitfile

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// repository is a work tree of git.
type repository struct {
	*testing.T
	dir string
	at  time.Time
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	r := &repository{t, t.TempDir(), time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)}
	r.git("init", "-q")
	return r
}

func (r *repository) git(args ...string) {
	r.Helper()
	cmd := exec.Command("git",
		append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
	r.at = r.at.Add(time.Hour)
	when := r.at.Format(time.RFC3339)
	cmd.Dir, cmd.Env = r.dir,
		append(os.Environ(), "GIT_COMMITTER_DATE="+when, "GIT_AUTHOR_DATE="+when, "HOME="+r.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (r *repository) write(name, text string) {
	r.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

func (r *repository) read(name string) *File {
	r.Helper()
	f, err := Read(context.Background(), r.dir, name)
	if err != nil {
		r.Fatal(err)
	}
	return f
}

func names(f *File) (list []string) {
	for _, n := range f.Names {
		list = append(list, n.Path)
	}
	return list
}

func TestRead(t *testing.T) {
	r := newRepository(t)
	if f := r.read("a.txt"); f.Lines != nil || f.Names != nil {
		t.Errorf("without a commit: %+v", f)
	}
	long := strings.Repeat("a line that stays as it is\n", 10)
	r.write("a.txt", long+"first\n")
	r.git("add", ".")
	r.git("commit", "-qm", "one: with a colon")
	r.write("a.txt", long+"second\n")
	r.git("commit", "-qam", "two")
	two := r.at
	r.git("mv", "a.txt", "b c.txt")
	r.git("commit", "-qm", "three")
	three := r.at
	r.write("dir/x", "x\n")
	r.git("mv", "b c.txt", "dir/é.txt")
	if f := r.read("dir/é.txt"); !slices.Equal(names(f), []string{"b c.txt", "a.txt"}) ||
		!f.Names[0].Until.IsZero() || !f.Names[1].Until.Equal(three) {
		t.Errorf("renamed and not committed: %+v", f.Names)
	} else if len(f.Lines) != 11 || f.Lines[10].Text != "second" ||
		!f.Lines[10].Commit.Time.Equal(two) || f.Lines[0].Commit.Summary != "one: with a colon" ||
		f.Lines[0].Commit.Author != "Ann" || f.Lines[0].Commit != f.Lines[1].Commit {
		t.Errorf("lines: %+v", f.Lines)
	}
	r.git("commit", "-qm", "four")
	if f := r.read("dir/é.txt"); !slices.Equal(names(f), []string{"b c.txt", "a.txt"}) ||
		!f.Names[0].Until.Equal(r.at) {
		t.Errorf("renamed twice: %+v", f.Names)
	}
	if f := r.read("nothing"); f.Lines != nil || f.Names != nil {
		t.Errorf("a file that git does not know: %+v", f)
	}
	if _, err := Read(context.Background(), t.TempDir(), "a"); err == nil {
		t.Error("no error outside of a repository")
	}
}

// TestNothingRuns: settings of a repository that name programs run none.
func TestNothingRuns(t *testing.T) {
	r := newRepository(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	r.write("a.txt", "one\n")
	r.write(".gitattributes", "*.txt filter=f diff=d\n")
	r.git("add", ".")
	r.git("commit", "-qm", "one")
	mark := filepath.Join(r.dir, "ran")
	hook := filepath.Join(r.dir, "hook")
	r.write("hook", "#!/bin/sh\ntouch '"+mark+"'\ncat\n")
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "filter.f.clean", "filter.f.smudge",
		"diff.d.textconv", "diff.d.command", "diff.external", "core.pager", "gpg.program"} {
		r.git("config", key, hook)
	}
	r.write("a.txt", "two\n")
	_ = os.Remove(mark)
	if f := r.read("a.txt"); len(f.Lines) != 1 || f.Lines[0].Text != "one" {
		t.Errorf("lines: %+v", f.Lines)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program of the repository ran")
	}
}

// FuzzOutput: no output of git breaks the reading.
func FuzzOutput(f *testing.F) {
	hash := strings.Repeat("0a", 20)
	f.Add(hash + " 1 1 2\nauthor A\ncommitter-time 5\nsummary s\nfilename a\n\tone\n" + hash +
		" 2 2\n\ttwo\n")
	f.Add("\x015\x00\nR100\x00a\x00b\x00\x014\x00\nR090\x00c\x00a\x00")
	f.Fuzz(func(t *testing.T, out string) {
		for _, l := range readBlame(out) {
			if l.Commit == nil || !isHash(l.Commit.ID) {
				t.Errorf("a line of no commit in %q", out)
			}
		}
		for _, n := range renames(out) {
			if n.Path == "" {
				t.Errorf("no name in %q", out)
			}
		}
	})
}

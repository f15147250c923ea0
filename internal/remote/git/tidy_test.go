package git_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
)

// filesAPush is how many files a push of these tests has: with fewer than 100 objects, git stores
// each in a file of its own.
const filesAPush = 80

// growing is a repository that is pushed to again and again, each time as by a new process.
type growing struct {
	*testing.T
	url, bare string
	at        time.Time
	pushes    int
	head      []byte
}

func grow(t *testing.T) *growing {
	p := &growing{T: t, url: repository(t), bare: filepath.Join(t.TempDir(), "copy.git"), at: now()}
	// A file for each push: the repository is not the subject
	configure(t, p.url, "receive.unpackLimit", "1")
	return p
}

func (p *growing) push() {
	p.Helper()
	r, err := git.Open(p.Context(),
		git.Config{URL: p.url, Bare: p.bare, Now: func() time.Time { return p.at }})
	if err != nil {
		p.Fatal(err)
	}
	for i := range filesAPush {
		err = errors.Join(err,
			r.PutNew(p.Context(), nameOf(p.pushes, i),
				fmt.Appendf(nil, "pack %d of %d", i, p.pushes)))
	}
	next := fmt.Appendf(nil, "head %d", p.pushes)
	if err = errors.Join(err, r.Swap(p.Context(), "heads/a", p.head, next), r.Close()); err != nil {
		p.Fatal(err)
	}
	p.head = next
	p.pushes++
}

func nameOf(push, i int) string { return fmt.Sprintf("stores/a/pack/%d-%d", push, i) }

// files returns how many files the objects of the copy are.
func (p *growing) files() (n int) {
	p.Helper()
	err := filepath.WalkDir(
		filepath.Join(p.bare, "objects"), func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				n++
			}
			return err
		})
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// The copy stays a few files, however many pushes there are. What was pushed is there, and so is
// what another process has made and not pushed yet.
func TestCopyIsPacked(t *testing.T) {
	t.Parallel()
	p := grow(t)
	p.push()
	made := exec.Command("git", "-C", p.bare, "hash-object", "-w", "--stdin")
	made.Stdin = strings.NewReader("not pushed yet")
	id, err := made.Output()
	if err != nil {
		t.Fatal(err)
	}
	for before := 0; p.files() >= before; p.push() {
		if before = p.files(); before > 2048 {
			t.Fatalf("after %d pushes the copy has %d files", p.pushes, before)
		}
	}
	if n := p.files(); n > 2*filesAPush {
		t.Errorf("after a packing the copy has %d files", n)
	}
	if out, err := exec.Command("git", "-C", p.bare, "cat-file", "-e",
		strings.TrimSpace(string(id))).CombinedOutput(); err != nil {
		t.Errorf("what is not pushed yet has gone: %v: %s", err, out)
	}
	r := openAt(t, p.url, p.bare)
	for push := range p.pushes {
		b, err := r.Get(t.Context(), nameOf(push, 3))
		if want := fmt.Sprintf("pack 3 of %d", push); err != nil || string(b) != want {
			t.Fatalf("got %q, error %v, want %q", b, err, want)
		}
	}
}

// A copy that cannot be packed holds up no push: the push succeeds, and those of the next day do
// not try again.
func TestPackFails(t *testing.T) {
	at, env := wrapGit(t, `
if [ "$verb" = repack ]; then
	echo tried >>"$AT/tried"
	exit 1
fi
exec "$GIT" "$@"
`)
	for name, value := range env {
		t.Setenv(name, value)
	}
	p := grow(t)
	tried := func() int {
		b, err := os.ReadFile(filepath.Join(at, "tried"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
	for tried() == 0 {
		if p.push(); p.pushes > 60 {
			t.Fatal("nobody has tried to pack the copy")
		}
	}
	p.push()
	if n := tried(); n != 1 {
		t.Errorf("tried %d times within a day", n)
	}
	p.at = p.at.Add(25 * time.Hour)
	p.push()
	if n := tried(); n != 2 {
		t.Errorf("tried %d times, the last a day later", n)
	}
}

// Collect makes one pack of the copy, and removes what the remote has no more once nobody can be
// about to push it.
func TestCollect(t *testing.T) {
	t.Parallel()
	p := grow(t)
	c := git.Config{URL: p.url, Bare: p.bare, Now: now}
	if err := git.Collect(t.Context(), c); err != nil {
		t.Fatalf("without a copy: %v", err)
	}
	p.push()
	p.push()
	r := openAt(t, p.url, p.bare)
	if err := r.Delete(t.Context(), []string{nameOf(0, 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, p.url, p.bare).List(t.Context(), ""); err != nil { // which fetches
		t.Fatal(err)
	}
	blob := exec.Command("git", "-C", p.bare, "hash-object", "--stdin")
	blob.Stdin = strings.NewReader("pack 0 of 0")
	out, err := blob.Output()
	if err != nil {
		t.Fatal(err)
	}
	gone := strings.TrimSpace(string(out))
	for _, c := range []struct {
		age   time.Duration
		there bool
	}{{0, true}, {48 * time.Hour, false}} {
		then := time.Now().Add(-c.age)
		if err := filepath.WalkDir(
			filepath.Join(p.bare, "objects"), func(path string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					err = os.Chtimes(path, then, then)
				}
				return err
			}); err != nil {
			t.Fatal(err)
		}
		if err := git.Collect(t.Context(),
			git.Config{URL: p.url, Bare: p.bare, Now: now}); err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("git", "-C", p.bare, "cat-file", "-e",
			gone).Run(); (err == nil) != c.there {
			t.Errorf("what was deleted %v ago: error %v, want it there: %v", c.age, err, c.there)
		}
	}
	if n := p.files(); n > 10 {
		t.Errorf("%d files are left", n)
	}
	var after remote.Remote = openAt(t, p.url, p.bare)
	if b, err := after.Get(t.Context(), nameOf(1, 1)); err != nil ||
		string(b) != "pack 1 of 1" {
		t.Errorf("got %q, error %v", b, err)
	}
}

// copyLacks fails a test if an object of the copy has the words, or none has one of the others.
func copyLacks(t *testing.T, bare, words string, others ...string) {
	t.Helper()
	out, err := exec.Command("git", "-C", bare, "cat-file", "--batch",
		"--batch-all-objects").Output()
	if err != nil || bytes.Contains(out, []byte(words)) {
		t.Errorf("error %v, the copy has %q:\n%s", err, words, out)
	}
	for _, other := range others {
		if !bytes.Contains(out, []byte(other)) {
			t.Errorf("the copy has no %q:\n%s", other, out)
		}
	}
}

// What a history that was replaced had is gone from the copy with the next fetch: it may be words
// that were forgotten.
func TestReplacedHistoryLeavesTheCopy(t *testing.T) {
	t.Parallel()
	p := grow(t)
	p.push()
	p.push()
	r := openAt(t, p.url, p.bare)
	if err := r.Delete(t.Context(), []string{nameOf(0, 0)}); err != nil {
		t.Fatal(err)
	}
	next := openAt(t, p.url, p.bare)
	_, err := next.List(t.Context(), "")
	if err := errors.Join(err, next.Close()); err != nil {
		t.Fatal(err)
	}
	copyLacks(t, p.bare, "pack 0 of 0", "pack 1 of 1")
}

// A run that fetched a replaced history and was stopped before it pruned leaves it to the next one,
// whose own fetch finds nothing new.
func TestStoppedFetchLeavesItToTheNext(t *testing.T) {
	t.Parallel()
	p := grow(t)
	p.push()
	p.push()
	other := openAt(t, p.url, filepath.Join(t.TempDir(), "copy.git"))
	err := other.Delete(t.Context(), []string{nameOf(0, 0)})
	if err := errors.Join(err, other.Close()); err != nil {
		t.Fatal(err)
	}
	stopped := openAt(t, p.url, p.bare) // it is not closed
	if _, err := stopped.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		next := openAt(t, p.url, p.bare)
		_, err := next.List(t.Context(), "")
		if err := errors.Join(err, next.Close()); err != nil {
			t.Fatal(err)
		}
	}
	copyLacks(t, p.bare, "pack 0 of 0", "pack 1 of 1")
	if _, err := os.Stat(filepath.Join(p.bare, "fetched")); err == nil {
		t.Error("each fetch prunes from now on")
	}
}

// What a Delete takes out of a history is not in the copy either, which has fetched it for the
// commit that takes its place.
func TestDeleteLeavesNothingInCopy(t *testing.T) {
	url, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
	r := openAt(t, url, bare)
	secret := []byte("the key is under the mat")
	err := r.PutNew(t.Context(), "stores/a/pack/1", secret)
	if err == nil {
		err = r.Swap(t.Context(), "heads/a", nil, []byte("one"))
	}
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	r = openAt(t, url, bare)
	if _, err = r.List(t.Context(), ""); err == nil {
		err = r.Delete(t.Context(), []string{"stores/a/pack/1"})
	}
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	copyLacks(t, bare, string(secret), "one")
}

// So it is after a stop between the two steps of that: the refs of the copy name it no more, and it
// is there still.
func TestStoppedDeleteLeavesItToTheNext(t *testing.T) {
	t.Parallel()
	url, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
	r := openAt(t, url, bare)
	secret := []byte("the key is under the mat")
	err := r.PutNew(t.Context(), "stores/a/pack/1", secret)
	if err == nil {
		err = r.Swap(t.Context(), "heads/a", nil, []byte("one"))
	}
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	stopped := openAt(t, url, bare) // it is not closed
	if _, err = stopped.List(t.Context(), ""); err == nil {
		err = stopped.Delete(t.Context(), []string{"stores/a/pack/1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	stopped.Leave()
	next := openAt(t, url, bare)
	_, err = next.List(t.Context(), "")
	if err := errors.Join(err, next.Close()); err != nil {
		t.Fatal(err)
	}
	copyLacks(t, bare, string(secret), "one")
}

// A commit that the remote refuses, because another push was faster, does not stay in the copy:
// what is in it may have been forgotten meanwhile.
func TestRefusedPushLeavesNothingInCopy(t *testing.T) {
	t.Parallel()
	path, bare := repository(t), filepath.Join(t.TempDir(), "copy.git")
	slow, fast := openAt(t, path, bare), openAt(t, path, filepath.Join(t.TempDir(), "copy.git"))
	if _, err := slow.List(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if err := fast.Swap(t.Context(), "heads/a", nil, []byte("one")); err != nil {
		t.Fatal(err)
	}
	const words = "under the mat"
	if err := slow.PutNew(t.Context(), "stores/a/pack/1", []byte(words)); err != nil {
		t.Fatal(err)
	}
	if err := slow.Swap(t.Context(), "heads/a", nil, []byte("two")); !errors.Is(err,
		remote.ErrStale) {
		t.Fatalf("a push that was overtaken: %v", err)
	}
	if err := slow.Close(); err != nil {
		t.Fatal(err)
	}
	copyLacks(t, bare, words)
}

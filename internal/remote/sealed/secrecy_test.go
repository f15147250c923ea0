package sealed_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/eval/corpus"
	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/git"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
	"github.com/gemini-ctx/ctx/internal/remote/sealed"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/sharing"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/lock"
)

// place is where an encrypted remote is, and how the host's owner sees it.
type place struct {
	root  string
	inner func(t *testing.T) remote.Remote
	blank []byte // what was there before there was a remote
}

func folder(t *testing.T) place {
	root := filepath.Join(t.TempDir(), "shared")
	return place{root: root, inner: func(t *testing.T) remote.Remote {
		r, err := remote.OpenDir(root, nil, lock.Owner{Command: "a test"})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}}
}

func repository(t *testing.T) place {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	root := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--template=",
		root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return place{root: root, blank: everything(t, root), inner: func(t *testing.T) remote.Remote {
		now := func() time.Time { return time.Date(2026, 11, 21, 0, 42, 9, 0, time.UTC) }
		r, err := git.Open(t.Context(),
			git.Config{URL: root, Bare: filepath.Join(t.TempDir(), "copy.git"), Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}}
}

// open returns a client of a person, whose keys are in a keyring.
func (p place) open(t *testing.T, k sealed.Keyring) *sealed.Remote {
	t.Helper()
	ids, err := k.Identities()
	if err != nil {
		t.Fatal(err)
	}
	return sealed.Open(sealed.Config{Inner: p.inner(t), Identities: ids, Pin: k.Pin(p.root)})
}

// begin encrypts the place for a new person.
func (p place) begin(t *testing.T) sealed.Keyring {
	t.Helper()
	k := sealed.Keyring{Dir: filepath.Join(t.TempDir(), "age")}
	if _, err := p.open(t, k).Members(t.Context(),
		remote.MemberChange{Do: remote.BeginGroup, Self: "ann"}); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestConformanceOverDir(t *testing.T) {
	t.Parallel()
	p := folder(t)
	k := p.begin(t)
	remotetest.Check(t, func(t *testing.T) remote.Remote { return p.open(t, k) })
}

func TestConformanceOverGit(t *testing.T) {
	t.Parallel()
	if !thirds.Mine(t, 0) {
		t.Skip()
	}
	p := repository(t)
	k := p.begin(t)
	remotetest.Check(t, func(t *testing.T) remote.Remote { return p.open(t, k) })
}

const (
	label       = "my-secret-laptop"
	sessionName = "acquisition-of-example"
)

// party makes a store with a conversation in it.
func party(t *testing.T, seed byte) *session.Store {
	e := storetest.Env(durabletest.TempDir(t), nil)
	e.Random = rand.NewChaCha8([32]byte{seed})
	return storetest.Init(t, e)
}

func sharer(t *testing.T, s *session.Store, r remote.Remote) *sharing.Sharer {
	t.Helper()
	rule, err := sharing.ParseRule("all")
	if err != nil {
		t.Fatal(err)
	}
	x, err := sharing.Open(t.Context(), s.Opened, r,
		sharing.Options{Name: "origin", Label: label, Rule: rule})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func push(t *testing.T, s *session.Store, r remote.Remote) {
	t.Helper()
	if _, err := sharer(t, s, r).Push(t.Context(), sharing.PushOptions{}); err != nil {
		t.Fatal(err)
	}
}

// In all bytes of a host after some pushes, with the objects of git unpacked, is no word of what
// was said, no name, no label, no id and no digest.
func TestHostLearnsNoWord(t *testing.T) {
	for name, make := range map[string]func(*testing.T) place{"dir": folder, "git": repository} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := make(t)
			k := p.begin(t)
			s := party(t, 1)
			known := secrets(t, p, k, s)
			host := everything(t, p.root)
			t.Logf("%d bytes on the host, searched for %d words, names, ids and digests",
				len(host), len(known))
			if len(known) < 200 || len(host) < 20_000 {
				t.Error("that is too little to show anything")
			}
			for word := range known {
				if at := bytes.Index(host, []byte(word)); at >= 0 {
					t.Errorf("the host has %q: %q", word, host[max(0, at-30):min(len(host), at+30)])
				}
			}
			// The search would find what is there.
			if !bytes.Contains(host, []byte("remote 1\nfeature age\n")) ||
				!bytes.Contains(host, []byte("age-encryption.org/v1")) {
				t.Error("the search does not see what the host has")
			}
		})
	}
}

// secrets says a conversation in a store and pushes it in steps. It returns what no host may have.
func secrets(t *testing.T, p place, k sealed.Keyring, s *session.Store) map[string]bool {
	t.Helper()
	known := map[string]bool{label: true, sessionName: true, s.ID: true}
	messages, _ := corpus.Planted()
	words := regexp.MustCompile(`[\pL0-9_]{6,}`)
	for i, m := range messages[:min(len(messages), 150)] {
		id := storetest.Say(t, s, sessionName, "user", m.Text)
		known[id.String()] = true
		for _, word := range words.FindAllString(m.Text, -1) {
			// A digest on the host has six digits of a number by chance.
			isNumber := len(word) < 12 && strings.Trim(word, "0123456789abcdef") == ""
			known[word] = !isNumber
		}
		if i%50 == 49 {
			push(t, s, p.open(t, k))
		}
	}
	push(t, s, p.open(t, k))
	files, err := p.open(t, k).List(t.Context(), "")
	if err != nil || len(files) < 6 {
		t.Fatalf("the remote has %v, error %v", files, err)
	}
	for _, f := range files {
		for part := range strings.FieldsFuncSeq(f.Name,
			func(r rune) bool { return r == '/' || r == '-' }) {
			if len(part) >= 16 {
				known[part] = true
			}
		}
	}
	for text := range known { // ids and digests as bytes, too
		if b, err := hex.DecodeString(text); err == nil && len(b) >= 16 {
			known[string(b)] = true
			known[strings.ToUpper(text)] = true
		}
	}
	// What is no secret stands in the open: the words of git, of the formats of age and of ctx, and
	// of the lock of a folder.
	const public = "format feature stores remote remote committer encryption refs/ctx/shared lock.owner command objects"
	for word, secret := range known {
		if !secret || strings.Contains(public, word) || bytes.Contains(p.blank, []byte(word)) {
			delete(known, word)
		}
	}
	return known
}

// everything returns all names and bytes under a folder, with each object of git unpacked.
func everything(t *testing.T, root string) []byte {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		all.WriteString(rel)
		all.WriteByte('\n')
		all.Write(b)
		if z, bad := zlib.NewReader(bytes.NewReader(b)); bad == nil {
			_, bad = io.Copy(&all, z)
			err = errors.Join(err, bad)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "HEAD")); err == nil {
		for _, args := range [][]string{{"cat-file", "--batch-all-objects", "--batch"},
			{"for-each-ref"}} {
			out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			all.Write(out)
		}
	}
	return all.Bytes()
}

// What a host does to the files of a store is noticed through all layers: a head that goes back,
// and two files that are swapped.
func TestHostThroughSharing(t *testing.T) {
	p := folder(t)
	k := p.begin(t)
	ann, bob := party(t, 1), party(t, 2)
	say := func(text string) {
		storetest.Say(t, ann, "work", "user", text)
		push(t, ann, p.open(t, k))
	}
	say("one")
	heads, err := filepath.Glob(filepath.Join(p.root, "heads", "*"))
	if err != nil || len(heads) != 1 {
		t.Fatalf("%v, error %v", heads, err)
	}
	first := read(t, heads[0])
	say("two")
	second := read(t, heads[0])
	pull := func() error {
		_, err := sharer(t, bob, p.open(t, k)).Pull(t.Context())
		return err
	}
	if err := pull(); err != nil {
		t.Fatal(err)
	}
	write(t, heads[0], first)
	if err := pull(); !errors.Is(err, remote.ErrTampered) ||
		!strings.Contains(err.Error(), "rolled back from push 2 to 1") {
		t.Errorf("a head that went back: error %v", err)
	}
	if _, err := sharer(t, ann, p.open(t, k)).Push(t.Context(),
		sharing.PushOptions{}); !errors.Is(err, remote.ErrTampered) {
		t.Errorf("a head that went back, for its own store: error %v", err)
	}
	write(t, heads[0], second)
	before := storetest.Texts(t, bob)
	say("three")
	files, err := filepath.Glob(filepath.Join(p.root, "stores", "*", "*"))
	if err != nil || len(files) != 6 {
		t.Fatalf("%v, error %v", files, err)
	}
	for i := range files {
		from, to := files[i], files[(i+1)%len(files)]
		a, b := read(t, from), read(t, to)
		write(t, from, b)
		write(t, to, a)
		fresh := party(t, 3)
		_, err := sharer(t, fresh, p.open(t, k)).Pull(t.Context())
		if !errors.Is(err, remote.ErrTampered) ||
			!strings.Contains(err.Error(), "is not what a member put there under this name") {
			t.Errorf("two files swapped: error %v", err)
		}
		if got := storetest.Texts(t, fresh); len(got) != 0 {
			t.Errorf("two files swapped: %v was taken in", got)
		}
		write(t, from, a)
		write(t, to, b)
	}
	if got := storetest.Texts(t, bob); len(got) != len(before) {
		t.Errorf("%v was taken in", got)
	}
	if err := pull(); err != nil {
		t.Errorf("after all is as it was: error %v", err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

package sealed

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
	"github.com/gemini-ctx/ctx/lock"
)

func newKeyring(t *testing.T) Keyring {
	return Keyring{Dir: filepath.Join(t.TempDir(), "age"), Owner: lock.Owner{Command: "a test"}}
}

// sshKey returns a private key of SSH in a file, and the line of its public one.
func sshKey(t *testing.T, key any, phrase string) (path, public string) {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if phrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(phrase))
	}
	must(t, err)
	path = filepath.Join(t.TempDir(), "id")
	must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	signer, err := ssh.NewSignerFromKey(key)
	must(t, err)
	return path, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

// Members with keys of every kind read one remote.
func TestKinds(t *testing.T) {
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	x, err := age.GenerateX25519Identity()
	must(t, err)
	plain := filepath.Join(t.TempDir(), "key.txt")
	must(t, os.WriteFile(plain, []byte("# created\n"+x.String()+"\n"), 0o600))
	edPath, edPublic := sshKey(t, ed, "")
	rsaPath, rsaPublic := sshKey(t, rs, "")

	host, own := &remotetest.Memory{}, newKeyring(t)
	change := remote.MemberChange{Do: remote.BeginGroup, Self: "own", Members: []remote.Member{
		{Name: "ed", Recipient: edPublic + " ed@desk"}, {Name: "rsa", Recipient: rsaPublic},
		{Recipient: x.Recipient().String()},
	}}
	client := func(k Keyring) *Remote {
		ids, err := k.Identities()
		must(t, err)
		return Open(Config{Inner: host, Identities: ids, Pin: k.Pin("place")})
	}
	of, err := client(own).Members(t.Context(), change)
	if err != nil || len(of.Members) != 4 || !of.Classic || of.Self != "own" {
		t.Fatalf("%+v, error %v", of, err)
	}
	must(t, client(own).Swap(t.Context(), head, nil, []byte("one")))
	for path, want := range map[string]string{edPath: edPublic, rsaPath: rsaPublic,
		plain: x.Recipient().String()} {
		k := newKeyring(t)
		must(t, k.Use(path))
		must(t, k.Use(path))
		if got, err := k.Recipient(); err != nil || got != want {
			t.Errorf("%s: recipient %s, want %s, error %v", path, got, want, err)
		}
		if got := get(t, client(k), head); string(got) != "one" {
			t.Errorf("%s reads %q", path, got)
		}
	}
	locked, _ := sshKey(t, ed, "secret")
	if err := newKeyring(t).Use(locked); err == nil ||
		!strings.Contains(err.Error(), "has a passphrase") {
		t.Errorf("a key with a passphrase: error %v", err)
	}
	if err := newKeyring(t).Use("relative"); err == nil {
		t.Error("takes a relative path")
	}
}

// The key that is made is a post-quantum one, once, whoever asks at the same time; nobody else
// reads it.
func TestOwnKey(t *testing.T) {
	k := newKeyring(t)
	var wg sync.WaitGroup
	got := make([]string, 4)
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = k.Recipient(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range got {
		if r != got[0] || !isPostQuantum(r) {
			t.Errorf("got %.20s and %.20s", r, got[0])
		}
	}
	for path, want := range map[string]os.FileMode{k.Dir: 0o700,
		filepath.Join(k.Dir, "identities"): 0o600} {
		info, err := os.Stat(path)
		must(t, err)
		if info.Mode().Perm() != want && runtime.GOOS != "windows" {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	// With another key in front of it, it still opens what was encrypted to it.
	x, err := age.GenerateX25519Identity()
	must(t, err)
	plain := filepath.Join(t.TempDir(), "key.txt")
	must(t, os.WriteFile(plain, []byte(x.String()), 0o600))
	must(t, k.Use(plain))
	ids, err := k.Identities()
	if err != nil || len(ids) != 2 || recipientOf(ids[0]) != x.Recipient().String() ||
		recipientOf(ids[1]) != got[0] {
		t.Errorf("%d identities, error %v", len(ids), err)
	}
	must(t, os.WriteFile(filepath.Join(k.Dir, "identities"), []byte("# nothing\n"), 0o600))
	if _, err := k.Identities(); err == nil || !strings.Contains(err.Error(), "no identity") {
		t.Errorf("got error %v", err)
	}
	must(t,
		os.WriteFile(filepath.Join(k.Dir, "identities"), []byte("\nAGE-SECRET-KEY-1QQ\n"), 0o600))
	if _, err := k.Identities(); err == nil || !strings.Contains(err.Error(), "line 2") ||
		strings.Contains(err.Error(), "1QQ") {
		t.Errorf("got error %v", err)
	}
}

// A pin is replaced only by one who has seen it.
func TestPinFile(t *testing.T) {
	p := newKeyring(t).Pin("place")
	for _, step := range []struct {
		old, new string
		want     bool
	}{{"", "one", true}, {"", "two", false}, {"one", "two", true}, {"one", "three", false}} {
		var old []byte
		if step.old != "" {
			old = []byte(step.old)
		}
		if done, err := p.Save(old, []byte(step.new)); err != nil || done != step.want {
			t.Errorf("%q for %q: %v, error %v", step.new, step.old, done, err)
		}
	}
	if b, err := p.Load(); err != nil || string(b) != "two" {
		t.Errorf("got %q, error %v", b, err)
	}
	if filepath.Base(p.Where()) == filepath.Base(newKeyring(t).Pin("other").Where()) {
		t.Error("two places have one pin")
	}
}

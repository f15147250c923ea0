package remote_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
	"github.com/gemini-ctx/ctx/internal/remote/remotetest"
	"github.com/gemini-ctx/ctx/lock"
)

func TestConformance(t *testing.T) {
	root := filepath.Join(t.TempDir(), "shared")
	remotetest.Check(t, func(t *testing.T) remote.Remote { return open(t, root) })
}

func open(t *testing.T, root string) *remote.Dir {
	t.Helper()
	d, err := remote.OpenDir(root, nil, lock.Owner{Command: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What other programs leave in a folder is no file of the remote.
func TestStrangers(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{".stfolder", "Read me.txt", "stores/.sync/x", "~$doc"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, root)
	if err := d.PutNew(t.Context(), "format", []byte("x")); err != nil {
		t.Fatal(err)
	}
	files, err := d.List(t.Context(), "")
	if err != nil || len(files) != 1 || files[0].Name != "format" {
		t.Errorf("got %v, error %v", files, err)
	}
}

// The lock tells who has it, and tells nobody who reads the folder the name of the writer's
// machine.
func TestNoHost(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "lock.owner")
	d, err := remote.OpenDir(root, nil,
		lock.Owner{PID: 42, Host: "machine-two", Store: "5a6f", Command: "ctx push"})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.PutNew(t.Context(), "format", []byte("x")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(b), "machine") ||
		!strings.Contains(string(b), `"pid":42,"store":"5a6f","command":"ctx push"`) {
		t.Errorf("the folder has %q, error %v", b, err)
	}
}

// A team that shares a folder shares what is made in it.
func TestPermissions(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o770); err != nil {
		t.Fatal(err)
	}
	d := open(t, root)
	if err := d.PutNew(t.Context(), "stores/a/log/1", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"stores/a/log": 0o770, "stores/a/log/1": 0o660} {
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want && os.PathSeparator == '/' {
			t.Errorf("%s: mode %o, want %o", name, got, want)
		}
	}
}

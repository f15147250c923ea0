package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/repo"
)

func TestFindUpwards(t *testing.T) {
	w := newWorld(t)
	w.init()
	deep := filepath.Join(w.project, "a", "b")
	w.mkdir(deep)
	for _, from := range []string{w.project, deep, filepath.Join(w.project, ".gemini"), w.store(),
		w.path("refs")} {
		w.env.WorkDir = from
		if dir, err := repo.Find(w.env); err != nil || dir != w.store() {
			t.Errorf("from %q: %q, %v", from, dir, err)
		}
	}
}

func TestFindNearest(t *testing.T) {
	w := newWorld(t)
	w.init()
	inner := filepath.Join(w.project, "inner")
	w.mkdir(inner)
	if _, _, err := repo.Init(w.env, inner); err != nil {
		t.Fatal(err)
	}
	w.env.WorkDir = inner
	if dir, err := repo.Find(w.env); err != nil ||
		dir != filepath.Join(inner, ".gemini", "context") {
		t.Errorf("got %q, %v", dir, err)
	}
	w.remove(filepath.Join(inner, ".gemini", "context", "format"))
	if _, err := repo.Find(w.env); !errors.Is(err, repo.ErrHalf) {
		t.Errorf("half a store is passed over: %v", err)
	}
}

func TestFindThroughSymlinkedWorkDir(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.mkdir(filepath.Join(w.project, "sub"))
	link := filepath.Join(w.home, "link")
	symlink(t, filepath.Join(w.project, "sub"), link)
	w.env.WorkDir = link
	if dir, err := repo.Find(w.env); err != nil || dir != w.store() {
		t.Errorf("got %q, %v", dir, err)
	}
}

func TestFindStopsAtHome(t *testing.T) {
	w := newWorld(t)
	for _, above := range []string{w.home, filepath.Dir(w.home)} {
		env := w.env
		env.Home = "" // so that Init makes one there
		if _, _, err := repo.Init(env, above); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []string{w.project, w.home} {
		w.env.WorkDir = from
		if dir, err := repo.Find(w.env); !errors.Is(err, repo.ErrNoStore) {
			t.Errorf("from %q: %q, %v", from, dir, err)
		}
	}
	outside := filepath.Join(filepath.Dir(w.home), "outside", "deep")
	w.mkdir(outside)
	w.env.WorkDir = outside
	want := filepath.Join(filepath.Dir(w.home), ".gemini", "context")
	if dir, err := repo.Find(w.env); err != nil || dir != want {
		t.Errorf("outside of home: %q, %v", dir, err)
	}
}

func TestFindNothing(t *testing.T) {
	w := newWorld(t)
	w.mkdir(w.store()) // of the right name, but empty
	if _, err := repo.Find(w.env); !errors.Is(err, repo.ErrNoStore) {
		t.Errorf("got %v", err)
	}
	w.remove(w.store())
	w.write(w.store(), "a file")
	if _, err := repo.Find(w.env); !errors.Is(err, repo.ErrNoStore) {
		t.Errorf("a file: got %v", err)
	}
	for _, dir := range []string{"", "relative", filepath.Join(w.project, "missing")} {
		w.env.WorkDir = dir
		if got, err := repo.Find(w.env); err == nil {
			t.Errorf("from %q: found %q", dir, got)
		}
	}
}

func TestFindNamed(t *testing.T) {
	w := newWorld(t)
	w.init()
	// A project's own folder does not make it half a store
	w.mkdir(filepath.Join(w.project, "objects"))
	rel, err := filepath.Rel(w.home, w.store())
	if err != nil {
		t.Fatal(err)
	}
	w.env.WorkDir = w.home
	for _, named := range []string{w.store(), w.project, w.store() + "/", rel} {
		w.env.StoreDir = named
		if dir, err := repo.Find(w.env); err != nil || dir != w.store() {
			t.Errorf("%q: %q, %v", named, dir, err)
		}
	}
	w.env.StoreDir = filepath.Join(w.home, "nowhere")
	if _, err := repo.Find(w.env); !errors.Is(err, repo.ErrNoStore) {
		t.Errorf("got %v", err)
	}
	w.remove(w.path("format"))
	for _, named := range []string{w.store(), w.project} {
		w.env.StoreDir = named
		if _, err := repo.Find(w.env); !errors.Is(err, repo.ErrHalf) {
			t.Errorf("%q: got %v", named, err)
		}
	}
}

func TestOpenRefusesAStrangersStore(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	w := newWorld(t)
	w.init()
	if err := os.Chown(w.store(), 12345, -1); err != nil {
		t.Fatal(err)
	}
	var owner *repo.OwnerError
	if _, err := repo.Open(w.env); !errors.As(err, &owner) || owner.UID != 12345 ||
		owner.Path != w.store() {
		t.Errorf("open: got %v", err)
	}
	if _, _, err := repo.Init(w.env, w.project); !errors.As(err, &owner) {
		t.Errorf("init: got %v", err)
	}
	w.env.StoreDir = w.store()
	if _, err := repo.Open(w.env); err != nil {
		t.Errorf("named by the user: got %v", err)
	}
}

func TestOpenGate(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.write(w.path("format"), "store 2\nwhatever comes\n")
	var version *format.VersionError
	if _, err := repo.Open(w.env); !errors.As(err, &version) || version.Got != 2 {
		t.Errorf("newer: got %v", err)
	}
	before := files(t, w.store())
	if _, _, err := repo.Init(w.env, w.project); !errors.As(err, &version) {
		t.Errorf("init of newer: got %v", err)
	}
	if after := files(t, w.store()); len(after) != len(before) {
		t.Error("init has touched a newer store")
	}
	for _, text := range []string{"", "store", "store 1\nhash md5\nid 00\n",
		strings.Repeat("x", 5000)} {
		w.write(w.path("format"), text)
		var corrupt *repo.CorruptError
		if _, err := repo.Open(w.env); !errors.As(err, &corrupt) {
			t.Errorf("%.20q: got %v", text, err)
		}
	}
}

func TestOpenWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.init()
	before := files(t, w.store())
	w.open()
	for name, data := range files(t, w.store()) {
		if before[name] != data {
			t.Errorf("%q has changed", name)
		}
	}
}

// What cannot be looked at is not taken for nothing: a second store would be begun beside the
// first, and a hook would be silent.
func TestFindCannotLook(t *testing.T) {
	for _, name := range []string{".gemini", ".gemini/context", ".gemini/context/format"} {
		for _, named := range []bool{false, true} {
			w := newWorld(t)
			w.init()
			path := filepath.Join(w.project, filepath.FromSlash(name))
			w.mkdir(filepath.Join(w.project, "sub"))
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			symlink(t, path, path) // nobody can follow it, root neither
			if w.env.WorkDir = filepath.Join(w.project, "sub"); named {
				w.env.StoreDir = w.project
			}
			_, err := repo.Find(w.env)
			if err == nil || errors.Is(err, repo.ErrNoStore) || errors.Is(err, repo.ErrHalf) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("%s in a circle, named %v: %v", name, named, err)
			}
		}
	}
}

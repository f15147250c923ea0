package repo_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/repo"
)

func TestInitMakesEverything(t *testing.T) {
	w := newWorld(t)
	r, created, err := repo.Init(w.env, w.project)
	if err != nil || !created {
		t.Fatalf("created %v, error %v", created, err)
	}
	if r.Dir != w.store() || !format.IsStoreID(r.ID) {
		t.Errorf("dir %q, id %q", r.Dir, r.ID)
	}
	got := files(t, w.store())
	for _, dir := range []string{"objects/pack", "refs"} {
		if got[filepath.FromSlash(dir)] != "dir" {
			t.Errorf("no directory %s", dir)
		}
	}
	if want := "store 1\nhash sha256\nid " + r.ID + "\n"; got["format"] != want {
		t.Errorf("format is %q, want %q", got["format"], want)
	}
	if got[".gitignore"] != "*\n" {
		t.Errorf(".gitignore is %q", got[".gitignore"])
	}
	if len(got["key"]) != repo.KeySize {
		t.Errorf("key has %d bytes", len(got["key"]))
	}
	for line := range strings.Lines(got["config.toml"]) {
		if line != "\n" && line[0] != '#' {
			t.Errorf("template has a line that is no comment: %q", line)
		}
	}
	if v, err := r.Refs.Read(); err != nil || v.Number != 0 {
		t.Errorf("refs: %v, %v", v, err)
	}
	if missing, err := r.Objects.HasAll([]format.ID{{1}}); err != nil || len(missing) != 1 {
		t.Errorf("objects: missing %v, error %v", missing, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestInitModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permission bits")
	}
	w := newWorld(t)
	w.init()
	err := filepath.WalkDir(
		filepath.Join(w.project, ".gemini"), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			want := fs.FileMode(0o600)
			if d.IsDir() {
				want = 0o700
			}
			if info.Mode().Perm() != want {
				t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInitAgainChangesNothing(t *testing.T) {
	w := newWorld(t)
	first := w.init()
	w.write(w.path("config.toml"), "window.evict_at = 99\n")
	before := files(t, w.store())
	r, created, err := repo.Init(w.env, w.project)
	if err != nil || created {
		t.Fatalf("created %v, error %v", created, err)
	}
	if r.ID != first.ID || r.Config.Window.EvictAt != 99 {
		t.Errorf("id %q, evict_at %d", r.ID, r.Config.Window.EvictAt)
	}
	if !maps.Equal(before, files(t, w.store())) {
		t.Error("files have changed")
	}
}

func TestInitKeepsConfig(t *testing.T) {
	w := newWorld(t)
	w.write(w.path("config.toml"), "gc.auto = 5\n")
	if got := w.init().Config.GC.Auto; got != 5 {
		t.Errorf("gc.auto is %d", got)
	}
	if got := files(t, w.store())["config.toml"]; got != "gc.auto = 5\n" {
		t.Errorf("config.toml is %q", got)
	}
}

func TestInitBadConfigMakesNothing(t *testing.T) {
	w := newWorld(t)
	w.env.Overrides = []string{"gc.auto=many"}
	var bad *repo.ConfigError
	if _, _, err := repo.Init(w.env, w.project); !errors.As(err, &bad) {
		t.Errorf("got %v", err)
	}
	if got := files(t, w.project); len(got) != 1 {
		t.Errorf("made %v", got)
	}
}

func TestInitRefusesHome(t *testing.T) {
	w := newWorld(t)
	if _, _, err := repo.Init(w.env, w.home); !errors.Is(err, repo.ErrHome) {
		t.Errorf("got %v", err)
	}
	link := filepath.Join(filepath.Dir(w.home), "link")
	symlink(t, w.home, link)
	if _, _, err := repo.Init(w.env, link); !errors.Is(err, repo.ErrHome) {
		t.Errorf("through a link: got %v", err)
	}
	w.mkdir(filepath.Join(w.home, ".gemini"))
	symlink(t, filepath.Join(w.home, ".gemini"), filepath.Join(w.project, ".gemini"))
	if _, _, err := repo.Init(w.env, w.project); !errors.Is(err, repo.ErrHome) {
		t.Errorf("project's .gemini is the home's: got %v", err)
	}
	if got := files(t, filepath.Join(w.home, ".gemini")); len(got) != 1 {
		t.Errorf("made %v", got)
	}
}

func TestInitThroughSymlink(t *testing.T) {
	w := newWorld(t)
	elsewhere := filepath.Join(w.home, "elsewhere")
	w.mkdir(elsewhere)
	symlink(t, elsewhere, filepath.Join(w.project, ".gemini"))
	made := w.init()
	if made.Dir != w.store() {
		t.Errorf("dir is %q", made.Dir)
	}
	if got := w.open(); got.ID != made.ID || got.Dir != made.Dir {
		t.Errorf("opened %q, %q", got.Dir, got.ID)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, "context", "format")); err != nil {
		t.Error(err)
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
}

func TestInitRefuses(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.project, "file"), "")
	for _, project := range []string{"", "relative", filepath.Join(w.project, "file"),
		filepath.Join(w.project, "missing")} {
		if _, _, err := repo.Init(w.env, project); err == nil {
			t.Errorf("%q: no error", project)
		}
	}
	w.env.Random = nil
	if _, _, err := repo.Init(w.env, w.project); err == nil {
		t.Error("without random bytes: no error")
	}
	w.env.Random = strings.NewReader("short")
	if _, _, err := repo.Init(w.env, w.project); err == nil {
		t.Error("with too few random bytes: no error")
	}
}

func TestInitFinishesHalf(t *testing.T) {
	w := newWorld(t)
	whole := w.init()
	key := files(t, w.store())["key"]
	w.remove(w.path("format"))
	w.remove(w.path("objects/pack"))
	if _, err := repo.Open(w.env); !errors.Is(err, repo.ErrHalf) {
		t.Fatalf("open: got %v", err)
	}
	r, created, err := repo.Init(w.env, w.project)
	if err != nil || !created {
		t.Fatalf("created %v, error %v", created, err)
	}
	if r.ID != whole.ID {
		t.Errorf("id is %q, the refs say %q", r.ID, whole.ID)
	}
	got := files(t, w.store())
	if got["key"] != key || got[filepath.FromSlash("objects/pack")] != "dir" {
		t.Error("half a store was not finished as it was begun")
	}
}

func TestInitNeverMakesASecondKey(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.remove(w.path("format"))
	w.remove(w.path("key"))
	var lost *repo.KeyError
	if _, _, err := repo.Init(w.env, w.project); !errors.As(err, &lost) {
		t.Errorf("got %v", err)
	}
	w.write(w.path("key"), "short")
	if _, _, err := repo.Init(w.env, w.project); !errors.As(err, &lost) {
		t.Errorf("short key: got %v", err)
	}
}

func TestInitKeepsALogWithoutCheckpoint(t *testing.T) {
	w := newWorld(t)
	w.init()
	w.remove(w.path("format"))
	w.remove(w.path("refs/checkpoint"))
	log := strings.Repeat("an operation ", 20)
	w.write(w.path("refs/log-1"), log)
	var corrupt *repo.CorruptError
	if _, _, err := repo.Init(w.env, w.project); !errors.As(err, &corrupt) {
		t.Errorf("got %v", err)
	}
	if got := files(t, w.store())[filepath.FromSlash("refs/log-1")]; got != log {
		t.Errorf("log is %q", got)
	}
}

func TestInitAtOnce(t *testing.T) {
	w := newWorld(t)
	const many = 4
	made := make([]*repo.Repo, many)
	var finished int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			env := w.env
			env.Random = strings.NewReader(strings.Repeat(string(rune('a'+i)), 100))
			r, created, err := repo.Init(env, w.project)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			made[i] = r
			if created {
				finished++
			}
		})
	}
	wg.Wait()
	if finished != 1 {
		t.Fatalf("%d of %d made the store", finished, many)
	}
	for _, r := range made {
		key, err := r.Key()
		first, _ := made[0].Key()
		if err != nil || r.ID != made[0].ID || string(key) != string(first) {
			t.Errorf("id %q, key %q, error %v", r.ID, key, err)
		}
	}
}

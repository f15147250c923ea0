package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// TestAllowed has a row for each way in which a store can come to a place.
func TestAllowed(t *testing.T) {
	type place struct {
		*world
		other *world // on another machine
	}
	for name, row := range map[string]struct {
		come func(p place)
		want bool
	}{
		"made here":          {func(p place) { p.init() }, true},
		"made here twice":    {func(p place) { p.init(); p.init() }, true},
		"made elsewhere":     {func(p place) { p.copyFrom(p.other) }, false},
		"and opened by Init": {func(p place) { p.copyFrom(p.other); p.init() }, false},
		"half a store, finished here": {func(p place) {
			p.copyFrom(p.other)
			p.remove(p.path("format"))
			p.init()
		}, false},
		"settings that were there before": {func(p place) {
			p.write(p.path("config.toml"), "")
			p.init()
		}, false},
		"a cache that was there before": {func(p place) {
			p.write(p.path("cache/digest"), "lies")
			p.init()
		}, false},
		"made here, in the place of another one": {func(p place) {
			p.copyFrom(p.other)
			p.remove(p.store())
			p.init()
		}, true},
		"made elsewhere, in the place of one made here": {func(p place) {
			p.init()
			p.remove(p.store())
			p.copyFrom(p.other)
		}, false},
		"made elsewhere, with the id of one made here": {func(p place) {
			p.init()
			format := p.read("format")
			p.remove(p.store())
			p.copyFrom(p.other)
			p.write(p.path("format"), format)
		}, false},
		"allowed": {func(p place) {
			p.copyFrom(p.other)
			p.allow()
		}, true},
		"allowed, and then not": {func(p place) {
			p.init()
			p.allow()
			if err := p.open().Disallow(); err != nil {
				t.Error(err)
			}
		}, false},
		"moved": {func(p place) {
			p.init()
			p.move("elsewhere")
		}, true},
		"behind a link": {func(p place) {
			p.init()
			p.move("elsewhere")
			p.mkdir(filepath.Dir(p.project))
			p.project = filepath.Join(p.home, "linking")
			p.mkdir(p.project)
			symlink(t, filepath.Join(p.home, "elsewhere", ".gemini"),
				filepath.Join(p.project, ".gemini"))
			p.env.WorkDir = p.project
		}, false},
		"no list": {func(p place) {
			p.init()
			p.env.UserData = ""
		}, false},
		"a list that cannot be written": {func(p place) {
			p.write(p.env.UserData, "a file")
			p.init()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := place{newWorld(t), newWorld(t)}
			p.env.UserData = filepath.Join(p.home, "data")
			p.other.env.UserData = filepath.Join(p.other.home, "data")
			p.other.env.Random = bytesOf(9)
			p.other.init()
			row.come(p)
			r := p.open()
			got, err := r.Allowed()
			if got != row.want {
				t.Errorf("allowed: %v, %v", got, err)
			}
			if name == "no list" && !errors.Is(err, repo.ErrNotAllowed) {
				t.Errorf("without a list: %v", err)
			}
		})
	}
}

func (w *world) allow() {
	w.t.Helper()
	if err := w.open().Allow(repo.ByUser); err != nil {
		w.t.Error(err)
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) copyFrom(other *world) {
	w.t.Helper()
	if err := os.CopyFS(w.store(), os.DirFS(other.store())); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) move(name string) {
	w.t.Helper()
	to := filepath.Join(w.home, name)
	if err := os.Rename(w.project, to); err != nil {
		w.t.Fatal(err)
	}
	w.project, w.env.WorkDir = to, to
}

// bytesOf is a source of one byte.
type bytesOf byte

// Read implements io.Reader.
func (b bytesOf) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

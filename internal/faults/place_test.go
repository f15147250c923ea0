package faults

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
)

// place is a directory that holds one image after another. It keeps the files that two images
// share, which are most of them.
type place struct {
	root  string
	holds image           // the image that was put, except touched files
	stale map[string]bool // touched since then
	all   bool            // the content of the directory is unknown
	puts  int
}

func newPlace(t testing.TB) *place {
	t.Helper()
	return &place{root: durabletest.TempDir(t), holds: image{}, stale: map[string]bool{}}
}

// watch makes an FS tell the place what it touches.
func (p *place) watch(fsys *durable.FS) *durable.FS {
	told := fsys.OnStep
	fsys.OnStep = func(c durable.Call, err error) {
		p.touch(c)
		if told != nil {
			told(c, err)
		}
	}
	return fsys
}

func (p *place) touch(c durable.Call) {
	for _, path := range []string{c.File, c.Path} {
		rel, err := filepath.Rel(p.root, path)
		if err != nil || c.Op == durable.OpSync || c.Op == durable.OpSyncDir {
			continue
		}
		rel = filepath.ToSlash(rel)
		p.stale[rel] = true
		if c.Op == durable.OpRename &&
			(p.holds[rel].dir ||
				strings.HasPrefix(filepath.Base(rel), durable.TempPrefix+"context-")) {
			p.all = true // a whole directory moved
		}
	}
}

// put makes the place hold exactly an image.
func (p *place) put(t testing.TB, m image) {
	t.Helper()
	if err := p.change(m); err != nil {
		t.Fatal(err)
	}
	p.holds, p.stale, p.all = m, map[string]bool{}, false
	if p.puts++; p.puts%50 == 0 {
		p.verify(t)
	}
}

// verify checks that the place holds what put wrote, except the locked file.
func (p *place) verify(t testing.TB) {
	t.Helper()
	there := must[image](t)(readImage(p.root, time.Time{}))
	for path, f := range there {
		f.time = p.holds[path].time
		if !same(f, p.holds[path]) && filepath.Base(path) != "lock" {
			t.Fatalf("the place has another %q than it should", path)
		}
	}
	for path := range p.holds {
		if _, ok := there[path]; !ok {
			t.Fatalf("the place has no %q", path)
		}
	}
}

func (p *place) change(m image) error {
	if p.all {
		list, err := os.ReadDir(p.root)
		if err != nil {
			return err
		}
		for _, f := range list {
			if err := os.RemoveAll(filepath.Join(p.root, f.Name())); err != nil {
				return err
			}
		}
		p.holds, p.stale = image{}, map[string]bool{}
	}
	// Remove files first, deepest first. Nobody tells of the cache that a reader wrote, nor of the
	// directory of the trouble log that a failed hook made.
	going := map[string]bool{}
	for path := range p.holds {
		switch filepath.Base(path) {
		case "context":
			if log := path + "/log"; !p.holds[log].dir {
				going[log] = true
			}
		case "cache":
			list, err := os.ReadDir(filepath.Join(p.root, filepath.FromSlash(path)))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			for _, f := range list {
				going[path+"/"+f.Name()] = true
			}
		}
	}
	for path := range p.holds {
		if now, ok := m[path]; !ok || now.dir != p.holds[path].dir {
			going[path] = true
		}
	}
	for path := range p.stale {
		if now, ok := m[path]; !ok || !now.dir {
			going[path] = true
		}
	}
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(going))) {
		if err := os.RemoveAll(filepath.Join(p.root, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(m)) {
		f := m[path]
		was, had := p.holds[path]
		if had && !p.stale[path] && !going[path] && same(was, f) {
			continue
		}
		if err := write(filepath.Join(p.root, filepath.FromSlash(path)), f); err != nil {
			return err
		}
	}
	return nil
}

func same(a, b file) bool {
	if a.dir != b.dir || a.perm != b.perm || !a.time.Equal(b.time) || len(a.data) != len(b.data) {
		return false
	}
	return len(a.data) == 0 || &a.data[0] == &b.data[0] || bytes.Equal(a.data, b.data)
}

func write(path string, f file) error {
	if f.dir {
		if err := os.MkdirAll(path, f.perm); err != nil {
			return err
		}
		return os.Chmod(path, f.perm)
	}
	if err := os.WriteFile(path, f.data, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(path, f.perm); err != nil {
		return err
	}
	at := f.time
	if at.IsZero() {
		at = time.Now()
	}
	return os.Chtimes(path, at, at)
}

// temporaries returns the temporary files and directories below the place, which a write in
// progress has or an unfinished command left beside the store.
func (p *place) temporaries(t testing.TB) (list []string) {
	t.Helper()
	err := filepath.WalkDir(p.root, func(path string, d os.DirEntry, err error) error {
		if err == nil && (durable.IsTemp(d.Name()) || filepath.Base(filepath.Dir(path)) == "tmp") {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

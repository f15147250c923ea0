package repo_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// TestLinksInAStore: a project can bring a store along in which names are links, to have files
// outside written, or swept away.
func TestLinksInAStore(t *testing.T) {
	for _, name := range []string{"objects", "refs", "absent", "cache", "log", "tmp", "lock",
		"lock.owner", "objects/pack", "objects/ab", "absent/ab"} {
		w := newWorld(t)
		w.init()
		outside, path := filepath.Join(w.home, "outside"), w.path(filepath.FromSlash(name))
		w.mkdir(outside)
		w.remove(path)
		w.mkdir(filepath.Dir(path))
		symlink(t, outside, path)
		_, openErr := repo.Open(w.env)
		_, _, initErr := repo.Init(w.env, w.project)
		for _, err := range []error{openErr, initErr} {
			var corrupt *repo.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Path != path {
				t.Errorf("%s: %v", name, err)
			}
		}
		if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
			t.Errorf("%s: %v outside, %v", name, left, err)
		}
	}
}

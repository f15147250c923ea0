package forget_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
)

// A forget empties the copy of a remote, which another process may make anew before the forget has
// removed all files of the old one. It removes none of the new one.
func TestForgetLeavesTheNextCopy(t *testing.T) {
	first := kit.Create(t)
	kit.Say(t, first, "talk", "the port is 4411", "noted")
	copied := filepath.Join(first.Dir, "cache", "remote-origin.git")
	write := func(name string) {
		path := filepath.Join(copied, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"HEAD", "objects/old", "refs/old"} {
		write(name)
	}
	removed := 0
	s := kit.Open(t, first.Dir, &durable.FS{OnStep: func(c durable.Call, _ error) {
		if c.Op != durable.OpRemove || !strings.Contains(c.Path, "remote-origin.git") {
			return
		}
		if removed++; removed == 1 {
			write("HEAD")
			write("objects/new")
			write("refs/new")
		}
	}})
	kit.ForgetEntry(t, s, kit.TipOf(t, s, "talk"))
	if removed != 3 {
		t.Errorf("the forget removed %d files of the copy that it found", removed)
	}
	for _, name := range []string{"HEAD", "objects/new", "refs/new"} {
		if _, err := os.Stat(filepath.Join(copied, filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(first.Dir, "cache", durable.OwnPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

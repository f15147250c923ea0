package rot

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
)

// The stores are as described, sound, and the same each time they are made and read.
func TestStores(t *testing.T) {
	for name, make := range map[string]func(string) (string, error){"plain": Plain,
		"everything": Everything} {
		var dirs [2]string
		var said [2]Answers
		for i := range dirs {
			dir, err := make(t.TempDir())
			if err != nil {
				t.Fatal(name, err)
			}
			dirs[i] = dir
			if said[i], err = Read(dir); err != nil {
				t.Fatal(name, err)
			}
			s, err := Open(dir, nil, Later)
			if err != nil {
				t.Fatal(err)
			}
			report, err := fsck.Run(context.Background(), s.Opened, fsck.Options{})
			if err != nil || len(report.Faults) > 0 {
				t.Fatal(name, err, report.Faults)
			}
			t.Log(name, report.Objects, "objects", report.Operations, "operations", report.Notes,
				len(said[i]), "questions")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, q := range said[0].Questions() {
			if said[0][q].Text != said[1][q].Text {
				t.Errorf("%s: %s: %q and %q", name, q, said[0][q].Text, said[1][q].Text)
			}
			if err := said[0][q].Err; err != nil {
				t.Logf("%s: %s: %v", name, q, err)
			}
		}
		if name == "plain" {
			continue
		}
		for _, path := range []string{"refs/base", "refs/checkpoint", "refs/log-*",
			"objects/pack/*.pack", "absent/*/*", "log/hook", "log/torn-*", "lock.owner",
			"cache/links", "cache/search", "cache/search-*", "cache/head-*", "cache/candidates-*",
			"tmp/*", "key", "format", "config.toml"} {
			found, _ := filepath.Glob(filepath.Join(dirs[0], filepath.FromSlash(path)))
			size := int64(0)
			for _, f := range found {
				info, _ := os.Stat(f)
				size += info.Size()
			}
			t.Log(path, len(found), size)
			if len(found) == 0 {
				t.Errorf("no %s", path)
			}
		}
	}
}

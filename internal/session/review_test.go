package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/storetest"
)

// C2: an append leaves little behind, however many clusters and sessions there are.
func TestC2LittleGarbage(t *testing.T) {
	s := storetest.Create(t)
	storetest.Talk(t, s, "talk", 200, 1)
	storetest.Compact(t, s, "talk")
	size := func() (n int64) {
		err := filepath.WalkDir(
			filepath.Join(s.Dir, "objects"), func(_ string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					info, err := d.Info()
					if err != nil {
						return err
					}
					n += info.Size()
				}
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	storetest.Talk(t, s, "talk", 100, 2)
	per := (size() - before) / 100
	t.Logf("%d bytes a message", per)
	if per > 6500 {
		t.Errorf("%d bytes for a message of 40", per)
	}
}

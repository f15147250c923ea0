package objects_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// A pack or an index that cannot take its name is no error where another writer has written the
// same pack meanwhile: Windows refuses to replace a file that somebody reads.
func TestPackOfARival(t *testing.T) {
	refused := errors.New("access denied")
	for _, ext := range []string{".pack", ".idx"} {
		for _, rival := range []bool{true, false} {
			_, root := newStore(t, nil)
			raws := batch(70)
			mine := open(t, root, &durable.FS{Hook: func(c durable.Call) error {
				if c.Op != durable.OpRename || filepath.Ext(c.Path) != ext {
					return nil
				}
				if rival {
					put(t, open(t, root, nil), raws...)
				}
				return refused
			}})
			err := mine.Put(raws...)
			if rival && err != nil || !rival && !errors.Is(err, refused) {
				t.Errorf("%s, with a rival %v: %v", ext, rival, err)
			}
			if rival {
				same(t, open(t, root, nil), raws[0])
			}
		}
	}
}

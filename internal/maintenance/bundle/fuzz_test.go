package bundle

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzReadBundle(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		file := filepath.Join(t.TempDir(), "b")
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = readBundle(file, func(name string, size int64, from io.Reader) error {
			if limit, ok := bundleLimit(name); !ok || size > limit ||
				strings.Contains(name, "..") || filepath.IsAbs(name) {
				t.Errorf("%q, %d bytes", name, size)
			}
			return nil
		})
	})
}

// A corpus that is no longer there fails nothing by itself.
func TestFuzzSeedsAreThere(t *testing.T) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzReadBundle", "*"))
	if err != nil || len(seeds) == 0 {
		t.Error("FuzzReadBundle has no seeds")
	}
}

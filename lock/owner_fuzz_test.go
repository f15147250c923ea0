package lock_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/gemini-ctx/ctx/lock"
)

// FuzzOwner: what is told of the lock's holder is one line, whatever stands in the file.
func FuzzOwner(f *testing.F) {
	for _, seed := range []string{"", "{}",
		`{"pid":7,"host":"here","command":"ctx append","since":"2026-01-02T03:04:05Z"}`,
		`{"command":"a\u001b[2J\u009b2J\nb"}`, "{\"host\":\"\xff\"}\nrest of another", "[",
		`{"pid":1e99}`, `{"since":"9999999-01-01T00:00:00Z"}`} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, "lock.owner"), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if s := lock.ReadOwner(dir).String(); strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("%q", s)
		}
	})
}

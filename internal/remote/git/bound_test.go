package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/remote/git"
)

// A fetch that brings too much is ended, and so is one that brings nothing. Both are named, and
// leave nothing of what they have brought.
func TestBounds(t *testing.T) {
	path := repository(t)
	// A fetch writes a part of a pack into $BARE, and waits for the rest for ever.
	at, env := wrapGit(t, `
if [ "$verb" = fetch ]; then
	mkdir -p "$BARE/objects/pack"
	head -c "$BYTES" /dev/zero >"$BARE/objects/pack/tmp_pack_1"
	mkfifo "$AT/rest.$$"
	read -r rest <"$AT/rest.$$"
fi
exec "$GIT" "$@"
`)
	for _, c := range []struct {
		name, bytes, want string
		most              int64
		still             time.Duration
	}{
		{"too much", "200000", "may take 100000", 100_000, time.Hour},
		{"nothing", "10", "sent nothing for 1ms", 100_000, time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			bare := filepath.Join(t.TempDir(), "copy.git")
			env["BARE"], env["BYTES"] = bare, c.bytes
			for name, value := range env {
				t.Setenv(name, value)
			}
			r, err := git.Open(t.Context(),
				git.Config{URL: path, Bare: bare, Now: now, MaxCopy: c.most, MaxStill: c.still})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.List(t.Context(), "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
			if _, err := os.Stat(filepath.Join(bare, "objects", "pack", "tmp_pack_1")); !errors.Is(
				err, os.ErrNotExist) {
				t.Errorf("the part of a pack stays: %v", err)
			}
			fetches, err := filepath.Glob(filepath.Join(at, "rest.*"))
			if err != nil || len(fetches) != 1 {
				t.Errorf("%d fetches, want one: error %v", len(fetches), err)
			}
			for _, f := range fetches {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

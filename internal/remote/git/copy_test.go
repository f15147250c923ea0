package git_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/internal/remote"
)

// Two processes of one store push at the same time, as hooks of two agents do, from one bare
// repository. Both have made their commits before either pushes: one wins, the other is told so.
func TestTwoClientsOfOneCopy(t *testing.T) {
	path := repository(t)
	wrapGit(t, `
if [ "$verb" = push ]; then
	mkdir "$AT/$$"
	tries=0
	while [ "$(ls "$AT" | wc -l)" -lt 2 ] && [ $tries -lt 2000 ]; do tries=$((tries + 1)); done
fi
exec "$GIT" "$@"
`)
	bare := filepath.Join(t.TempDir(), "copy.git")
	clients := []remote.Remote{openAt(t, path, bare), openAt(t, path, bare)}
	errs := make([]error, len(clients))
	var wg sync.WaitGroup
	for i, r := range clients {
		wg.Go(func() {
			errs[i] = r.PutNew(t.Context(), fmt.Sprintf("stores/1/pack/%d", i), fmt.Appendf(nil, "pack %d", i))
			if errs[i] == nil {
				errs[i] = r.Swap(t.Context(), "heads/1", nil, fmt.Appendf(nil, "by %d", i))
			}
		})
	}
	wg.Wait()
	won := 0
	if errs[0] != nil {
		won = 1
	}
	if errs[won] != nil || !errors.Is(errs[1-won], remote.ErrStale) {
		t.Fatalf("got errors %v and %v, want one nil and one ErrStale", errs[0], errs[1])
	}
	r := openAt(t, path, filepath.Join(t.TempDir(), "other.git"))
	for name, want := range map[string]string{
		"heads/1": fmt.Sprintf("by %d", won), fmt.Sprintf("stores/1/pack/%d", won): fmt.Sprintf("pack %d", won),
	} {
		if got, err := r.Get(t.Context(), name, 0, -1); err != nil || string(got) != want {
			t.Errorf("%s: got %q, want %q, error %v", name, got, want, err)
		}
	}
}

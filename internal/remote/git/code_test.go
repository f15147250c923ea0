package git_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestMeasureCode pushes code to two repositories in turn: one has code alone, the other the
// sessions of 20 stores as well, CTX_GIT_SESSIONS in all. It logs what the pushes take.
func TestMeasureCode(t *testing.T) {
	sessions, _ := strconv.Atoi(os.Getenv("CTX_GIT_SESSIONS"))
	if sessions == 0 {
		t.Skip("CTX_GIT_SESSIONS says how many sessions to measure with, such as 30000")
	}
	const stores, pushes = 20, 40
	alone, both := repository(t), repository(t)
	for store := range stores {
		// Each session is a pack and a segment of its own, as after a push for each.
		r := openAt(t, both, filepath.Join(t.TempDir(), "copy.git"))
		var err error
		for n := range sessions / stores {
			err = errors.Join(err,
				r.PutNew(t.Context(), fmt.Sprintf("stores/%d/pack/%d-%064x", store, n, n),
					fmt.Appendf(nil, "pack %d of %d", n, store)),
				r.PutNew(t.Context(), fmt.Sprintf("stores/%d/log/%d-%064x", store, n, n),
					fmt.Appendf(nil, "segment %d of %d", n, store)))
		}
		if err = errors.Join(err,
			r.Swap(t.Context(), fmt.Sprintf("heads/%d", store), nil, []byte("head"))); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git",
			append([]string{"-C", work, "-c", "user.name=a", "-c", "user.email=a@example.com"},
				args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	git("init", "--quiet")
	times := map[string][]time.Duration{}
	for n := range pushes {
		git("commit", "--quiet", "--allow-empty", "-m", strconv.Itoa(n))
		for _, to := range []string{alone, both} {
			began := time.Now()
			git("push", "--quiet", to, "HEAD:refs/heads/main")
			times[to] = append(times[to], time.Since(began))
		}
	}
	t.Logf("a push of code: p50 %v, p95 %v", share(times[alone], 50), share(times[alone], 95))
	t.Logf("beside %d sessions of %d stores: p50 %v, p95 %v", sessions, stores,
		share(times[both], 50), share(times[both], 95))
}

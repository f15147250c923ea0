package store_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// An append is one write to the log and one sync, and writes nothing else that is durable.
func TestAppendSyncsOnce(t *testing.T) {
	s := storetest.Create(t)
	storetest.Say(t, s, "talk", "user", "hello")
	var steps []string
	watched := storetest.Reopen(t, filepath.Dir(filepath.Dir(s.Dir)),
		&durable.FS{Hook: func(c durable.Call) error {
			if rel, err := filepath.Rel(s.Dir, c.Path); err == nil &&
				filepath.Dir(rel) != "cache" &&
				filepath.Base(rel) != "lock.owner" {
				steps = append(steps, c.Op+" "+filepath.ToSlash(rel))
			}
			return nil
		}})
	storetest.Say(t, watched, "talk", "model", "hello to you")
	if want := []string{durable.OpAppend + " refs/log-1",
		durable.OpSync + " refs/log-1"}; !slices.Equal(steps, want) {
		t.Errorf("an append does %q, want %q", steps, want)
	}
}

// A forget removes words that the log carries, and names the log where a damaged record stays.
func TestForgetWhatTheLogCarries(t *testing.T) {
	for _, damage := range []bool{false, true} {
		s := storetest.Create(t)
		storetest.Say(t, s, "talk", "user", "nothing of that")
		secret := storetest.Say(t, s, "talk", "user", "the key is under the mat")
		log := filepath.Join(s.Dir, "refs", "log-1")
		if damage {
			b := storetest.Must[[]byte](t)(os.ReadFile(log))
			at := bytes.Index(b, []byte("nothing of that"))
			b[at], b[at+1] = b[at]^1, b[at+1]^1
			if err := os.WriteFile(log, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		plan := &store.Forgetting{Objects: []format.ID{secret}, Said: []format.ID{secret}}
		done := storetest.Must[store.Forgot](t)(s.Store.Forget(context.Background(),
			func() (*store.Forgetting, error) { return plan, nil }))
		if len(done.Objects) != 1 {
			t.Errorf("%+v", done)
		}
		if damage != slices.Contains(done.Remains, "refs/log-1") {
			t.Errorf("damage %v: remains %q", damage, done.Remains)
		}
		if left := bytes.Contains(storetest.Must[[]byte](t)(os.ReadFile(log)),
			[]byte("under the mat")); left {
			t.Errorf("damage %v: the words are in the log", damage)
		}
	}
}

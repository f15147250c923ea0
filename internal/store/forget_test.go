package store_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A phrase that was forgotten before is looked for again: where a forget leaves it, it may have
// come since.
func TestForgetAgainLooksAgain(t *testing.T) {
	s := storetest.Create(t)
	ctx := context.Background()
	const phrase = "under the mat"
	storetest.Say(t, s, "talk", "user", "nothing of that")
	forget := func() store.Forgot {
		t.Helper()
		return storetest.Must[store.Forgot](t)(
			s.Store.Forget(ctx,
				func() (*store.Forgetting, error) {
					return &store.Forgetting{Phrases: []string{phrase}}, nil
				}))
	}
	if done := forget(); done.Operation == 0 || len(done.Remains) > 0 {
		t.Fatalf("%+v", done)
	}
	if done := forget(); done.Operation != 0 || len(done.Remains) > 0 {
		t.Fatalf("again: %+v", done)
	}
	note := filepath.Join(s.Dir, "note")
	if err := os.WriteFile(note, []byte("the key is "+phrase), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := forget(); done.Operation != 0 || !slices.Equal(done.Remains, []string{"note"}) {
		t.Errorf("with a note: %+v", done)
	}
}

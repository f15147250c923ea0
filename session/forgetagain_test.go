package session

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A phrase that was forgotten before is looked for again: where a forget leaves it, it may have
// come since.
func TestForgetAgainLooksAgain(t *testing.T) {
	s := create(t)
	ctx := context.Background()
	const phrase = "under the mat"
	say(t, s, "talk", "user", "nothing of that")
	forget := func() Forgot {
		t.Helper()
		return must[Forgot](t)(s.Forget(ctx, func() (*Forgetting, error) { return &Forgetting{Phrases: []string{phrase}}, nil }))
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

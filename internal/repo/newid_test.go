package repo_test

import (
	"errors"
	"testing"

	"github.com/gemini-ctx/ctx/internal/repo"
)

// A new id is one on remotes only, and the last one counts. Each is new.
func TestNewID(t *testing.T) {
	w := newWorld(t)
	if _, err := repo.NewID(w.env); !errors.Is(err, repo.ErrNoStore) {
		t.Errorf("no store has an id: error %v", err)
	}
	s, _, err := repo.Init(w.env, w.project)
	if err != nil || s.Shared != s.ID {
		t.Fatalf("a new store has the ids %s and %s, error %v", s.ID, s.Shared, err)
	}
	seen := map[string]bool{s.ID: true}
	for range 3 {
		r, err := repo.NewID(w.env)
		if err != nil {
			t.Fatal(err)
		}
		again, err := repo.Open(w.env)
		if err != nil {
			t.Fatal(err)
		}
		if r.ID != s.ID || again.ID != s.ID || r.Shared != again.Shared || seen[r.Shared] {
			t.Errorf("ids %s and %s, on remotes %s and %s", r.ID, again.ID, r.Shared, again.Shared)
		}
		seen[r.Shared] = true
	}
}

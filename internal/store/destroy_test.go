package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// Destroy is stopped at its calls: the store is there whole, or it is not there.
func TestDestroyStopped(t *testing.T) {
	s := kit.Create(t)
	kit.Live(t, s, rand.New(rand.NewPCG(4, 6)), 8)
	want := kit.Texts(t, s)
	points := durabletest.Stops(func(fsys *durable.FS) {
		if err := store.Destroy(context.Background(),
			kit.Open(t, storetest.CopyStore(t, s.Dir), fsys).Opened); err != nil {
			t.Fatal(err)
		}
	})
	for _, at := range points {
		dir := storetest.CopyStore(t, s.Dir)
		err := store.Destroy(context.Background(), kit.Open(t, dir, at.FS()).Opened)
		r, openErr := repo.Open(storetest.Env(dir, nil))
		switch {
		case errors.Is(openErr, repo.ErrNoStore):
		case openErr != nil:
			t.Fatalf("stop at %v: %v", at, openErr)
		case err == nil:
			t.Fatalf("stop at %v: said to be done, and it is there", at)
		default:
			c := session.New(r)
			kit.Clean(t, c)
			if kit.Texts(t, c) != want {
				t.Fatalf("stop at %v: not the same store", at)
			}
			if err := store.Destroy(context.Background(), c.Opened); err != nil {
				t.Fatal(err)
			}
			if left := kit.Files(t, filepath.Dir(dir)); len(left) > 0 {
				t.Fatalf("stop at %v: left %q", at, left[0])
			}
		}
	}
	t.Logf("%d stops", len(points))
}

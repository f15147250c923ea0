package clusters_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// The cache is lost, and another line has graduated messages that a branch has in its window: a
// line from the past, or a session that goes on with this one. No message joins twice.
func TestGraduateBesideOthers(t *testing.T) {
	for _, other := range []string{"line", "session"} {
		t.Run(other, func(t *testing.T) {
			s := storetest.Create(t, storetest.Small...)
			ctx := context.Background()
			ids := say(t, s, 60)
			session, branch := "talk", "line"
			var err error
			if other == "session" {
				session, branch = "onward", history.MainBranch
				_, err = s.Conversation.GoOn(ctx, "talk", history.MainBranch, session)
			} else {
				_, err = s.Conversation.Fork(ctx, "talk", history.MainBranch, []string{branch},
					conversation.ForkOptions{At: ids[50]})
			}
			if err != nil {
				t.Fatal(err)
			}
			if g, err := s.Clusters.GraduateAll(ctx, session, branch, nil); err != nil ||
				g.Graduated == 0 {
				t.Fatal(g, err)
			}
			for n := range 40 {
				if n%10 == 0 {
					dropCache(t, s.Dir)
				}
				ids = append(ids, storetest.Say(t, s, "talk", "user", "one more"))
			}
			if _, err := s.Clusters.GraduateAll(ctx, "talk", history.MainBranch, nil); err != nil {
				t.Fatal(err)
			}
			onceInTheForest(t, s, ids)
		})
	}
}

func dropCache(t *testing.T, dir string) {
	t.Helper()
	cache := filepath.Join(dir, "cache")
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(cache, 0o700); err != nil {
		t.Fatal(err)
	}
}

package history_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/clusters"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// Each test here failed once.

// The links cache is older than the kept log: every command that asks for links fails, an append
// that leaves among them, for good.
func TestLinksCacheOlderThanKeptLog(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	// Leaves: cache/links is written once, and not again as nothing is amended or imported
	storetest.Talk(t, s, "talk", 20, 1)
	s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
	for range 30 { // many checkpoints' worth of other operations
		storetest.Talk(t, s, "other", 20, 2)
	}
	// Plain appends in processes that never leave do not touch the file; go back to what it was
	// is not even needed: its stamp has stayed.
	err := s.Store.Locked(context.Background(), func(tx *store.Tx) error {
		r, ok, err := s.Refs.CanBegin(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil || !ok {
			return fmt.Errorf("nothing to drop: %w", err)
		}
		_, err = s.Refs.DropTo(tx.Held, r.Op.Number)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		s = storetest.Reopen(t, s.Dir, nil, storetest.Small...) // another process
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			[]conversation.Message{{Role: "user", Text: "and on"}},
			conversation.AppendOptions{}); err != nil {
			t.Fatalf("append %d: %v", i, err)
		}
	}
}

// Without sources or amends the links file is written once; each later process walks every
// operation since, under the lock, at each leave.
func TestLinksStampStays(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	for range 300 {
		s = storetest.Reopen(t, s.Dir, nil, storetest.Small...)
		storetest.Talk(t, s, "talk", 1, 1)
	}
	_, stamp, ok := s.History.Cache.Load(cache.LinksName)
	now := storetest.View(t, s).Number
	if ok && now-stamp.Number > 50 {
		t.Fatalf("the links cache covers operation %d of %d: every leave reads all since",
			stamp.Number, now)
	}
}

// A Store may be used from several goroutines; links is read by one while another catches it up.
// Run under -race.
func TestLinksShared(t *testing.T) {
	s := storetest.Create(t, "window.graduate_at=1", "window.evict_at=400",
		"forest.merge_threshold=0")
	r := rand.New(rand.NewPCG(1, 1))
	var batch []conversation.Message
	for range 600 {
		batch = append(batch, conversation.Message{Role: "user", Text: storetest.Chatter(r)})
	}
	if _, _, err := s.Conversation.Append(context.Background(), "big", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
	storetest.Compact(t, s, "big")
	storetest.AppendOne(t, s, "talk", storetest.Sourced("user", "first text", "0"))
	view := storetest.View(t, s)
	node := storetest.Must[[]clusters.ClusterInfo](t)(s.Recall.Clusters(view))[0].ID
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 100 {
			storetest.AppendOne(t, s, "talk",
				storetest.Sourced("user", fmt.Sprint("text ", i), fmt.Sprint(i%7)))
		}
	})
	wg.Go(func() {
		for range 20 {
			if err := s.Recall.Expand(storetest.View(t, s), node, recall.ExpandOptions{},
				func(*history.Shown) error { return nil }); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
}

package find_test

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

func appendWords(t *testing.T, s *session.Store, session string, r *rand.Rand, n int) {
	t.Helper()
	var batch []conversation.Message
	for range n {
		batch = append(batch, conversation.Message{Role: "user", Text: wordsFrom(r, 6)})
	}
	if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
}

// However often the index is updated, it has few files, and files that it no longer uses are
// removed.
func TestSearchIndexHasFewSegments(t *testing.T) {
	s := storetest.Create(t)
	r := rand.New(rand.NewPCG(1, 1))
	for i := 1; i <= 60; i++ {
		appendWords(t, s, "one", r, history.SaveAfter+1)
		searched(t, storetest.Reopen(t, s.Dir, nil), find.SearchQuery{Text: "postgres", Limit: 3})
		names := storetest.Must[[]string](t)(s.History.Cache.Names(cache.SearchPrefix))
		// Those of two manifests, at most.
		if most := 2 * bits.Len(uint(i)); len(names) > most {
			t.Fatalf("after %d rounds there are %d segments, more than %d", i, len(names), most)
		}
	}
}

// A process that has nothing to write reads the index and leaves it alone.
func TestSearchLeavesACurrentIndexAlone(t *testing.T) {
	s := storetest.Create(t)
	appendWords(t, s, "one", rand.New(rand.NewPCG(2, 2)), 100)
	searched(t, s, find.SearchQuery{Text: "postgres", Limit: 3})
	before := storetest.Must[[]byte](t)(
		os.ReadFile(filepath.Join(s.Dir, "cache", cache.SearchName)))
	appendWords(t, s, "one", rand.New(rand.NewPCG(3, 3)), 3)
	searched(t, storetest.Reopen(t, s.Dir, nil), find.SearchQuery{Text: "postgres", Limit: 3})
	if after := storetest.Must[[]byte](t)(
		os.ReadFile(filepath.Join(s.Dir, "cache", cache.SearchName))); string(after) !=
		string(before) {
		t.Error("three messages were written to the cache")
	}
}

// Where there can be no cache, a search works in memory.
func TestSearchWithoutACache(t *testing.T) {
	s := storetest.Create(t)
	appendWords(t, s, "one", rand.New(rand.NewPCG(4, 4)), 200)
	want := searched(t, s, find.SearchQuery{Text: "postgres port", Limit: 20})
	s.Recall.DropSearch()
	dir := filepath.Join(s.Dir, "cache")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file in its place
		t.Fatal(err)
	}
	bare := storetest.Reopen(t, s.Dir, nil)
	bare.History.Warn = nil
	for range 2 {
		if d := differ(searched(t, bare, find.SearchQuery{Text: "postgres port", Limit: 20}),
			want); d != "" {
			t.Fatal(d)
		}
	}
	if !bare.Recall.SearchesInMemory() {
		t.Error("the index was written somewhere")
	}
}

// Several processes search while one appends: nobody fails, and at the end all find the same.
func TestSearchesAtOnce(t *testing.T) {
	s := storetest.Create(t)
	appendWords(t, s, "one", rand.New(rand.NewPCG(5, 5)), 50)
	var wait sync.WaitGroup
	for i := range 3 {
		wait.Go(func() {
			for round := range 12 {
				other := storetest.Reopen(t, s.Dir, nil)
				view, err := other.Refs.Read()
				if err == nil {
					_, err = other.Recall.Search(view,
						find.SearchQuery{Text: fmt.Sprint("postgres ", round), Limit: 5})
				}
				if err != nil {
					t.Errorf("searcher %d: %v", i, err)
					return
				}
				other.Recall.DropSearch()
			}
		})
	}
	r := rand.New(rand.NewPCG(6, 6))
	for range 12 {
		appendWords(t, s, "one", r, history.SaveAfter)
	}
	wait.Wait()
	q := find.SearchQuery{Text: "postgres parser.go", Limit: 50}
	want := plainly(t, said(t, s, history.RefName("one", history.MainBranch)), q)
	if d := differ(searched(t, storetest.Reopen(t, s.Dir, nil), q), want); d != "" {
		t.Fatal(d)
	}
}

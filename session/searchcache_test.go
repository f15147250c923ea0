package session

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gemini-ctx/ctx/index"
)

func appendWords(t *testing.T, s *Store, session string, r *rand.Rand, n int) {
	t.Helper()
	var batch []Message
	for range n {
		batch = append(batch, Message{Role: "user", Text: wordsFrom(r, 6)})
	}
	if _, _, err := s.Append(context.Background(), session, MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
		t.Fatal(err)
	}
}

// However often the index is brought up to date, it has few files, and what is no part of it any more goes.
func TestSearchIndexHasFewSegments(t *testing.T) {
	s := create(t)
	r := rand.New(rand.NewPCG(1, 1))
	for i := 1; i <= 60; i++ {
		appendWords(t, s, "one", r, saveAfter+1)
		searched(t, reopen(t, s.Dir, nil), SearchQuery{Text: "postgres", Most: 3})
		names := must[[]string](t)(s.Cache.Names(index.SearchPrefix))
		// Those of two manifests, at most.
		if most := 2 * bits.Len(uint(i)); len(names) > most {
			t.Fatalf("after %d rounds there are %d segments, more than %d", i, len(names), most)
		}
	}
}

// A process that has nothing to write reads the index and leaves it alone.
func TestSearchLeavesACurrentIndexAlone(t *testing.T) {
	s := create(t)
	appendWords(t, s, "one", rand.New(rand.NewPCG(2, 2)), 100)
	searched(t, s, SearchQuery{Text: "postgres", Most: 3})
	before := must[[]byte](t)(os.ReadFile(filepath.Join(s.Dir, "cache", index.SearchName)))
	appendWords(t, s, "one", rand.New(rand.NewPCG(3, 3)), 3)
	searched(t, reopen(t, s.Dir, nil), SearchQuery{Text: "postgres", Most: 3})
	if after := must[[]byte](t)(os.ReadFile(filepath.Join(s.Dir, "cache", index.SearchName))); string(after) != string(before) {
		t.Error("three messages were written to the cache")
	}
}

// Where there can be no cache, a search works in memory.
func TestSearchWithoutACache(t *testing.T) {
	s := create(t)
	appendWords(t, s, "one", rand.New(rand.NewPCG(4, 4)), 200)
	want := searched(t, s, SearchQuery{Text: "postgres port", Most: 20})
	s.searched.close()
	dir := filepath.Join(s.Dir, "cache")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file in its place
		t.Fatal(err)
	}
	bare := reopen(t, s.Dir, nil)
	bare.Warn = nil
	for range 2 {
		if d := differ(searched(t, bare, SearchQuery{Text: "postgres port", Most: 20}), want); d != "" {
			t.Fatal(d)
		}
	}
	if !bare.searched.noWrite {
		t.Error("it was written somewhere")
	}
}

// Several processes search while one appends: nobody fails, and at the end all find the same.
func TestSearchesAtOnce(t *testing.T) {
	s := create(t)
	appendWords(t, s, "one", rand.New(rand.NewPCG(5, 5)), 50)
	var wait sync.WaitGroup
	for i := range 3 {
		wait.Go(func() {
			for round := range 12 {
				other := reopen(t, s.Dir, nil)
				view, err := other.Refs.Read()
				if err == nil {
					_, err = other.Search(view, SearchQuery{Text: fmt.Sprint("postgres ", round), Most: 5})
				}
				if err != nil {
					t.Errorf("searcher %d: %v", i, err)
					return
				}
				other.searched.close()
			}
		})
	}
	r := rand.New(rand.NewPCG(6, 6))
	for range 12 {
		appendWords(t, s, "one", r, saveAfter)
	}
	wait.Wait()
	q := SearchQuery{Text: "postgres parser.go", Most: 50}
	want := plainly(t, said(t, s, RefName("one", MainBranch)), q)
	if d := differ(searched(t, reopen(t, s.Dir, nil), q), want); d != "" {
		t.Fatal(d)
	}
}

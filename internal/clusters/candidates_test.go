package clusters_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/cache"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// A newer version of a member and a graduation in one operation: the candidates that the operation
// worked with know the old words, and are not kept.
func TestCandidatesAreNotKeptOverAnAmend(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	said := func(text string) []conversation.Message {
		return []conversation.Message{{Role: "user", Text: text,
			Source: &conversation.Source{Agent: "a", Session: "s", Message: "first"}}}
	}
	appendAll := func(batch []conversation.Message) {
		t.Helper()
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	appendAll(said("the old words"))
	storetest.Talk(t, s, "talk", 20, 1)
	before, err := s.Refs.Read()
	if err != nil {
		t.Fatal(err)
	}
	batch := said("altogether different ones")
	for range 6 {
		batch = append(batch, conversation.Message{Role: "user", Text: "more of it"})
	}
	appendAll(batch)
	err = s.Store.Locked(context.Background(), func(t1 *store.Tx) error {
		name := history.RefName("talk", history.MainBranch)
		if t1.View.Get(name).Frontier == before.Get(name).Frontier {
			t.Error("nothing graduated with the newer version")
		}
		cached, err := s.Clusters.Begin(t1).CachedCandidates()
		if cached != nil {
			t.Error("the candidates with the old words are kept")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Candidates of another version are made anew; those of this one are taken as they are.
func TestCandidatesOfAnotherVersion(t *testing.T) {
	s := storetest.Create(t, storetest.Small...)
	storetest.Talk(t, s, "talk", 20, 1)
	name := cache.CandidatesName(history.MainForest)
	for _, version := range []int{history.LooksVersion, history.LooksVersion + 1, 0} {
		err := s.Store.Locked(context.Background(), func(t1 *store.Tx) error {
			payload, stamp, ok := s.History.Cache.Load(name)
			if !ok {
				t.Fatal("no candidates are cached")
			}
			payload = slices.Clone(payload)
			payload[0] = byte(version)
			if err := s.History.Cache.Store(name, stamp, payload); err != nil {
				return err
			}
			cached, err := s.Clusters.Begin(t1).CachedCandidates()
			if (cached != nil) != (version == history.LooksVersion) {
				t.Errorf("candidates of version %d: taken %v", version, cached != nil)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

package clusters_test

import (
	"context"
	"testing"

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
		return []conversation.Message{{Role: "user", Text: text, Source: &conversation.Source{Agent: "a", Session: "s", Message: "first"}}}
	}
	appendAll := func(batch []conversation.Message) {
		t.Helper()
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch, conversation.AppendOptions{}); err != nil {
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
		c, err := s.Clusters.Begin(t1).CachedCandidates()
		if c != nil {
			t.Error("the candidates with the old words are kept")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

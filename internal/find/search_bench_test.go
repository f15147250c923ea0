package find_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/find"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// BenchmarkSearch measures a search in a new process with the index in the cache: for words that
// every fifth message has, and for a number that few have. "after64" adds 64 messages before each
// search, so that the index is updated and saved. "index" is the time to make the index.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 100000, 1000000} {
		s := fillTalk(b, n)
		view := storetest.View(b, s)
		b.Run(fmt.Sprint("index/", n), func(b *testing.B) {
			for b.Loop() {
				if err := s.Recall.RebuildSearch(view); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "messages/s")
		})
		for _, q := range []struct{ name, text string }{
			{"common", "which port has the postgres schema"}, {"rare", "port 4711"},
		} {
			b.Run(fmt.Sprint(q.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					fresh := storetest.Reopen(b, s.Dir, nil)
					view, err := fresh.Refs.Read()
					if err != nil {
						b.Fatal(err)
					}
					if _, err := fresh.Recall.Search(view,
						find.SearchQuery{Text: q.text, Limit: 10}); err != nil {
						b.Fatal(err)
					}
					fresh.Recall.DropSearch()
				}
			})
		}
		b.Run(fmt.Sprint("after64/", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(9, 9))
			for b.Loop() {
				b.StopTimer()
				talkOn(b, s, r, 64)
				fresh := storetest.Reopen(b, s.Dir, nil)
				b.StartTimer()
				view, err := fresh.Refs.Read()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := fresh.Recall.Search(view,
					find.SearchQuery{Text: "port 4711", Limit: 10}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				fresh.Recall.DropSearch()
				b.StartTimer()
			}
		})
	}
}

// fillTalk makes a store with n messages in one session, in packs and not in the forest.
func fillTalk(b *testing.B, n int) *session.Store {
	b.Helper()
	s := storetest.Create(b)
	r := rand.New(rand.NewPCG(1, 1))
	for left := n; left > 0; left -= 4096 {
		talkOn(b, s, r, min(left, 4096))
	}
	return s
}

func talkOn(b *testing.B, s *session.Store, r *rand.Rand, n int) {
	b.Helper()
	batch := make([]conversation.Message, n)
	for i := range batch {
		batch[i] = conversation.Message{Role: []string{"user", "model"}[r.IntN(2)],
			Text: wordsFrom(r, 6)}
	}
	if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch, batch,
		conversation.AppendOptions{NoGraduation: true}); err != nil {
		b.Fatal(err)
	}
}

package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// A search in a process of its own, the index being in the cache: for words that every fifth message has, and for a number that few have. Before each
// there are 64 new messages in turn, so that the index is brought up to date and saved; "index" is what making it costs.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1000, 100000, 1000000} {
		s := fillTalk(b, n)
		view := s.mustView(b)
		b.Run(fmt.Sprint("index/", n), func(b *testing.B) {
			for b.Loop() {
				s.searching.Lock()
				s.searched = nil
				_, err := s.searchSources(view, true)
				s.searching.Unlock()
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds(), "messages/s")
		})
		for _, q := range []struct{ name, text string }{{"common", "which port has the postgres schema"}, {"rare", "port 4711"}} {
			b.Run(fmt.Sprint(q.name, "/", n), func(b *testing.B) {
				for b.Loop() {
					fresh := reopen(b, s.Dir, nil)
					view, err := fresh.Refs.Read()
					if err != nil {
						b.Fatal(err)
					}
					if _, err := fresh.Search(view, SearchQuery{Text: q.text, Most: 10}); err != nil {
						b.Fatal(err)
					}
					fresh.searched.close()
				}
			})
		}
		b.Run(fmt.Sprint("after64/", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(9, 9))
			for b.Loop() {
				b.StopTimer()
				talkOn(b, s, r, 64)
				fresh := reopen(b, s.Dir, nil)
				b.StartTimer()
				view, err := fresh.Refs.Read()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := fresh.Search(view, SearchQuery{Text: "port 4711", Most: 10}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				fresh.searched.close()
				b.StartTimer()
			}
		})
	}
}

// fillTalk makes a store with n messages in one session, in packs and not in the forest.
func fillTalk(b *testing.B, n int) *Store {
	b.Helper()
	s := initStore(b, env(b.TempDir(), nil))
	r := rand.New(rand.NewPCG(1, 1))
	for left := n; left > 0; left -= 4096 {
		talkOn(b, s, r, min(left, 4096))
	}
	return s
}

func talkOn(b *testing.B, s *Store, r *rand.Rand, n int) {
	b.Helper()
	batch := make([]Message, n)
	for i := range batch {
		batch[i] = Message{Role: []string{"user", "model"}[r.IntN(2)], Text: chatter(r)}
	}
	if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
		b.Fatal(err)
	}
}

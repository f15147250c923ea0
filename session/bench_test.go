package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/session/view"
)

// fill makes a store with n messages in one session, graduated and compacted, on the disk that the system has for temporary files.
func fill(b *testing.B, n int) *Store {
	b.Helper()
	e := env(b.TempDir(), nil)
	e.Now = time.Now
	s := initStore(b, e)
	r := rand.New(rand.NewPCG(1, 1))
	for left := n; left > 0; left -= 4096 {
		batch := make([]Message, 0, 4096)
		for range min(left, 4096) {
			batch = append(batch, Message{Role: []string{"user", "model"}[r.IntN(2)], Text: chatter(r)})
		}
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
	}
	if n > 0 {
		compact(b, s, "talk")
	}
	return s
}

// A message at a time, durable, graduation and leaves included, in one process.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := fill(b, n)
			r := rand.New(rand.NewPCG(2, 2))
			for b.Loop() {
				say(b, s, "talk", "user", chatter(r))
			}
		})
	}
}

// Batches of 4,096 messages, each durable before the next, without graduation.
func BenchmarkBulk(b *testing.B) {
	s := fill(b, 0)
	r := rand.New(rand.NewPCG(1, 1))
	batch := make([]Message, 4096)
	for i := range batch {
		batch[i] = Message{Role: "user", Text: chatter(r)}
	}
	b.ResetTimer()
	n := 0
	for b.Loop() {
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
		n += len(batch)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
}

// Reading verbs on a store of 100,000 messages.
func BenchmarkRead(b *testing.B) {
	s := fill(b, 100000)
	v, err := s.Refs.Read()
	if err != nil {
		b.Fatal(err)
	}
	tip := v.Get(RefName("talk", MainBranch)).ID
	clusters, err := s.Clusters(v)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("log20", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Log(tip, LogOptions{Limit: 20}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			in, err := s.RenderInput(v, "talk", MainBranch)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := view.Render(in, view.Options{Budget: 4000}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("expand", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n = 0
			stop := fmt.Errorf("enough")
			err := s.Expand(v, clusters[0].ID, ExpandOptions{}, func(*Shown) error {
				if n++; n == 50 {
					return stop
				}
				return nil
			})
			if err != nil && err != stop {
				b.Fatal(err)
			}
		}
	})
}

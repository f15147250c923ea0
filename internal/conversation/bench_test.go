package conversation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/recall"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
	"github.com/gemini-ctx/ctx/internal/view"
)

// fill makes a store with n messages in one session, graduated and compacted, on the disk that the
// system has for temporary files.
func fill(b *testing.B, n int) *session.Store {
	b.Helper()
	e := storetest.Env(b.TempDir(), nil)
	e.Now = time.Now
	s := storetest.Init(b, e)
	r := rand.New(rand.NewPCG(1, 1))
	for left := n; left > 0; left -= 4096 {
		batch := make([]conversation.Message, 0, 4096)
		for range min(left, 4096) {
			batch = append(batch,
				conversation.Message{Role: []string{"user", "model"}[r.IntN(2)],
					Text: storetest.Chatter(r)})
		}
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
	}
	if n > 0 {
		storetest.Compact(b, s, "talk")
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
				storetest.Say(b, s, "talk", "user", storetest.Chatter(r))
			}
		})
	}
}

// Batches of 4,096 messages, each durable before the next, without graduation.
func BenchmarkBulk(b *testing.B) {
	s := fill(b, 0)
	r := rand.New(rand.NewPCG(1, 1))
	batch := make([]conversation.Message, 4096)
	for i := range batch {
		batch[i] = conversation.Message{Role: "user", Text: storetest.Chatter(r)}
	}
	b.ResetTimer()
	n := 0
	for b.Loop() {
		if _, _, err := s.Conversation.Append(context.Background(), "talk", history.MainBranch,
			batch, conversation.AppendOptions{NoGraduation: true}); err != nil {
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
	tip := v.Get(history.RefName("talk", history.MainBranch)).ID
	clusters, err := s.Recall.Clusters(v)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("log20", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Recall.Log(tip, recall.LogOptions{Limit: 20}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			o := view.Options{Budget: 4000}
			in, err := s.Recall.RenderInput(v, "talk", history.MainBranch, o)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := view.Render(in, o); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("expand", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n = 0
			stop := fmt.Errorf("enough")
			err := s.Recall.Expand(v, clusters[0].ID,
				recall.ExpandOptions{}, func(*history.Shown) error {
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

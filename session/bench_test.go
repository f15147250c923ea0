package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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

// Graduation in process: the time of one message, as a mean and at the 95th percentile over units.
func BenchmarkGraduate(b *testing.B) {
	s := fill(b, 20000)
	r := rand.New(rand.NewPCG(3, 3))
	var batch []Message
	for i := range 4096 {
		batch = append(batch, Message{Role: []string{"user", "model"}[i%2], Text: chatter(r)})
	}
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		if _, _, err := s.Append(context.Background(), "talk", MainBranch, batch, AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		err := s.locked(context.Background(), func(t *tx) error {
			h, err := t.wholeHead("talk", MainBranch, t.view.Get(RefName("talk", MainBranch)))
			if err != nil {
				return err
			}
			for {
				start := time.Now()
				done, err := t.graduate(h, 1)
				if err != nil || done.entries == 0 {
					return err
				}
				took = append(took, time.Since(start)/time.Duration(done.entries))
			}
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs/message")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs/message")
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
			o := view.Options{Budget: 4000}
			in, err := s.RenderInput(v, "talk", MainBranch, o)
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

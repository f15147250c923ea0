package clusters_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// past makes a store with n graduated messages, whose clusters are summarized, and all but ten
// of them evicted.
func past(b *testing.B, n int) *session.Store {
	b.Helper()
	e := storetest.Env(b.TempDir(), nil)
	e.Now = time.Now
	s := storetest.Init(b, e)
	s.History.Warn = nil
	r := rand.New(rand.NewPCG(1, 1))
	for batch := range slices.Chunk(turns(r, n), 4096) {
		if _, _, err := s.Conversation.Append(context.Background(), "old", history.MainBranch,
			batch, conversation.AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
	}
	storetest.Compact(b, s, "old")
	return s
}

// turns is what an agent says in some exchanges: prompts, calls with their results, and answers, so
// that pieces of an exchange begin with results.
func turns(r *rand.Rand, n int) []conversation.Message {
	var list []conversation.Message
	for len(list) < n {
		list = append(list, conversation.Message{Role: "user", Text: storetest.Chatter(r)})
		for range 3 + r.IntN(4) {
			id := fmt.Sprintf("call-%d", r.Uint64())
			parts := fmt.Sprintf(
				`[{"functionCall":{"id":%q,"name":"shell","args":{"command":%q}}}]`, id,
				storetest.Chatter(r))
			list = append(list, conversation.Message{Role: "model", Parts: json.RawMessage(parts)})
			parts = fmt.Sprintf(
				`[{"functionResponse":{"id":%q,"name":"shell","response":{"output":%q}}}]`, id,
				storetest.Chatter(r))
			list = append(list, conversation.Message{Role: "tool", Parts: json.RawMessage(parts)})
		}
		list = append(list, conversation.Message{Role: "model", Text: storetest.Chatter(r)})
	}
	return list[:n]
}

// Graduation in process, in a store of so many graduated messages: the time for a message, the
// decision alone, and as an append that graduates what is due: with it durable, and each leave.
func BenchmarkGraduate(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		s := past(b, n)
		b.Run(fmt.Sprintf("decide/%d", n), func(b *testing.B) { benchmarkDecide(b, s) })
		b.Run(fmt.Sprintf("append/%d", n), func(b *testing.B) { benchmarkAppendOne(b, s) })
	}
}

func benchmarkDecide(b *testing.B, s *session.Store) {
	r := rand.New(rand.NewPCG(3, 3))
	var took []time.Duration
	round := 0
	for b.Loop() {
		b.StopTimer()
		round++
		session := fmt.Sprintf("decide-%d-%d", b.N, round)
		if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
			turns(r, 1024), conversation.AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		err := s.Store.Locked(context.Background(), func(t *store.Tx) error {
			h, err := s.History.Backlog(session, history.MainBranch,
				t.View.Get(history.RefName(session, history.MainBranch)))
			if err != nil {
				return err
			}
			// Every append finds them in the cache
			if err := s.Clusters.Begin(t).LoadCandidates(); err != nil {
				return err
			}
			all, gone := h.Items, 0 // an append sees the window, not what is yet to come
			for end := range all {
				h.Items = all[gone : end+1]
				start := time.Now()
				done, err := s.Clusters.Begin(t).Graduate(h, 1)
				if err != nil {
					return err
				}
				if done.Entries > 0 {
					took = append(took, time.Since(start)/time.Duration(done.Entries))
				}
				gone += done.Entries
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	report(b, took)
}

func benchmarkAppendOne(b *testing.B, s *session.Store) {
	r := rand.New(rand.NewPCG(4, 4))
	session := fmt.Sprintf("append-%d", b.N)
	var took []time.Duration
	var list []conversation.Message
	for b.Loop() {
		if len(list) == 0 {
			list = turns(r, 256)
		}
		start := time.Now()
		if _, _, err := s.Conversation.Append(context.Background(), session, history.MainBranch,
			list[:1], conversation.AppendOptions{}); err != nil {
			b.Fatal(err)
		}
		took, list = append(took, time.Since(start)), list[1:]
	}
	report(b, took)
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	for name, at := range map[string]int{"p50": 50, "p95": 95, "p99": 99} {
		b.ReportMetric(float64(took[len(took)*at/100].Nanoseconds())/1000, name+"-µs/message")
	}
}

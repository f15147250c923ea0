package clusters_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/forestfile"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/store"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

// past makes a store with n graduated messages: clusters of twenty, each summarized, and all but
// ten evicted. No score is asked, so that a million takes a minute.
func past(b *testing.B, n int) *session.Store {
	b.Helper()
	e := storetest.Env(b.TempDir(), nil)
	e.Now = time.Now
	s := storetest.Init(b, e)
	s.History.Warn = nil
	const each = 20
	r := rand.New(rand.NewPCG(1, 1))
	doc := &forestfile.Document{Head: forestfile.Head{Store: "00000000000000000000000000000000",
		Forest: history.MainForest}}
	when := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		when = when.Add(time.Second)
		text := storetest.Chatter(r)
		doc.Nodes = append(doc.Nodes, forestfile.Node{
			ID: i, Stable: format.Sum(fmt.Appendf(nil, "node %d", i)), Parent: i / each * each,
			Session: "old", Seq: uint64(i + 1),
			Role: []string{"user", "model"}[i%2], Time: forestfile.Time{Time: when}, Text: &text,
		})
	}
	for start := 0; start < n; start += each {
		c := forestfile.Cluster{Root: start,
			Stable: format.Sum(fmt.Appendf(nil, "cluster %d", start)), Number: uint64(start / each),
			Arrival: uint64(start + each)}
		for m := start; m < min(start+each, n); m++ {
			c.Members = append(c.Members, m)
		}
		c.Covers = []format.ID{format.Sum(fmt.Appendf(nil, "summary %d", start))}
		doc.Lineage = append(doc.Lineage, forestfile.Summary{
			Stable: c.Covers[0], Root: start, Members: c.Members, Parents: []format.ID{},
			Generation: 1,
			Summarizer: "test", Version: "1", Text: doc.Nodes[start].Text,
		})
		if start+10*each < n {
			c.Tombstone = &forestfile.Tombstone{
				Stable: format.Sum(fmt.Appendf(nil, "stone %d", start)),
				Line:   doc.Nodes[start].Said(), Eviction: c.Number,
			}
		}
		doc.Clusters = append(doc.Clusters, c)
	}
	var file bytes.Buffer
	if err := forestfile.Encode(&file, doc); err != nil {
		b.Fatal(err)
	}
	if _, err := s.ForestFile.Import(context.Background(), &file, "old"); err != nil {
		b.Fatal(err)
	}
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
	for _, n := range []int{1000, 1000000} {
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
			if _, err := s.Clusters.Begin(t).Candidates(); err != nil {
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

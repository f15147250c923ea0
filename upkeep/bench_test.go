package upkeep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/gemini-ctx/ctx/session"
)

// talkative makes a store of n messages; CTX_BENCH_ENTRIES sets n, 20,000 if it is not set.
func talkative(b *testing.B) *session.Store {
	n := 20000
	if text := os.Getenv("CTX_BENCH_ENTRIES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	s := create(b)
	r := rand.New(rand.NewPCG(1, 1))
	for done := 0; done < n; {
		var batch []session.Message
		for range min(4096, n-done) {
			batch = append(batch, session.Message{Role: "user", Text: chatter(r) + " " + chatter(r)})
		}
		name := fmt.Sprint("s", done/20000)
		if _, _, err := s.Append(context.Background(), name, session.MainBranch, batch, session.AppendOptions{NoGraduation: true}); err != nil {
			b.Fatal(err)
		}
		done += len(batch)
	}
	return s
}

// go test -bench . -run - ./upkeep
func BenchmarkGC(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := talkative(b)
		b.StartTimer()
		done, err := GC(context.Background(), s, GCOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(done.Packed), "objects/op")
		b.ReportMetric(float64(done.After)/float64(done.Before), "after/before")
	}
}

func BenchmarkFsck(b *testing.B) {
	s := talkative(b)
	for b.Loop() {
		report, err := Fsck(context.Background(), s, FsckOptions{})
		if err != nil || len(report.Faults) > 0 {
			b.Fatal(err, report.Faults)
		}
	}
}

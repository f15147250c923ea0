package gc_test

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/gc"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
)

// go test -bench . -run - ./internal/maintenance/gc
func BenchmarkGC(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := kit.Talkative(b)
		b.StartTimer()
		done, err := gc.Run(context.Background(), s.Opened, gc.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(done.Packed), "objects/op")
		b.ReportMetric(float64(done.After)/float64(done.Before), "after/before")
	}
}

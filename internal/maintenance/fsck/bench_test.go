package fsck_test

import (
	"context"
	"testing"

	"github.com/gemini-ctx/ctx/internal/maintenance/fsck"
	"github.com/gemini-ctx/ctx/internal/maintenance/kit"
)

func BenchmarkFsck(b *testing.B) {
	s := kit.Talkative(b)
	for b.Loop() {
		report, err := fsck.Run(context.Background(), s.Opened, fsck.Options{})
		if err != nil || len(report.Faults) > 0 {
			b.Fatal(err, report.Faults)
		}
	}
}

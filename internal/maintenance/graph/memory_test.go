package graph

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// A run leaves the limit as it was, and does not touch one that was set before.
func TestFrugalRestores(t *testing.T) {
	for _, tt := range []struct{ before, during int64 }{{math.MaxInt64, enough}, {1 << 40, 1 << 40}} {
		was := debug.SetMemoryLimit(tt.before)
		restore := Frugal()
		if got := debug.SetMemoryLimit(-1); got != tt.during {
			t.Errorf("with a limit of %d: it is %d during the run, want %d", tt.before, got, tt.during)
		}
		restore()
		runtime.GC()
		if got := debug.SetMemoryLimit(was); got != tt.before {
			t.Errorf("with a limit of %d: it is %d after the run", tt.before, got)
		}
	}
}

// The limit follows what is in use, and never falls below what a run should take.
func TestLimitFor(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		live uint64
		want int64
	}{{0, enough}, {150 * mb, enough}, {300 * mb, 366 * mb}, {600 * mb, 716 * mb}} {
		if got := limitFor(tt.live); got != tt.want {
			t.Errorf("%d bytes in use: the limit is %d, want %d", tt.live, got, tt.want)
		}
	}
}

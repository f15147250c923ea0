package graph

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// A run leaves the limit as it was, and does not touch one that was set before.
func TestFrugalRestores(t *testing.T) {
	for _, tt := range []struct{ before, during int64 }{{math.MaxInt64, Upkeep},
		{1 << 40, 1 << 40}} {
		was := debug.SetMemoryLimit(tt.before)
		restore := Frugal(Upkeep)
		if got := debug.SetMemoryLimit(-1); got != tt.during {
			t.Errorf("with a limit of %d: it is %d during the run, want %d", tt.before,
				got, tt.during)
		}
		restore()
		runtime.GC()
		if got := debug.SetMemoryLimit(was); got != tt.before {
			t.Errorf("with a limit of %d: it is %d after the run", tt.before, got)
		}
	}
}

// A limit grows if it is nearly reached and the program allocates little between collections, and
// falls if it allocates much, but not below what a run should take.
func TestNextLimit(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		limit       int64
		held, fresh uint64
		want        int64
	}{
		{800 * mb, 100 * mb, 1 * mb, 800 * mb},
		{800 * mb, 750 * mb, 101 * mb, 800 * mb},
		{800 * mb, 750 * mb, 10 * mb, 850 * mb},
		{800 * mb, 900 * mb, 0, 850 * mb},
		{800 * mb, 750 * mb, 200 * mb, 800 * mb},
		{800 * mb, 750 * mb, 201 * mb, 700 * mb},
		{Upkeep + mb, 170 * mb, 150 * mb, Upkeep},
		{Upkeep, 170 * mb, 150 * mb, Upkeep},
	} {
		if got := nextLimit(tt.limit, Upkeep, tt.held, tt.fresh); got != tt.want {
			t.Errorf("%d bytes held, %d fresh: the limit %d is followed by %d, want %d", tt.held,
				tt.fresh, tt.limit, got, tt.want)
		}
	}
}

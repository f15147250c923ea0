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

// A limit grows only if it is nearly reached and the program allocates little between collections.
func TestWidened(t *testing.T) {
	const mb = 1 << 20
	for _, tt := range []struct {
		held, fresh uint64
		want        int64
	}{
		{100 * mb, 1 * mb, 800 * mb}, {750 * mb, 101 * mb, 800 * mb}, {750 * mb, 10 * mb, 900 * mb}, {900 * mb, 0, 900 * mb},
	} {
		if got := widened(800*mb, tt.held, tt.fresh); got != tt.want {
			t.Errorf("%d bytes held, %d fresh: the limit is %d, want %d", tt.held, tt.fresh, got, tt.want)
		}
	}
}

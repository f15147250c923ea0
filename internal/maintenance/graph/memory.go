package graph

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// enough is how much memory a run over all of a store should take, in bytes. What it has to keep
// of a million messages fits in.
const enough = 224 << 20

// Frugal makes the garbage collector work harder once the program takes much memory, until restore
// is called: otherwise it lets the heap grow to twice of what is in use. Where more is in use than
// fits into enough, the limit follows it: a collector that can free nothing would take most of the
// time. Frugal leaves alone a limit that the environment sets.
func Frugal() (restore func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(enough)
	over := make(chan struct{})
	afterCollection(over)
	return func() {
		close(over)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

// afterCollection sets the limit after each collection, until over is closed. The collector itself
// calls it, by the finalizer of an object that nobody holds.
func afterCollection(over <-chan struct{}) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		select {
		case <-over:
			return
		default:
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		if metrics.Read(live); live[0].Value.Kind() == metrics.KindUint64 {
			debug.SetMemoryLimit(limitFor(live[0].Value.Uint64()))
		}
		afterCollection(over)
	})
}

// limitFor returns the limit until the next collection. live is what the last one did not free.
func limitFor(live uint64) int64 {
	return max(enough, int64(live+live/6+16<<20))
}

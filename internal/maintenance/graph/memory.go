package graph

import (
	"math"
	"runtime"
	"runtime/debug"
)

// How much memory is enough, in bytes.
const (
	Upkeep = 192 << 20 // for all of a store: what has to be kept of a million messages fits in
	Import = 168 << 20
)

// Frugal makes the garbage collector work harder once the program takes more than enough memory,
// until restore is called: otherwise it lets the heap grow to twice of what is in use. Where more
// is in use than fits into that, the limit follows it: a collector that can free nothing would take
// most of the time. Frugal leaves alone a limit that is set already, as the environment can.
func Frugal(enough int64) (restore func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(enough)
	over := make(chan struct{})
	afterCollection(over, enough, 0)
	return func() {
		close(over)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

// afterCollection sets the limit after each collection, until over is closed. The collector itself
// calls it, by the finalizer of an object that nobody holds. allocated is how many bytes the
// program had allocated at the collection before.
func afterCollection(over <-chan struct{}, enough int64, allocated uint64) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		select {
		case <-over:
			return
		default:
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		limit := debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(nextLimit(limit, enough, m.HeapAlloc, m.TotalAlloc-allocated))
		afterCollection(over, enough, m.TotalAlloc)
	})
}

// nextLimit returns the limit after a collection. held is the heap, garbage that is not swept yet
// included, and fresh what was allocated since the collection before. A limit that is nearly
// reached again after an eighth of it grows by a sixteenth, and one that has room for a quarter of
// it falls by an eighth, down to least.
func nextLimit(limit, least int64, held, fresh uint64) int64 {
	eighth := limit / 8
	switch {
	case held > uint64(limit-eighth) && fresh < uint64(eighth):
		return limit + eighth/2
	case fresh > uint64(limit/4):
		return max(least, limit-eighth)
	}
	return limit
}

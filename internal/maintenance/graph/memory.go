package graph

import (
	"math"
	"runtime"
	"runtime/debug"
)

// enough is how much memory a run over all of a store should take, in bytes. What it has to keep
// of a million messages fits in.
const enough = 224 << 20

// Frugal is FrugalTo for a run over all of a store.
func Frugal() (restore func()) { return FrugalTo(enough) }

// FrugalTo makes the garbage collector work harder once the program takes so many bytes, until
// restore is called: otherwise it lets the heap grow to twice of what is in use. Where more is in
// use than fits into that, the limit grows with it: a collector that can free nothing would take
// most of the time. FrugalTo leaves alone a limit that is set already, as the environment can.
func FrugalTo(bytes int64) (restore func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(bytes)
	over := make(chan struct{})
	afterCollection(over, 0)
	return func() {
		close(over)
		debug.SetMemoryLimit(math.MaxInt64)
	}
}

// afterCollection raises the limit after each collection if it has become too narrow, until over is
// closed. The collector itself calls it, by the finalizer of an object that nobody holds. allocated
// is how many bytes the program had allocated at the collection before.
func afterCollection(over <-chan struct{}, allocated uint64) {
	runtime.SetFinalizer(&struct{ _ [64]byte }{}, func(any) {
		select {
		case <-over:
			return
		default:
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		limit := debug.SetMemoryLimit(-1)
		debug.SetMemoryLimit(widened(limit, m.HeapAlloc, m.TotalAlloc-allocated))
		afterCollection(over, m.TotalAlloc)
	})
}

// widened returns the next limit after a collection. held is the heap, garbage that is not swept
// yet included, and fresh what was allocated since the collection before. A limit that is nearly
// reached again after an eighth of it grows by an eighth.
func widened(limit int64, held, fresh uint64) int64 {
	if eighth := limit / 8; held > uint64(limit-eighth) && fresh < uint64(eighth) {
		return limit + eighth
	}
	return limit
}

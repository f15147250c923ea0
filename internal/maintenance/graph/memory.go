package graph

import (
	"math"
	"runtime/debug"
)

// enough is how much memory a run over all of a store should take, in bytes. What it has to keep
// of a million messages fits in.
const enough = 224 << 20

// Frugal makes the garbage collector work harder once the program takes much memory, until restore
// is called: otherwise it lets the heap grow to twice of what is in use. It leaves alone a limit
// that the environment sets.
func Frugal() (restore func()) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		return func() {}
	}
	debug.SetMemoryLimit(enough)
	return func() { debug.SetMemoryLimit(math.MaxInt64) }
}

package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// earlyGarbage is the value of GOGC until the first collection. A heap of 4 MB, where Go begins to
// collect, becomes one of 16 MB: most commands end before that, and half of the time of a short one went
// into collecting. After the first collection the usual value holds.
const earlyGarbage = 400

// putOffCollection lets a short command end before memory is collected. An environment that sets GOGC
// decides by itself.
func putOffCollection() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(earlyGarbage)
	first := new([64]byte) // small objects without pointers share their memory, and would not go alone
	runtime.AddCleanup(first, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

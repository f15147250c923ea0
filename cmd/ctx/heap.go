package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

const (
	// earlyGarbage is the value of GOGC until the first collection. The heap then grows to 16 MB
	// before Go collects, instead of 4 MB. Most commands end before that; collections took half of
	// the time of a short one. After the first collection the usual value applies.
	earlyGarbage = 400
	usualGarbage = 100 // of GOGC, where nobody sets it
)

// delays is how often the first collection has been put off.
var delays atomic.Int32

// putOffCollection delays the next garbage collection. It does nothing if GOGC is set.
func putOffCollection() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(earlyGarbage)
	// Small objects without pointers share their memory, and would not go alone
	first := new([64]byte)
	runtime.AddCleanup(first, func(delay int32) {
		if delay == delays.Load() {
			debug.SetGCPercent(usualGarbage)
		}
	}, delays.Add(1))
}

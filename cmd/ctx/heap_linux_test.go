package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// The memory of large pages is the heap's afterwards and nothing holds it; the next collection is
// late again.
func TestLargePages(t *testing.T) {
	t.Setenv("GOGC", "")
	usual := debug.SetGCPercent(usualGarbage)
	defer debug.SetGCPercent(usual)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if !takeLargePages() {
		t.Skip("SKIPPED: the kernel has no large pages")
	}
	if percent := debug.SetGCPercent(usualGarbage); percent != earlyGarbage {
		t.Errorf("GOGC is %d, want %d", percent, earlyGarbage)
	}
	runtime.ReadMemStats(&after)
	if after.HeapSys < largeHeap || after.HeapAlloc >= before.HeapAlloc+largeHeap/2 {
		t.Errorf("the heap has %d bytes, of which %d are in use, and %d were", after.HeapSys,
			after.HeapAlloc, before.HeapAlloc)
	}
}

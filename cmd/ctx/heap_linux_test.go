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
	if !takeLargePages() {
		t.Skip("the kernel has no large pages")
	}
	if percent := debug.SetGCPercent(usualGarbage); percent != earlyGarbage {
		t.Errorf("GOGC is %d, want %d", percent, earlyGarbage)
	}
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapSys < largeHeap || m.HeapAlloc >= largeHeap {
		t.Errorf("the heap has %d bytes, and %d are in use", m.HeapSys, m.HeapAlloc)
	}
}

package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// The memory for large pages belongs to the heap afterwards: nothing holds it.
func TestLargePages(t *testing.T) {
	t.Setenv("GOGC", "")
	usual := debug.SetGCPercent(usualGarbage)
	defer debug.SetGCPercent(usual)
	useLargePages()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc >= largeHeap {
		t.Errorf("%d bytes are in use", m.HeapAlloc)
	}
	if m.HeapIdle-m.HeapReleased > 2*largeHeap {
		t.Errorf("%d bytes are kept idle", m.HeapIdle-m.HeapReleased)
	}
}

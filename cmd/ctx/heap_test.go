package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// After the first collection the usual value of GOGC holds again.
func TestCollectionIsPutOff(t *testing.T) {
	t.Setenv("GOGC", "")
	usual := debug.SetGCPercent(100)
	defer debug.SetGCPercent(usual)
	putOffCollection()
	if early := debug.SetGCPercent(earlyGarbage); early != earlyGarbage {
		t.Fatalf("before the first collection it is %d", early)
	}
	for range 1000 {
		runtime.GC()
		now := debug.SetGCPercent(earlyGarbage)
		debug.SetGCPercent(now)
		if now == 100 {
			return
		}
		runtime.Gosched()
	}
	t.Error("the usual value did not come back")
}

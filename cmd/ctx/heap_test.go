package main

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
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

// What a run made is garbage after it: a process may run any number of commands.
func TestRunIsForgotten(t *testing.T) {
	gone := make(chan string, 2)
	for _, args := range [][]string{nil, {"log"}} {
		root := newRoot(&app{world: testWorld(t.TempDir(), "")}, args)
		runtime.AddCleanup(root, func(name string) { gone <- name }, strings.Join(args, " "))
	}
	for range 2 {
		runtime.GC()
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			t.Fatal("the commands of a run stay in memory after it")
		}
	}
}

package lists

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// OnAll calls do for each number below n, in their order and as many at a time as there are
// processors. It returns after the last call.
func OnAll(n int, do func(i int)) {
	var wait sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}

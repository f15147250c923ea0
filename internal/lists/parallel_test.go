package lists_test

import (
	"sync/atomic"
	"testing"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// Each number has one call, however many there are.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]atomic.Int32, n)
		lists.OnAll(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("%d of %d was called %d times", i, n, got)
			}
		}
	}
}

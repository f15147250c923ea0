package objects

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Results come in the order of the numbers. After an error nothing is taken or begun, and no work
// goes on.
func TestEachInTurn(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct{ n, fail int }{{0, -1}, {1, -1}, {100, -1}, {1, 0}, {100, 0}, {100, 50}, {100, 99}} {
		var under atomic.Int64
		var got []int
		err := eachInTurn(c.n, func(i int) int {
			under.Add(1)
			defer under.Add(-1)
			return i
		}, func(i int) error {
			if i == c.fail {
				return failed
			}
			got = append(got, i)
			return nil
		})
		want := []int{}
		for i := range c.n {
			if i == c.fail {
				break
			}
			want = append(want, i)
		}
		if !slices.Equal(got, want) || errors.Is(err, failed) != (c.fail >= 0) || under.Load() != 0 {
			t.Errorf("%+v: took %v, %v, %d under way", c, got, err, under.Load())
		}
	}
}

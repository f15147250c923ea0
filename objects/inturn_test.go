package objects

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// Results come in the order of the numbers. After an error nothing is taken or begun, and no work
// goes on. Work that takes much memory goes on alone.
func TestTurns(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct{ n, fail, large int }{
		{0, -1, 0}, {1, -1, 0}, {100, -1, 0}, {1, 0, 0}, {100, 0, 0}, {100, 50, 0}, {100, 99, 0},
		{1, -1, 1}, {100, -1, 1}, {100, -1, 7}, {1, 0, 1}, {100, 49, 7}, {100, 50, 7}, {100, 98, 7},
	} {
		var under atomic.Int64
		var got []int
		begun := 0
		waiting := newTurns(func(i int) error {
			if i == c.fail {
				return failed
			}
			got = append(got, i)
			return nil
		})
		for i := range c.n {
			isLarge := c.large > 0 && i%c.large == 0
			begin := waiting.begin
			if isLarge {
				begin = waiting.alone
			}
			err := begin(func() int {
				defer under.Add(-1)
				if n := under.Add(1); isLarge && (n > 1 || len(got) < i) {
					t.Errorf("%+v: beside %d: %d under way, %d taken", c, i, n-1, len(got))
				}
				return i
			})
			if begun++; err != nil {
				break
			}
			if isLarge && len(got) != i+1 {
				t.Errorf("%+v: %d was not taken at once", c, i)
			}
		}
		err := waiting.end()
		want := []int{}
		for i := range c.n {
			if i == c.fail {
				break
			}
			want = append(want, i)
		}
		if !slices.Equal(got, want) || errors.Is(err, failed) != (c.fail >= 0) ||
			under.Load() != 0 {
			t.Errorf("%+v: took %v, %v, %d under way", c, got, err, under.Load())
		}
		if most := c.fail + 2 + waiting.most; c.fail >= 0 && begun > most {
			t.Errorf("%+v: %d were begun", c, begun)
		}
	}
}

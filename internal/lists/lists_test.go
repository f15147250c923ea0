package lists

import (
	"cmp"
	"maps"
	"slices"
	"testing"
)

func TestBy(t *testing.T) {
	words := []string{"pear", "fig", "plum", "apple", "date"}
	got := By(words, func(w string) int { return len(w) }, slices.Sort)
	if want := []string{"fig", "pear", "plum", "date", "apple"}; !slices.Equal(got, want) {
		t.Errorf("By length: %q, want %q", got, want)
	}
}

func TestSet(t *testing.T) {
	if got := slices.Sorted(maps.Keys(Set([]int{3, 1, 3}))); !slices.Equal(got, []int{1, 3}) {
		t.Error(got)
	}
}

func TestAscend(t *testing.T) {
	for _, list := range [][]int{nil, {1}, {1, 2, 3}} {
		if !Ascend(list, cmp.Compare) {
			t.Error(list)
		}
	}
	for _, list := range [][]int{{1, 1}, {1, 3, 2}} {
		if Ascend(list, cmp.Compare) {
			t.Error(list)
		}
	}
}

func TestHeap(t *testing.T) {
	h := Heap[int]{List: []int{4, 9, 1, 7}, Before: func(a, b int) bool { return a > b }}
	h.Init()
	h.Add(8)
	h.List[0] = 2 // the 9
	h.Settle()
	var got []int
	for len(h.List) > 0 {
		got = append(got, h.Take())
	}
	if want := []int{8, 7, 4, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

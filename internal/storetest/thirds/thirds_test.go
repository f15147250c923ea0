package thirds

import (
	"slices"
	"testing"
)

// Three thirds have every case once, and `all` has every case.
func TestOf(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7}
	var seen []int
	for _, n := range []string{"0", "1", "2"} {
		t.Setenv(variable, n)
		part := Of(t, cases)
		if len(part) > 3 {
			t.Errorf("third %s has %v", n, part)
		}
		if ranged := slices.Collect(Range(t, len(cases))); !slices.Equal(ranged, part) {
			t.Errorf("third %s: Of has %v, and Range %v", n, part, ranged)
		}
		for _, i := range part {
			if !Mine(t, i) {
				t.Errorf("third %s: Of has %d, and Mine does not", n, i)
			}
		}
		seen = append(seen, part...)
	}
	slices.Sort(seen)
	if !slices.Equal(seen, cases) {
		t.Errorf("three thirds have %v", seen)
	}
	t.Setenv(variable, "all")
	if got := Of(t, cases); !slices.Equal(got, cases) {
		t.Errorf("all thirds have %v", got)
	}
}

// Where nobody says which third runs, the commit does, and an archive has the first.
func TestOfCommit(t *testing.T) {
	for id, want := range map[string]uint64{
		"0000000cd1c95a2e": 12, "00000005": 5, "": 0, "none": 0} {
		if got := ofCommit(id); got != want {
			t.Errorf("number of %q: %d, not %d", id, got, want)
		}
	}
	t.Setenv(variable, "")
	if got := Of(t, []int{0, 1, 2}); len(got) != 1 {
		t.Errorf("a third of three cases is %v", got)
	}
}

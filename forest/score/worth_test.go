package score

import "testing"

// A term is worth more the more often and the later it occurred: one occurrence is worth 16 units
// of age. Beyond 16 occurrences and beyond 255 units nothing more counts.
func TestWorth(t *testing.T) {
	for _, tt := range []struct {
		n, last, now uint32
		want         int
	}{
		{1, 100, 100, 16 + 255},
		{1, 90, 100, 16 + 245},
		{2, 84, 100, 16 + 255},
		{16, 100, 100, maxWorth},
		{40, 100, 100, maxWorth},
		{1, 0, 255, 16},
		{1, 0, 1000, 16},
	} {
		term := clusterTerm{last: tt.last}
		term.n = 0
		for range tt.n {
			term.n++
		}
		if got := term.worth(tt.now); got != tt.want {
			t.Errorf("%d times, last at %d of %d: %d, want %d", tt.n, tt.last, tt.now, got, tt.want)
		}
	}
}

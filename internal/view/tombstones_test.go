package view

import (
	"strings"
	"testing"
)

// What the budget leaves goes to tombstones: their first share is an eighth of it, and where the
// rest needs no more, all are listed.
func TestTombstonesGetTheRest(t *testing.T) {
	in := flood()
	in.Clusters, in.Evicted, in.OlderTombstones = in.Clusters[:1], nil, 0
	full := string(render(t, in, Options{}).Bytes)
	if n := strings.Count(full, "\n<evicted "); n != len(in.Tombstones) {
		t.Fatalf("without a budget %d tombstones are listed", n)
	}
	const budget = 700 // an eighth of it is not enough for all of them
	s := string(render(t, in, Options{Budget: budget}).Bytes)
	if n := strings.Count(s, "\n<evicted "); n != len(in.Tombstones) {
		t.Errorf("%d of %d tombstones are listed in\n%s", n, len(in.Tombstones), s)
	}
	if strings.Contains(s, " more>") {
		t.Errorf("all are listed, and more are said to be there:\n%s", s)
	}
}

package format_test

import (
	"runtime"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// Lists in lists are read in a time, and into a room, that grow as the header does.
func TestListsInListsAreLinear(t *testing.T) {
	bytesOf := func(n int) uint64 {
		f := format.Forest{Name: "main"}
		for i := range uint64(n) {
			f.Clusters = append(f.Clusters, format.Cluster{Number: i, Node: format.ID{1}, Count: 2,
				Arrival: 2*i + 1, Covers: []format.Cover{{Summary: format.ID{2}, Count: 2}}})
		}
		f.Opened, f.Arrivals = uint64(n), uint64(2*n)
		header, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := format.DecodeForest(header); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if one, ten := bytesOf(300), bytesOf(3000); ten > 20*one {
		t.Errorf("300 clusters take %d bytes, 3,000 take %d", one, ten)
	}
}

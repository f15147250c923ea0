// Package durabletest chooses the durable calls at which a test stops a run, to see what a crash
// leaves behind, and gives tests directories in memory.
package durabletest

import (
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/internal/durable"
)

// Stop is a durable call at which a run stops: before the call, or with half of its data written.
type Stop struct {
	N    int    // the number of the call, from 1
	Call string // the Op of the call and the extension of its file
	Torn bool   // half of the data is written
}

// FS returns a file system that stops at p.
func (p Stop) FS() *durable.FS {
	return &durable.FS{Hook: func(c durable.Call) error {
		switch {
		case c.N < p.N:
			return nil
		case p.Torn && c.N == p.N:
			return &durable.Torn{Keep: len(c.Data) / 2}
		}
		return durable.ErrStopped
	}}
}

// Stops runs do once and returns where to stop it: at every call, but in a long run of equal
// calls, such as hundreds of removals, only at the first, the middle and the last. Writes also
// stop half way.
func Stops(do func(*durable.FS)) []Stop {
	var calls []Stop
	writes := map[int]bool{}
	do(&durable.FS{Hook: func(c durable.Call) error {
		calls = append(calls, Stop{N: c.N, Call: c.Op + " " + filepath.Ext(c.Path)})
		writes[c.N] = c.Op == durable.OpWrite
		return nil
	}})
	var points []Stop
	for from := 0; from < len(calls); {
		end := from
		for end < len(calls) && calls[end].Call == calls[from].Call {
			end++
		}
		for _, i := range slices.Compact([]int{from, (from + end - 1) / 2, end - 1}) {
			points = append(points, calls[i])
			if half := calls[i]; writes[half.N] {
				half.Torn = true
				points = append(points, half)
			}
		}
		from = end
	}
	return points
}

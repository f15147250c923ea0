// Package locktest says where a run can be stopped: for tests of what a crash leaves.
package locktest

import (
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/lock"
)

// Stop is a durable call at which a run is stopped, before it or with half of what it writes.
type Stop struct {
	N    int    // of the call, from 1
	Call string // its op, and how the name of its file ends
	Torn bool
}

// FS is a file system that stops there.
func (p Stop) FS() *lock.FS {
	return &lock.FS{Hook: func(c lock.Call) error {
		switch {
		case c.N < p.N:
			return nil
		case p.Torn && c.N == p.N:
			return &lock.Torn{Keep: len(c.Data) / 2}
		}
		return lock.ErrStopped
	}}
}

// Stops runs do once and returns where to stop it: at every call, but of a long run of equal ones (hundreds of removals) at the first, at one in the middle and at
// the last. Writes are stopped half way too.
func Stops(do func(*lock.FS)) []Stop {
	var calls []Stop
	writes := map[int]bool{}
	do(&lock.FS{Hook: func(c lock.Call) error {
		calls = append(calls, Stop{N: c.N, Call: c.Op + " " + filepath.Ext(c.Path)})
		writes[c.N] = c.Op == lock.OpWrite
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

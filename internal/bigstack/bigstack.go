// Package bigstack gives a goroutine a large stack at once. Go begins with 2 KiB and doubles the
// stack when it is full. Each time it takes a new block of memory, and copies what is there with
// the tables that describe every frame. A short command spends a tenth of its time so.
//
// A program that imports the package has it do so for the main goroutine. The package imports
// nothing, so that Go initializes it among the first.
package bigstack

// room is more than a short command needs. Only memory that is used costs anything.
const room = 48 << 10

func init() { Grow() }

// Grow makes the stack of the calling goroutine large. It stays so until a garbage collection finds
// that little of it is used.
func Grow() { enter(false) }

// enter has a frame of more than room bytes, for which Go makes the stack large enough. It touches
// the array only if use is true.
//
//go:noinline
func enter(use bool) {
	if use {
		var array [room]byte
		fill(&array)
	}
}

//go:noinline
func fill(array *[room]byte) { array[0] = 1 }

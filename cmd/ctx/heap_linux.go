package main

import (
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// largeHeap is how much memory a command gets in large pages, in bytes. Imports and bulk appends
// take little more.
const largeHeap = 128 << 20

// useLargePages has the kernel keep the heap in pages of 2 MB, where it has some and gives them to
// who asks. Go takes memory in pages of 4 KB, and a command that takes 100 MB of them spends a
// seventh of its time so. The price is a garbage collection, so commands with little to do do not
// ask. A second call does nothing.
var useLargePages = sync.OnceFunc(func() { takeLargePages() })

// takeLargePages reports whether the kernel took the advice.
func takeLargePages() bool {
	var b strings.Builder
	b.Grow(largeHeap) // unlike make, it does not write zeros, so that the memory is not taken yet
	if syscall.Madvise(unsafe.Slice(unsafe.StringData(b.String()), largeHeap),
		syscall.MADV_HUGEPAGE) != nil {
		return false
	}
	b.Reset()
	runtime.GC() // the memory is now the heap's, and the kernel remembers the advice
	putOffCollection()
	return true
}

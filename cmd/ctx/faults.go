//go:build faults

package main

import "runtime"

// init keeps the program in one thread, as far as it is one goroutine: who counts its system calls thread by thread then counts the same in every run.
func init() { runtime.LockOSThread() }

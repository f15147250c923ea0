//go:build faults

package main

import "runtime"

// init keeps the program in one thread as far as possible, so that tests count the same system
// calls in every run.
func init() { runtime.LockOSThread() }

// Package kernel runs the real binary under a kernel that kills it, fails its system calls, or
// loses power.
//
// The tests need Linux and the tag faults, and try a sample unless CTX_FAULTS=all:
//
//	go test -tags faults ./internal/faults/kernel
//	CTX_FAULTS=all go test -tags faults -timeout 60m -v ./internal/faults/kernel
//
// Some tests need strace, others need root. A test that cannot run is skipped with a message.
package kernel

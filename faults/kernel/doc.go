// Package kernel has the real binary meet a kernel that kills it, refuses what it asks for, or loses power.
//
// Its tests are Linux's, need the tag faults, and are a sample unless CTX_FAULTS=all:
//
//	go test -tags faults ./faults/kernel
//	CTX_FAULTS=all go test -tags faults -timeout 60m -v ./faults/kernel
//
// strace is needed for some, root for others; what cannot be done is skipped, and says so.
package kernel

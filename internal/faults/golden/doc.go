// Package golden holds stores as released builds wrote them, one for each format version and
// purpose. It tests that this build can read, check, write to and rebuild them. Before the first
// release those of version 1 are made anew when a format changes; from then on the files under
// testdata are never changed. `go test ./internal/faults/golden -update` adds the missing ones
// only.
package golden

// Package golden holds stores as earlier builds wrote them, one for each format version and
// purpose. It tests that this build can read, check, write to and rebuild them. The files under
// testdata are never changed: `go test ./internal/faults/golden -update` adds the missing ones
// only.
package golden

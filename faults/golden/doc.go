// Package golden holds stores as they were written by earlier builds, one for each format version and use, and tests that they can be read, checked, written to
// and rebuilt. The files under testdata are never changed: `go test ./faults/golden -update` makes those that are missing, and no others.
package golden

// Package rot damages every kind of file in a store, in every way that a disk or a person may, and
// tests what readers, fsck and repair do then. CTX_FAULTS=all tries everything, CTX_FAULTS=n tries
// n damages for each kind of file. The stores are those of Everything and Plain.
//
// It also holds golden stores, as released builds wrote them, one for each format version and
// purpose, and tests that this build can read, check, write to and rebuild them. Before the first
// release those of version 1 are made anew when a format changes; from then on the files under
// testdata are never changed. `go test ./internal/faults/rot -update` adds the missing ones only.
package rot

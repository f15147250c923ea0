// Package rot damages every kind of file in a store, in every way that a disk or a person may, and
// tests what readers, fsck and repair do then. CTX_FAULTS=all tries everything, CTX_FAULTS=n tries
// n damages for each kind of file.
package rot

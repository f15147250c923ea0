// Package rot holds tests that damage every kind of file in a store, in every way a disk or a person may, and look at what readers, fsck and a
// repair make of it. CTX_FAULTS=all tries everything, CTX_FAULTS=n so many damages a kind of file.
package rot

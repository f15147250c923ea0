// Package format defines the bytes of everything that a store keeps: objects, packs and their
// indexes, the records of the operation log, checkpoints, and the store's own format file.
//
// The package is pure: each codec turns a Go value into bytes or bytes into a Go value, and does no
// I/O of its own. A value has exactly one encoding. A decoder refuses all other bytes, and it
// refuses an unknown version with a *VersionError. A decoder never panics and never allocates more
// than the limits in object.go allow. The pages in docs/format describe every encoding byte by
// byte.
//
// Begin with Raw and Body in object.go, which are common to all objects, then read Entry, which is
// one step of a conversation, and Operation, which is one record of the log.
package format

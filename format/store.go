package format

import (
	"fmt"
	"strings"
)

// StoreVersion is the version of the store layout that this build reads and writes.
const StoreVersion = 1

// StoreFormat is the content of a store's format file. docs/format/store.md describes it.
type StoreFormat struct {
	Hash  string // "sha256"
	Store string // random, 32 hexadecimal digits; distinguishes different stores
	// SharedAs is the id of the store on remotes, of the same form, if that is another one than
	// Store: the directory is a copy, and the one that it is a copy of has the other. Or "".
	SharedAs string
}

// Encode returns the format file.
func (f StoreFormat) Encode() []byte {
	b := fmt.Appendf(nil, "store %d\nhash %s\nid %s\n", StoreVersion, f.Hash, f.Store)
	if f.SharedAs != "" {
		b = fmt.Appendf(b, "shared-as %s\n", f.SharedAs)
	}
	return b
}

// DecodeStoreFormat reads a format file. A *VersionError says that the store has another version;
// such a store must not be written to.
func DecodeStoreFormat(b []byte) (StoreFormat, error) {
	k, v, err := HeaderKind(b)
	if err == nil && k == "ctx" { // what this file began with before there was a release
		return StoreFormat{}, &VersionError{What: "store", Early: true}
	}
	if err != nil || k != "store" {
		return StoreFormat{}, fmt.Errorf("not a store's format file: %.40q", b)
	}
	if v != StoreVersion {
		return StoreFormat{}, &VersionError{What: "store", Got: v, Known: StoreVersion}
	}
	lines := strings.Split(string(b), "\n")
	if n := len(lines); n < 4 || n > 5 || lines[n-1] != "" {
		return StoreFormat{}, fmt.Errorf("format file does not have 3 or 4 lines")
	}
	hash, okHash := strings.CutPrefix(lines[1], "hash ")
	store, okStore := strings.CutPrefix(lines[2], "id ")
	if !okHash || hash != "sha256" {
		return StoreFormat{}, fmt.Errorf("unknown hash: %.40q", lines[1])
	}
	if !okStore || !IsStoreID(store) {
		return StoreFormat{}, fmt.Errorf("bad store id: %.40q", lines[2])
	}
	f := StoreFormat{Hash: hash, Store: store}
	if len(lines) == 5 {
		as, ok := strings.CutPrefix(lines[3], "shared-as ")
		if !ok || !IsStoreID(as) {
			return StoreFormat{}, fmt.Errorf("bad id on remotes: %.40q", lines[3])
		}
		f.SharedAs = as
	}
	return f, nil
}

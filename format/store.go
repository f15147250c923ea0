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
}

// Encode returns the format file.
func (f StoreFormat) Encode() []byte {
	return fmt.Appendf(nil, "ctx %d\nhash %s\nstore %s\n", StoreVersion, f.Hash, f.Store)
}

// DecodeStoreFormat reads a format file. A *VersionError says that the store has another version;
// such a store must not be written to.
func DecodeStoreFormat(b []byte) (StoreFormat, error) {
	k, v, err := HeaderKind(b)
	if err != nil || k != "ctx" {
		return StoreFormat{}, fmt.Errorf("not a store's format file: %.40q", b)
	}
	if v != StoreVersion {
		return StoreFormat{}, &VersionError{What: "store", Got: v, Known: StoreVersion}
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) != 4 || lines[3] != "" {
		return StoreFormat{}, fmt.Errorf("format file does not have 3 lines")
	}
	hash, okHash := strings.CutPrefix(lines[1], "hash ")
	store, okStore := strings.CutPrefix(lines[2], "store ")
	if !okHash || hash != "sha256" {
		return StoreFormat{}, fmt.Errorf("unknown hash: %.40q", lines[1])
	}
	if !okStore || !IsStoreID(store) {
		return StoreFormat{}, fmt.Errorf("bad store id: %.40q", lines[2])
	}
	return StoreFormat{Hash: hash, Store: store}, nil
}

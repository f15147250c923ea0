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

import "fmt"

// ObjectKind is the kind of an object. The numbers are not stored. If several objects share a short
// id, the kind with the lowest number comes first.
type ObjectKind uint8

// The kinds of objects. A new kind takes its constant and its row in the table below, a file with
// its codec, and a page in docs/format.
const (
	EntryKind ObjectKind = iota
	NodeKind
	TombstoneKind
	SummaryKind
	ForestKind
	EpochKind
	BlobKind
	PageKind
	AnyKind // no kind: for a name of any object, and for an object that cannot be read
)

// kinds describes every kind of object.
var kinds = [AnyKind]struct {
	name   string // the first word of its headers
	decode func(header []byte) (Object, error)
	body   bool // its objects may have a stored body
	nonce  bool // that body starts with a nonce of NonceLen bytes
}{
	EntryKind: {"entry", func(b []byte) (Object, error) { return DecodeEntry(b) }, true, true},
	NodeKind:  {"node", func(b []byte) (Object, error) { return DecodeNode(b) }, false, false},
	TombstoneKind: {"tombstone", func(b []byte) (Object, error) { return DecodeTombstone(b) }, true,
		true},
	SummaryKind: {"summary", func(b []byte) (Object, error) { return DecodeSummary(b) }, true,
		true},
	ForestKind: {"forest", func(b []byte) (Object, error) { return DecodeForest(b) },
		false, false},
	EpochKind: {"epoch", func(b []byte) (Object, error) { return DecodeEpoch(b) }, true, false},
	BlobKind: {"blob",
		func(b []byte) (Object, error) { body, err := DecodeBlob(b); return blob(body), err }, true,
		false},
	PageKind: {"page", func(b []byte) (Object, error) { return DecodePage(b) }, false, false},
}

// Object is a decoded header of any kind.
type Object interface {
	Encode() ([]byte, error)
	// Links returns the objects that the header names, in the order in which it names them.
	Links() []Link
}

// Link is an object that a header names, and the kind that the object must have.
type Link struct {
	ID   ID
	Want ObjectKind
}

// links returns the given links without those whose ID is zero.
func links(all ...Link) []Link {
	list := all[:0]
	for _, l := range all {
		if !l.ID.IsZero() {
			list = append(list, l)
		}
	}
	return list
}

// String returns the first word of the kind's headers, or "object" for AnyKind.
func (k ObjectKind) String() string {
	if k >= AnyKind {
		return "object"
	}
	return kinds[k].name
}

// HasBody reports whether objects of the kind may have a stored body.
func (k ObjectKind) HasBody() bool { return k < AnyKind && kinds[k].body }

// kindNamed returns the kind with the given name, or AnyKind if this build does not know the name.
func kindNamed(name string) ObjectKind {
	for k, row := range kinds {
		if row.name == name {
			return ObjectKind(k)
		}
	}
	return AnyKind
}

// DecodeObject reads a header of any kind. *VersionError says that a newer build wrote it.
func DecodeObject(header []byte) (ObjectKind, Object, error) {
	name, version, err := HeaderKind(header)
	if err != nil {
		return AnyKind, nil, err
	}
	k := kindNamed(name)
	if k == AnyKind {
		return AnyKind, nil,
			fmt.Errorf("kind of object: %w", &VersionError{What: name, Got: version})
	}
	o, err := kinds[k].decode(header)
	if err != nil {
		return AnyKind, nil, err
	}
	return k, o, nil
}

// HasNonce reports whether the stored body of an object of the named kind starts with a nonce. The
// decoders refuse a header of such a kind if its body is shorter than NonceLen.
func HasNonce(kind string) bool {
	k := kindNamed(kind)
	return k < AnyKind && kinds[k].nonce
}

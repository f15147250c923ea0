package format

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// Forgotten records what one operation has forgotten. It lists the objects whose bodies the
// operation removes. Keyed digests of the removed words and sources let a store refuse them when
// they come again. docs/format/absent.md describes its file.
type Forgotten struct {
	Operation uint64 // the operation that records it
	Time      time.Time
	Objects   []ID    // sorted; of objects that the store had, only those that had a body
	Sources   []ID    // keyed digests of source keys, sorted
	Texts     []Trace // texts that no message may consist of, sorted
	Phrases   []Trace // texts that no message may contain, sorted
}

// Trace identifies a text without keeping it. Roll is a rolling sum that is quick to search for;
// the keyed Digest then proves a match.
type Trace struct {
	Size   uint64 // length of the text in bytes, at least 1
	Roll   uint64
	Digest ID
}

// Compare orders traces by Size, then Roll, then Digest.
func (t Trace) Compare(other Trace) int {
	return cmp.Or(cmp.Compare(t.Size, other.Size), cmp.Compare(t.Roll, other.Roll),
		t.Digest.Compare(other.Digest))
}

const forgottenVersion = 1

// Has reports whether the operation removed the body of the object id. Objects must be sorted, as
// it is after Encode and DecodeForgotten.
func (f *Forgotten) Has(id ID) bool {
	_, ok := slices.BinarySearchFunc(f.Objects, id, ID.Compare)
	return ok
}

// Encode returns the file. It sorts the lists in place and removes duplicates.
func (f *Forgotten) Encode() ([]byte, error) {
	for _, list := range []*[]ID{&f.Objects, &f.Sources} {
		slices.SortFunc(*list, ID.Compare)
		*list = slices.Compact(*list)
	}
	for _, list := range []*[]Trace{&f.Texts, &f.Phrases} {
		slices.SortFunc(*list, Trace.Compare)
		*list = slices.Compact(*list)
	}
	b, err := encode("forgotten", forgottenVersion, f)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(b, "sum sha256:%x\n", sha256.Sum256(b)), nil
}

// DecodeForgotten reads the bytes that Encode returns.
func DecodeForgotten(b []byte) (*Forgotten, error) {
	// An unknown version may have no such checksum, so the version is checked first.
	err := checkKind(b, "forgotten", forgottenVersion)
	if err == nil {
		b, err = cutSum(b, "sum sha256:")
	}
	if err != nil {
		return nil, fmt.Errorf("forgotten: %w", err)
	}
	return decode(b, "forgotten", forgottenVersion, &Forgotten{})
}

func (f *Forgotten) lines(c *Lines) {
	c.Must("operation").Number(&f.Operation)
	c.Must("time").Time(&f.Time)
	Each(c, "object", &f.Objects, (*Lines).ID)
	Each(c, "source", &f.Sources, (*Lines).ID)
	Each(c, "text", &f.Texts, (*Lines).trace)
	Each(c, "phrase", &f.Phrases, (*Lines).trace)
}

func (c *Lines) trace(t *Trace) *Lines {
	var roll [8]byte
	binary.BigEndian.PutUint64(roll[:], t.Roll)
	if c.Positive(&t.Size).Hex(roll[:]).ID(&t.Digest); c.Reads() {
		t.Roll = binary.BigEndian.Uint64(roll[:])
	}
	return c
}

func (f *Forgotten) check() error {
	if f.Operation == 0 {
		return errors.New("operation number is missing")
	}
	for _, list := range [][]ID{f.Objects, f.Sources} {
		if !lists.Ascend(list, ID.Compare) {
			return errors.New("ids are not in order, each once")
		}
	}
	for _, list := range [][]Trace{f.Texts, f.Phrases} {
		if !lists.Ascend(list, Trace.Compare) {
			return errors.New("traces are not in order, each once")
		}
	}
	return nil
}

// cutSum checks the checksum in the last line, which stands there behind before, and returns the
// bytes before that line.
func cutSum(b []byte, before string) ([]byte, error) {
	at := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte{'\n'}), '\n') + 1
	want := fmt.Appendf(nil, "%s%x\n", before, sha256.Sum256(b[:at]))
	if !bytes.Equal(b[at:], want) {
		return nil, errors.New("does not fit its sum")
	}
	return b[:at], nil
}

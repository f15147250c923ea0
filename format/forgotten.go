package format

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
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
	switch {
	case t.Size != other.Size:
		if t.Size < other.Size {
			return -1
		}
		return 1
	case t.Roll != other.Roll:
		if t.Roll < other.Roll {
			return -1
		}
		return 1
	}
	return t.Digest.Compare(other.Digest)
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
	w := newHeader("forgotten", forgottenVersion)
	if f.Operation == 0 {
		return nil, errors.New("forgotten: operation number is missing")
	}
	w.number("operation", f.Operation)
	w.time("time", f.Time)
	for _, list := range []struct {
		key string
		ids *[]ID
	}{{"object", &f.Objects}, {"source", &f.Sources}} {
		slices.SortFunc(*list.ids, ID.Compare)
		*list.ids = slices.Compact(*list.ids)
		for _, id := range *list.ids {
			w.line(list.key, w.id(id))
		}
	}
	for _, list := range []struct {
		key    string
		traces *[]Trace
	}{{"text", &f.Texts}, {"phrase", &f.Phrases}} {
		slices.SortFunc(*list.traces, Trace.Compare)
		*list.traces = slices.Compact(*list.traces)
		for _, t := range *list.traces {
			if t.Size == 0 {
				w.fail(errors.New("a trace of length 0"))
			}
			w.line(list.key, strconv.FormatUint(t.Size, 10), fmt.Sprintf("%016x", t.Roll),
				w.id(t.Digest))
		}
	}
	b, err := w.bytes()
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(b, "sum sha256:%x\n", sha256.Sum256(b)), nil
}

// DecodeForgotten reads the bytes that Encode returns.
func DecodeForgotten(b []byte) (*Forgotten, error) {
	f, err := decodeForgotten(b)
	if err != nil {
		return nil, fmt.Errorf("forgotten: %w", err)
	}
	return f, nil
}

func decodeForgotten(b []byte) (*Forgotten, error) {
	// An unknown version may have no such checksum, so the version is checked first.
	if _, err := readHeader(b, "forgotten", forgottenVersion); err != nil {
		return nil, err
	}
	body, err := cutSum(b)
	if err != nil {
		return nil, err
	}
	r, err := readHeader(body, "forgotten", forgottenVersion)
	if err != nil {
		return nil, err
	}
	f := &Forgotten{Operation: r.uint(r.must("operation", 1)[0])}
	f.Time = r.time(r.must("time", 1)[0])
	if r.err == nil && f.Operation == 0 {
		r.fail(errors.New("operation number is missing"))
	}
	f.Objects, f.Sources = r.ascendingIDs("object"), r.ascendingIDs("source")
	f.Texts, f.Phrases = r.traces("text"), r.traces("phrase")
	return f, r.done()
}

// cutSum checks the checksum in the last line and returns the bytes before that line.
func cutSum(b []byte) ([]byte, error) {
	at := bytes.LastIndexByte(bytes.TrimSuffix(b, []byte{'\n'}), '\n') + 1
	want := fmt.Appendf(nil, "sum sha256:%x\n", sha256.Sum256(b[:at]))
	if !bytes.Equal(b[at:], want) {
		return nil, errors.New("does not fit its sum")
	}
	return b[:at], nil
}

// ascendingIDs reads lines of one id each, in ascending order without duplicates.
func (r *headerReader) ascendingIDs(key string) []ID {
	var list []ID
	for {
		f, ok := r.take(key, 1)
		if !ok {
			return list
		}
		id := r.id(f[0])
		if r.err == nil && len(list) > 0 && list[len(list)-1].Compare(id) >= 0 {
			r.fail(fmt.Errorf("%s: not in order: %v", key, id))
		}
		list = append(list, id)
	}
}

func (r *headerReader) traces(key string) []Trace {
	var list []Trace
	for {
		f, ok := r.take(key, 3)
		if !ok {
			return list
		}
		t := Trace{Size: r.uint(f[0]), Digest: r.id(f[2])}
		roll, err := strconv.ParseUint(f[1], 16, 64)
		if err != nil || fmt.Sprintf("%016x", roll) != f[1] || t.Size == 0 {
			r.fail(fmt.Errorf("%s: bad trace", key))
		}
		t.Roll = roll
		if r.err == nil && len(list) > 0 && list[len(list)-1].Compare(t) >= 0 {
			r.fail(fmt.Errorf("%s: not in order: %v", key, t.Digest))
		}
		list = append(list, t)
	}
}

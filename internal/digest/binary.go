package digest

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// The binary form of a Digester is for a cache: it is read many times faster than text. All numbers are
// varints; a text is its length and its bytes. First come the facts, then Open, Tasks and Last. Version
// stands for the form too.

// errBinary says that bytes are no digester.
var errBinary = errors.New("not a digest")

// AppendBinary appends the binary form of d. The error is always nil.
func (d *Digester) AppendBinary(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(d.Made)))
	for i := range d.Made {
		b = d.Made[i].append(b)
	}
	b = binary.AppendUvarint(b, uint64(len(d.Open)))
	for _, id := range slices.Sorted(maps.Keys(d.Open)) {
		b = appendNumbers(appendText(b, id), d.Open[id])
	}
	b = binary.AppendUvarint(b, uint64(len(d.Tasks)))
	for _, number := range slices.Sorted(maps.Keys(d.Tasks)) {
		b = appendText(appendText(b, number), d.Tasks[number])
	}
	return appendNumbers(b, d.Last), nil
}

// The flags of a fact.
const (
	flagSlight = 1 << iota
	flagTest
)

func (f *Fact) append(b []byte) []byte {
	flags := uint64(0)
	if f.Slight {
		flags |= flagSlight
	}
	if f.Test {
		flags |= flagTest
	}
	b = append(appendText(b, string(f.Kind)), f.Entry[:]...)
	for _, n := range [...]uint64{f.Seq, uint64(f.Pos), uint64(f.Added), uint64(f.Removed), flags} {
		b = binary.AppendUvarint(b, n)
	}
	for _, s := range [...]string{f.Text, f.Path, f.Key, string(f.State)} {
		b = appendText(b, s)
	}
	b = binary.AppendUvarint(b, uint64(len(f.Files)))
	for _, file := range f.Files {
		b = appendText(b, file)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendNumbers(b []byte, list []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, n := range list {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// UnmarshalBinary makes d what AppendBinary was given. It fails on any other bytes that do not have the
// form. It keeps no part of b.
func (d *Digester) UnmarshalBinary(b []byte) error {
	r := binaryReader{rest: string(b)}
	var out Digester
	out.Made = make([]Fact, r.count())
	for i := range out.Made {
		r.fact(&out.Made[i])
	}
	n := r.count()
	out.Open = make(map[string][]int, n)
	for range n {
		id := r.text()
		out.Open[id] = r.facts(len(out.Made))
	}
	n = r.count()
	out.Tasks = make(map[string]string, n)
	for range n {
		number := r.text()
		out.Tasks[number] = r.text()
	}
	out.Last = r.facts(len(out.Made))
	if r.bad || r.rest != "" {
		return errBinary
	}
	*d = out
	return nil
}

// binaryReader reads the binary form. After a fault it gives zeroes.
type binaryReader struct {
	rest string
	bad  bool
}

// maxVarint is the most bytes of a varint of 64 bits.
const maxVarint = 10

func (r *binaryReader) number() uint64 {
	n, shift := uint64(0), 0
	for i := 0; i < len(r.rest) && i < maxVarint; i++ {
		c := r.rest[i]
		n |= uint64(c&0x7f) << shift
		if shift += 7; c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.bad, r.rest = true, ""
	return 0
}

// count reads how many things follow. Each has a byte at least.
func (r *binaryReader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, ""
		return 0
	}
	return int(n)
}

func (r *binaryReader) bytes(n int) string {
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *binaryReader) text() string { return r.bytes(r.count()) }

// facts reads indexes of facts, of which there are so many.
func (r *binaryReader) facts(most int) []int {
	n := r.count()
	if n == 0 {
		return nil
	}
	list := make([]int, n)
	for i := range list {
		index := r.number()
		if index >= uint64(most) {
			r.bad, r.rest = true, ""
			return nil
		}
		list[i] = int(index)
	}
	return list
}

func (r *binaryReader) fact(f *Fact) {
	f.Kind = Kind(r.text())
	if len(r.rest) < len(format.ID{}) {
		r.bad, r.rest = true, ""
		return
	}
	copy(f.Entry[:], r.bytes(len(f.Entry)))
	f.Seq = r.number()
	f.Pos, f.Added, f.Removed = int(r.number()), int(r.number()), int(r.number())
	flags := r.number()
	f.Slight, f.Test = flags&flagSlight != 0, flags&flagTest != 0
	f.Text, f.Path, f.Key, f.State = r.text(), r.text(), r.text(), State(r.text())
	if n := r.count(); n > 0 {
		f.Files = make([]string, n)
		for i := range f.Files {
			f.Files[i] = r.text()
		}
	}
}

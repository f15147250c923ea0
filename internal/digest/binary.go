package digest

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// The binary form of a Digester is made for a cache, because reading it is many times faster than
// reading text. All numbers are varints; a text is its length followed by its bytes. The facts come
// first, then Open, Tasks, Last, Plan, Began and Branch. A change of this form needs a new Version.

// errBinary says that bytes are not the binary form of a Digester.
var errBinary = errors.New("not a digest")

// AppendBinary appends the binary form of d. The error is always nil.
func (d *Digester) AppendBinary(b []byte) ([]byte, error) {
	b = binary.AppendUvarint(b, uint64(len(d.Made)))
	for i := range d.Made {
		b = d.Made[i].append(b)
	}
	b = binary.AppendUvarint(b, uint64(len(d.Open)))
	for _, id := range slices.Sorted(maps.Keys(d.Open)) {
		b = appendNumbers(varint.AppendString(b, id), d.Open[id])
	}
	b = binary.AppendUvarint(b, uint64(len(d.Tasks)))
	for _, number := range slices.Sorted(maps.Keys(d.Tasks)) {
		b = varint.AppendString(varint.AppendString(b, number), d.Tasks[number])
	}
	b = appendNumbers(b, d.Last)
	b = binary.AppendUvarint(b, uint64(len(d.Plan)))
	for _, key := range d.Plan {
		b = varint.AppendString(b, key)
	}
	return varint.AppendString(varint.AppendString(b, d.Began), d.Branch), nil
}

// BinarySize returns a bound of the bytes that AppendBinary appends. In a long session there are
// megabytes, and a slice that grows to them copies them many times.
func (d *Digester) BinarySize() int {
	size := binary.MaxVarintLen64*(7+len(d.Last)+len(d.Plan)) + len(d.Began) +
		len(d.Branch)
	for _, key := range d.Plan {
		size += len(key)
	}
	for i := range d.Made {
		size += d.Made[i].binarySize()
	}
	for id, list := range d.Open {
		size += len(id) + binary.MaxVarintLen64*(2+len(list))
	}
	for number, text := range d.Tasks {
		size += len(number) + len(text) + 2*binary.MaxVarintLen64
	}
	return size
}

func (f *Fact) binarySize() int {
	const numbers, texts = 6, 5
	size := len(f.Entry) + (numbers+texts+len(f.Files))*binary.MaxVarintLen64
	for _, s := range [texts]string{string(f.Kind), f.Text, f.Path, f.Key, string(f.State)} {
		size += len(s)
	}
	for _, file := range f.Files {
		size += len(file)
	}
	return size
}

// The flags of a fact.
const (
	flagSlight = 1 << iota
	flagTest
	flagElsewhere
)

func (f *Fact) append(b []byte) []byte {
	flags := uint64(0)
	if f.Slight {
		flags |= flagSlight
	}
	if f.Test {
		flags |= flagTest
	}
	if f.Elsewhere {
		flags |= flagElsewhere
	}
	b = append(varint.AppendString(b, string(f.Kind)), f.Entry[:]...)
	for _, n := range [...]uint64{f.Seq, uint64(f.Pos), uint64(f.Added), uint64(f.Removed), flags} {
		b = binary.AppendUvarint(b, n)
	}
	for _, s := range [...]string{f.Text, f.Path, f.Key, string(f.State)} {
		b = varint.AppendString(b, s)
	}
	b = binary.AppendUvarint(b, uint64(len(f.Files)))
	for _, file := range f.Files {
		b = varint.AppendString(b, file)
	}
	return b
}

func appendNumbers(b []byte, list []int) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, n := range list {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

// UnmarshalBinary decodes the output of AppendBinary into d. It returns an error for malformed
// bytes. It keeps no part of b.
func (d *Digester) UnmarshalBinary(b []byte) error {
	r := binaryReader{varint.Reader{Rest: b}, string(b)}
	var out Digester
	made := r.Count(1)
	out.Made = make([]Fact, made, made+made/8+factsAhead)
	for i := range out.Made {
		r.fact(&out.Made[i])
	}
	n := r.Count(1)
	out.Open = make(map[string][]int, n)
	for range n {
		id := r.text()
		out.Open[id] = r.facts(len(out.Made))
	}
	n = r.Count(1)
	out.Tasks = make(map[string]string, n)
	for range n {
		number := r.text()
		out.Tasks[number] = r.text()
	}
	out.Last = r.facts(len(out.Made))
	for range r.Count(1) {
		out.Plan = append(out.Plan, r.text())
	}
	out.Began, out.Branch = r.text(), r.text()
	if r.Err != nil || len(r.Rest) > 0 {
		return errBinary
	}
	*d = out
	return nil
}

// factsAhead is for how many facts there is room behind those that were decoded, beside an eighth
// of them: most are decoded to have a few added.
const factsAhead = 64

// binaryReader decodes the binary form. Its texts share the memory of all.
type binaryReader struct {
	varint.Reader
	all string
}

func (r *binaryReader) text() string {
	n := len(r.Take(r.Uvarint()))
	end := len(r.all) - len(r.Rest)
	if r.Err != nil {
		return ""
	}
	return r.all[end-n : end]
}

// facts reads a list of indexes below most.
func (r *binaryReader) facts(most int) []int {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]int, n)
	for i := range list {
		index := r.Uvarint()
		if index >= uint64(most) {
			r.Fail(errBinary)
			return nil
		}
		list[i] = int(index)
	}
	return list
}

func (r *binaryReader) fact(f *Fact) {
	f.Kind = Kind(r.text())
	copy(f.Entry[:], r.Take(uint64(len(f.Entry))))
	f.Seq = r.Uvarint()
	f.Pos, f.Added, f.Removed = int(r.Uvarint()), int(r.Uvarint()), int(r.Uvarint())
	flags := r.Uvarint()
	f.Slight, f.Test = flags&flagSlight != 0, flags&flagTest != 0
	f.Elsewhere = flags&flagElsewhere != 0
	f.Text, f.Path, f.Key, f.State = r.text(), r.text(), r.text(), State(r.text())
	if n := r.Count(1); n > 0 {
		f.Files = make([]string, n)
		for i := range f.Files {
			f.Files[i] = r.text()
		}
	}
}

package varint

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"
)

var (
	errRange = errors.New("a number that is too large")
	errTwice = errors.New("a key that is there twice")
	errRest  = errors.New("goes on after its end")
)

// Code is the binary form of a value, described once for both directions: a function calls methods
// of a Code with pointers to the fields, in order. Append has it write the fields, and Decode has
// it set them. Texts that Decode sets share the memory of one string, and bytes that of its
// argument.
type Code struct {
	Reader
	Writes bool   // by Append
	given  []byte // what Decode reads
	all    string // the same, from the first text on
	out    []byte
}

// Append appends the fields of a value to b.
func Append(b []byte, fields func(*Code)) []byte {
	c := Code{Writes: true, out: b}
	fields(&c)
	return c.out
}

// Decode sets the fields of a value to what Append has appended. After an error their values are of
// no use.
func Decode(b []byte, fields func(*Code)) error {
	c := Code{Reader: Reader{Rest: b}, given: b}
	fields(&c)
	if len(c.Rest) > 0 {
		c.Fail(errRest)
	}
	return c.Err
}

// Number is a number in its shortest form. Small ones take few bytes, whatever their sign.
func Number[T ~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64](c *Code, n *T) {
	if c.Writes {
		c.out = binary.AppendVarint(c.out, int64(*n))
		return
	}
	v := c.Varint()
	if *n = T(v); int64(*n) != v {
		c.Fail(errRange)
	}
}

// Uint is a number without a sign, in its shortest form.
func (c *Code) Uint(n *uint64) {
	if c.Writes {
		c.out = binary.AppendUvarint(c.out, *n)
		return
	}
	*n = c.Uvarint()
}

// Octet is a byte.
func Octet[T ~uint8](c *Code, b *T) {
	if c.Writes {
		c.out = append(c.out, byte(*b))
		return
	}
	*b = T(c.Byte())
}

// Word is Text with memory of its own.
func (c *Code) Word(s *string) {
	if c.Writes {
		c.out = AppendString(c.out, *s)
		return
	}
	*s = c.String()
}

// Flag is a byte that is 0 or 1.
func (c *Code) Flag(b *bool) {
	if !c.Writes {
		*b = c.Bool()
		return
	}
	n := byte(0)
	if *b {
		n = 1
	}
	c.out = append(c.out, n)
}

// Fixed is bytes of a known number.
func (c *Code) Fixed(b []byte) {
	if c.Writes {
		c.out = append(c.out, b...)
		return
	}
	copy(b, c.Take(uint64(len(b))))
}

// Text is a text of any kind.
func Text[T ~string](c *Code, s *T) {
	if c.Writes {
		c.out = AppendString(c.out, string(*s))
		return
	}
	n := len(c.Take(c.Uvarint()))
	if *s = ""; n == 0 {
		return
	}
	if c.all == "" {
		c.all = string(c.given)
	}
	end := len(c.all) - len(c.Rest)
	*s = T(c.all[end-n : end])
}

// Bytes are bytes of any number; none are nil.
func (c *Code) Bytes(b *[]byte) {
	if c.Writes {
		c.out = append(binary.AppendUvarint(c.out, uint64(len(*b))), *b...)
		return
	}
	if *b = slices.Clip(c.Take(c.Uvarint())); len(*b) == 0 {
		*b = nil
	}
}

// noTime stands for the zero time, which has no milliseconds.
const noTime = -1 << 62

// Time is a time in whole milliseconds, in UTC.
func (c *Code) Time(t *time.Time) {
	ms := int64(noTime)
	if c.Writes && !t.IsZero() {
		ms = t.UnixMilli()
	}
	if Number(c, &ms); c.Writes {
		return
	}
	if *t = time.UnixMilli(ms).UTC(); ms == noTime {
		*t = time.Time{}
	}
}

// List is a list, each element of which takes a byte at least. An empty one is nil, and any other
// has room for some more elements.
func List[T any](c *Code, list *[]T, each func(*T, *Code)) {
	n := c.count(len(*list))
	if c.Writes {
		for i := range *list {
			each(&(*list)[i], c)
		}
		return
	}
	if *list = nil; n > 0 {
		*list = make([]T, 0, min(n+n/8+1, mostAhead))
	}
	for ; n > 0 && c.Err == nil; n-- {
		var one T
		*list = append(*list, one)
		each(&(*list)[len(*list)-1], c)
	}
}

// mostAhead is for how many elements of a list there is room before they are read.
const mostAhead = 1 << 15

// Texts is a list of texts.
func (c *Code) Texts(list *[]string) {
	List(c, list, func(s *string, c *Code) { Text(c, s) })
}

// Map is a map, in the order of its keys. It is never nil after Decode.
func Map[K cmp.Ordered, V any](c *Code, m *map[K]V, each func(*K, *V)) {
	MapBy(c, m, cmp.Compare, each)
}

// MapBy is Map for keys of a kind with an order of its own.
func MapBy[K comparable, V any](c *Code, m *map[K]V, by func(a, b K) int, each func(*K, *V)) {
	n := c.count(len(*m))
	if c.Writes {
		for _, k := range slices.SortedFunc(maps.Keys(*m), by) {
			v := (*m)[k]
			each(&k, &v)
		}
		return
	}
	*m = make(map[K]V, n)
	for range n {
		var k K
		var v V
		each(&k, &v)
		(*m)[k] = v
	}
	if c.Err == nil && len(*m) != n {
		c.Fail(errTwice)
	}
}

// count is the number of elements, each of which takes a byte at least.
func (c *Code) count(n int) int {
	if c.Writes {
		c.out = binary.AppendUvarint(c.out, uint64(n))
		return n
	}
	return c.Count(1)
}

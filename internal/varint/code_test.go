package varint

import (
	"bytes"
	"math"
	"reflect"
	"testing"
	"time"
)

// all has a field of each kind.
type all struct {
	small    uint8
	below    int64
	above    uint64
	yes      bool
	id       [3]byte
	text     string
	raw      []byte
	at, none time.Time
	list     []all
	names    []string
	sizes    map[string]int
}

func (a *all) code(c *Code) {
	Number(c, &a.small)
	Number(c, &a.below)
	Number(c, &a.above)
	c.Flag(&a.yes)
	c.Fixed(a.id[:])
	Text(c, &a.text)
	c.Bytes(&a.raw)
	c.Time(&a.at)
	c.Time(&a.none)
	List(c, &a.list, (*all).code)
	c.Texts(&a.names)
	Map(c, &a.sizes, func(k *string, v *int) { Text(c, k); Number(c, v) })
}

func example() all {
	return all{small: 200, below: -5, above: math.MaxUint64, yes: true, id: [3]byte{1, 2, 3},
		text: "text", raw: []byte("raw"), at: time.UnixMilli(1700000000123).UTC(),
		list: []all{{text: "inner", sizes: map[string]int{}}}, names: []string{"", "b"},
		sizes: map[string]int{"one": 1, "two": -2}}
}

// A value reads back as it was written, and what is cut short or goes on is refused.
func TestCode(t *testing.T) {
	want, got := example(), all{}
	b := Append([]byte("before"), want.code)[len("before"):]
	if err := Decode(b, got.code); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back as %+v, want %+v; %v", got, want, err)
	}
	for n := range b {
		if Decode(b[:n], new(all).code) == nil {
			t.Errorf("%d of %d bytes are taken", n, len(b))
		}
	}
	if Decode(append(b, 0), new(all).code) == nil {
		t.Error("a byte too many is taken")
	}
	large := 300
	if Decode(Append(nil, func(c *Code) { Number(c, &large) }),
		func(c *Code) { Number(c, new(uint8)) }) == nil {
		t.Error("300 is taken for a byte")
	}
	twice := []byte{2, 1, 'a', 2, 1, 'a', 4}
	if Decode(twice, func(c *Code) {
		m := map[string]int{}
		Map(c, &m, func(k *string, v *int) { Text(c, k); Number(c, v) })
	}) == nil {
		t.Error("a key is taken twice")
	}
}

// What is decoded encodes to what decodes to the same.
func FuzzCode(f *testing.F) {
	one := example()
	f.Add(Append(nil, one.code))
	f.Add(Append(nil, new(all).code))
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second all
		if Decode(b, first.code) != nil {
			return
		}
		again := Append(nil, first.code)
		if err := Decode(again, second.code); err != nil ||
			!bytes.Equal(Append(nil, second.code), again) {
			t.Errorf("%v: %+v, %+v", err, first, second)
		}
	})
}

package terms

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

func bagSeeds() [][]byte {
	return [][]byte{
		AppendBag(nil, nil),
		AppendBag(nil, Bag{{0, 1}}),
		AppendBag(nil, Bag{{0, 1}, {1, 300}, {1<<64 - 1, 1<<32 - 1}}),
		append(AppendBag(nil, Of("Fix parser.go nil pointer")), "rest"...),
		{0x80, 0x00},
		{3, 0, 0},
	}
}

func TestBagCodec(t *testing.T) {
	for _, b := range []Bag{nil, {{0, 1}}, {{0, 7}, {1, 300}, {1<<64 - 1, 1<<32 - 1}}, Of("Set up PostgreSQL on port 5433")} {
		enc := append(AppendBag([]byte("front"), b), "rest"...)
		got, rest, err := DecodeBag(enc[len("front"):])
		if err != nil || string(rest) != "rest" || !slices.Equal(got, b) {
			t.Errorf("%v: got %v, rest %q, %v", b, got, rest, err)
		}
	}
}

func TestDecodeBagRefuses(t *testing.T) {
	term := func(delta uint64, n ...byte) []byte { return append(binary.BigEndian.AppendUint64(nil, delta), n...) }
	for _, tt := range []struct {
		name string
		src  []byte
		want string
	}{
		{"nothing", nil, "cut short"},
		{"long count", []byte{0x80, 0}, "shortest"},
		{"more terms than bytes", []byte{9, 1, 2}, "terms in"},
		{"huge", binary.AppendUvarint(nil, 1<<63), "terms in"},
		{"count zero", append([]byte{1}, term(5, 0)...), "bad count"},
		{"count too large", append([]byte{1}, term(5, 0x80, 0x80, 0x80, 0x80, 0x10)...), "bad count"},
		{"same term", slices.Concat([]byte{2}, term(5, 1), term(0, 1)), "ascending"},
		{"terms wrap", slices.Concat([]byte{2}, term(5, 1), term(1<<64-5, 1)), "ascending"},
		{"second cut", slices.Concat([]byte{2}, term(5, 1), term(1), []byte{0x80}), "cut short"},
	} {
		if _, _, err := DecodeBag(tt.src); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func FuzzDecodeBag(f *testing.F) {
	for _, s := range bagSeeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		b, rest, err := DecodeBag(src)
		if err != nil {
			return
		}
		checkBag(t, b, maxDecode)
		if again := append(AppendBag(nil, b), rest...); !bytes.Equal(again, src) {
			t.Fatalf("%x reads as %v, which writes as %x", src, b, again)
		}
	})
}

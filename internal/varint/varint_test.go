package varint

import (
	"encoding/binary"
	"testing"
)

// Reads return what was written, and every prefix of it fails without a panic.
func TestReader(t *testing.T) {
	b := AppendString([]byte{7, 1}, "text")
	b = binary.AppendUvarint(b, 1<<40)
	b = binary.AppendVarint(binary.AppendVarint(b, -3), 1<<40)
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 5), 6)
	b = append(binary.AppendUvarint(b, 2), 8, 9)
	for n := range len(b) + 1 {
		r := Reader{Rest: b[:n]}
		c, yes, text, number := r.Byte(), r.Bool(), r.String(), r.Uvarint()
		below, above, four, eight := r.Varint(), r.Varint(), r.Uint32(), r.Uint64()
		list := r.Take(uint64(r.Count(1)))
		if n < len(b) {
			if r.Err == nil || len(list) > 0 || len(r.Rest) > 0 {
				t.Errorf("%d bytes: %v, %v", n, r.Err, list)
			}
			continue
		}
		if below != -3 || above != 1<<40 || four != 5 || eight != 6 {
			t.Errorf("%d %d %d %d", below, above, four, eight)
		}
		if c != 7 || !yes || text != "text" || number != 1<<40 || string(list) != "\x08\x09" ||
			r.Err != nil || len(r.Rest) > 0 {
			t.Errorf("%d %v %q %d %v, %v", c, yes, text, number, list, r.Err)
		}
	}
}

// A number has one form, a bool two, and the first error stays.
func TestReaderErrors(t *testing.T) {
	r := Reader{Rest: []byte{0x80, 0}}
	if n := r.Uvarint(); n != 0 || r.Err != errLong {
		t.Errorf("long form: %d, %v", n, r.Err)
	}
	if r.Byte(); r.Err != errLong {
		t.Errorf("after an error: %v", r.Err)
	}
	r = Reader{Rest: []byte{2}}
	if r.Bool(); r.Err != errBool {
		t.Errorf("bool: %v", r.Err)
	}
	r = Reader{Rest: []byte{3, 1, 1}}
	if n := r.Count(1); n != 0 || r.Err != errShort {
		t.Errorf("count: %d, %v", n, r.Err)
	}
}

package transcript

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// The text of a transcript is the same in every form in which a file may have it.
func TestText(t *testing.T) {
	want := strings.Repeat("{\"a\":\"löschen 🔥 \\u0000\"}\n", 3000)
	wide := func(order binary.AppendByteOrder, mark string) []byte {
		var b []byte
		for _, unit := range utf16.Encode([]rune(mark + want)) {
			b = order.AppendUint16(b, unit)
		}
		return b
	}
	for name, in := range map[string][]byte{
		"plain":                  []byte(want),
		"UTF-16, little":         wide(binary.LittleEndian, "\uFEFF"),
		"UTF-16, big":            wide(binary.BigEndian, "\uFEFF"),
		"UTF-16 without a mark":  wide(binary.LittleEndian, ""),
		"big UTF-16, without it": wide(binary.BigEndian, ""),
	} {
		for _, r := range []io.Reader{bytes.NewReader(in),
			iotest.OneByteReader(bytes.NewBuffer(in))} {
			text, err := Text(r)
			if err != nil {
				t.Fatal(name, err)
			}
			got, err := io.ReadAll(text)
			if strings.TrimPrefix(string(got), "\uFEFF") != want || err != nil {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
		}
	}
	for _, in := range []string{"", "{", "\xff"} {
		if text, err := Text(strings.NewReader(in)); err == nil {
			if _, err := io.ReadAll(text); err != nil {
				t.Errorf("%q: %v", in, err)
			}
		}
	}
	odd, err := Text(strings.NewReader("{\x00\x3d\xd8a\x00\x3d\xd8\x3d\xd8x"))
	if got, _ := io.ReadAll(odd); err != nil || string(got) != "{\uFFFDa\uFFFD" {
		t.Errorf("halves of characters: %q, %v", got, err)
	}
}

package format

import (
	"bytes"
	"strings"
	"testing"
)

// A long header is read in pieces, and says what it says as a whole, wherever a piece ends.
func TestHeaderInPieces(t *testing.T) {
	for _, long := range []int{1, 100, pieceSize - 20, pieceSize - 10, pieceSize, 3 * pieceSize} {
		for at := range 12 {
			lines := []string{strings.Repeat("y", pieceSize-at-6)}
			for range 9 {
				lines = append(lines, "", "z", strings.Repeat("x", long))
			}
			header := "blob 1\n" + strings.Join(lines, "\n") + "\n"
			var got []string
			err := DecodeLines([]byte(header), "blob", 1, func(c *Lines) {
				for c.refill(); c.left; c.refill() {
					got = append(got, c.next())
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "\n") != strings.Join(lines, "\n") || len(got) != len(lines) {
				t.Errorf("lines of %d bytes, %d before the end of a piece: %d lines, want %d", long,
					at, len(got), len(lines))
			}
		}
	}
}

// An encoded header stays as it is when others are encoded.
func TestEncodedHeadersStay(t *testing.T) {
	var all, copies [][]byte
	for n := range 100 {
		id := ID{1: byte(n), 2: 1}
		b, err := (&Node{Count: 1, Children: []ID{id}}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		all, copies = append(all, b), append(copies, bytes.Clone(b))
	}
	for n := range all {
		if !bytes.Equal(all[n], copies[n]) || cap(all[n]) > len(all[n])+32 {
			t.Errorf("header %d has become %q, with room for %d bytes", n, all[n], cap(all[n]))
		}
	}
}

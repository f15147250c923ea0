package objects

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

type countedReader struct {
	*bytes.Reader
	reads int
}

func (r *countedReader) ReadAt(b []byte, at int64) (int, error) {
	r.reads++
	return r.Reader.ReadAt(b, at)
}

// Many reads of an index become one of all of it, which says the same.
func TestIndexFileIsHeld(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, 100_000)
	for i := range content {
		content[i] = byte(r.Uint32())
	}
	below := &countedReader{Reader: bytes.NewReader(content)}
	f := &indexFile{file: below, size: int64(len(content)), most: maxIndexHeld}
	for range 10_000 {
		at, n := r.IntN(len(content)), 1+r.IntN(100)
		b := make([]byte, n)
		got, err := f.ReadAt(b, int64(at))
		want := content[at:min(at+n, len(content))]
		if !bytes.Equal(b[:got], want) || (err == io.EOF) != (len(want) < n) {
			t.Fatalf("%d bytes at %d: %d, %v", n, at, got, err)
		}
	}
	if most := 2 + fewReads + len(content)/indexPiece; below.reads > most {
		t.Errorf("%d reads of the file, want %d at most", below.reads, most)
	}
	large := &countedReader{Reader: bytes.NewReader(content)}
	f = &indexFile{file: large, size: maxIndexHeld + 1, most: maxIndexHeld}
	for range 1000 {
		if _, err := f.ReadAt(make([]byte, 10), 0); err != nil {
			t.Fatal(err)
		}
	}
	if large.reads != 1000 {
		t.Errorf("%d reads of an index that is too large to hold", large.reads)
	}
}

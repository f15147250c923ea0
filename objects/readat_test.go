package objects_test

import (
	"bytes"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// An object is read from the place that is named, and from wherever it is if that is another one.
func TestGetAt(t *testing.T) {
	list := []format.Raw{object(1, "one"), object(2, "two"), bare(3)}
	s, _ := newStore(t, nil)
	in := pack(t, s, list...).ID
	c, err := s.PackContents(in)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := object(4, "elsewhere")
	put(t, s, elsewhere)
	for _, want := range append(list, elsewhere) {
		for place := range uint32(len(c.IDs) + 1) {
			for _, of := range []format.ID{in, want.ID()} { // the second names no pack
				got, err := s.GetAt(of, place, want.ID())
				if err != nil || !bytes.Equal(got.Header, want.Header) ||
					!bytes.Equal(got.Body, want.Body) {
					t.Errorf("%v at %d of %v: %q %q, %v", want.ID(), place, of, got.Header,
						got.Body, err)
				}
			}
		}
	}
	if _, err := s.GetAt(in, 0, object(5, "nowhere").ID()); err == nil {
		t.Error("an object is had that nothing has")
	}
}

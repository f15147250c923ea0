package cache

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// A value is read back under its version alone, and a long one takes fewer bytes than it has.
func TestPutAndGet(t *testing.T) {
	c := Open(t.TempDir(), nil)
	for _, text := range []string{"", "short", strings.Repeat("long, ", 10_000)} {
		text, got := text, "another"
		fields := func(s *string) func(*varint.Code) {
			return func(f *varint.Code) { varint.Text(f, s) }
		}
		put := c.Put
		if len(text) > 1000 {
			put = c.PutPacked
		}
		if err := put("x", Stamp{Number: 7}, 300, fields(&text)); err != nil {
			t.Fatal(err)
		}
		if stamp, ok := c.Get("x", 300, fields(&got)); !ok || got != text || stamp.Number != 7 {
			t.Errorf("got %d bytes of %d, %v, %v", len(got), len(text), stamp, ok)
		}
		if b, _, _ := c.Load("x"); len(b) > 1000 {
			t.Errorf("%d bytes take %d", len(text), len(b))
		}
		for _, other := range []uint64{0, 299, 301} {
			if _, ok := c.Get("x", other, fields(&got)); ok {
				t.Errorf("version %d is taken", other)
			}
		}
		other := func(f *varint.Code) { varint.Text(f, &got); f.Flag(new(bool)) }
		if _, ok := c.Get("x", 300, other); ok {
			t.Error("another form is taken")
		}
	}
	if err := c.PutJSON("y", Stamp{}, []int{1, 2}); err != nil {
		t.Fatal(err)
	}
	if got := []int(nil); !c.GetJSON("y", &got) || len(got) != 2 || c.GetJSON("x", &got) {
		t.Errorf("got %v", got)
	}
}

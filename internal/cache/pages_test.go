package cache

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func writePages(t *testing.T, c *Cache, data []byte) string {
	t.Helper()
	w, err := c.NewPages()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	for rest := data; len(rest) > 0; {
		n := min(len(rest), 1000)
		if _, err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	name, err := w.Name("pages-")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func random(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestPagesAreReadAsWritten(t *testing.T) {
	c := Open(t.TempDir(), nil)
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, pageLen - 1, pageLen, pageLen + 1, 3 * pageLen, 100_000,
		writeAhead + 5000} {
		data := random(n)
		name := writePages(t, c, data)
		if again := writePages(t, c, data); again != name {
			t.Errorf("the same bytes are %s and %s", name, again)
		}
		p, err := c.OpenPages(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Size() != int64(n) {
			t.Fatalf("%d bytes, want %d", p.Size(), n)
		}
		for range 50 {
			off := r.IntN(n + 1)
			b := make([]byte, r.IntN(3*pageLen))
			got, err := p.ReadAt(b, int64(off))
			if want := min(len(b), n-off); got != want || !bytes.Equal(b[:got], data[off:off+got]) {
				t.Fatalf("%d bytes at %d: got %d, %v", len(b), off, got, err)
			}
			if (err == nil) != (got == len(b)) || err != nil && !errors.Is(err, io.EOF) {
				t.Fatalf("%d bytes at %d: %v", len(b), off, err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A changed page, a page in the place of another one, and a cut-off page are not read.
func TestDamagedPages(t *testing.T) {
	dir := t.TempDir()
	c := Open(dir, nil)
	data := random(3*pageLen + 100)
	name := writePages(t, c, data)
	path := filepath.Join(dir, "cache", name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	there, err := c.OpenPages(name)
	if err != nil {
		t.Fatal(err)
	}
	page := there.ends[0]
	if there.ends[1] != 2*page {
		t.Fatalf("pages end at %v", there.ends)
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	swapped := bytes.Clone(whole)
	copy(swapped, whole[page:2*page])
	copy(swapped[page:], whole[:page])
	bad := [][]byte{swapped, whole[:len(whole)-1], whole[:2*page+2], nil}
	for i := 0; i < len(whole); i += 97 {
		b := bytes.Clone(whole)
		b[i] ^= 1
		bad = append(bad, b)
	}
	for i, b := range bad {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := c.OpenPages(name)
		if errors.Is(err, ErrPage) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(data))
		if _, err := p.ReadAt(got, 0); !errors.Is(err, ErrPage) {
			t.Errorf("damage %d was not seen: %v", i, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReplaceNamesRemove(t *testing.T) {
	c := Open(t.TempDir(), nil)
	if names, err := c.Names("x"); err != nil || names != nil {
		t.Errorf("names %v, %v", names, err)
	}
	for _, payload := range []string{"one", "another"} {
		if err := c.Replace("x-1", Stamp{Number: 3}, []byte(payload)); err != nil {
			t.Fatal(err)
		}
		if got, at, ok := c.Load("x-1"); !ok || string(got) != payload || at.Number != 3 {
			t.Errorf("got %q, %v, %v", got, at, ok)
		}
	}
	if names, err := c.Names("x"); err != nil || len(names) != 1 || names[0] != "x-1" {
		t.Errorf("names %v, %v", names, err)
	}
	if err := c.Remove("x-1"); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := c.Load("x-1"); ok {
		t.Error("it is still there")
	}
}

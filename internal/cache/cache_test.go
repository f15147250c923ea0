package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

func TestLoadWhatWasStored(t *testing.T) {
	dir := t.TempDir()
	c := Open(dir, nil)
	if _, _, ok := c.Load("x"); ok {
		t.Error("something is there")
	}
	long := bytes.Repeat([]byte("long "), 1000)
	for i, payload := range [][]byte{[]byte("one"), {}, long,
		[]byte("shorter than the one before")} {
		stamp := Stamp{Number: uint64(i), Digest: format.Sum(payload)}
		if err := c.Store("x", stamp, payload); err != nil {
			t.Fatal(err)
		}
		got, at, ok := c.Load("x")
		if !ok || !bytes.Equal(got, payload) || at != stamp {
			t.Errorf("%d: got %d bytes, %+v, %v", i, len(got), at, ok)
		}
	}
}

// A damaged or shortened file is ignored.
func TestDamageIsNoFile(t *testing.T) {
	dir := t.TempDir()
	c := Open(dir, nil)
	if err := c.Store("x", Stamp{Number: 7}, []byte("payload")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "cache", "x")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, ok := c.Load("x"); ok {
			t.Errorf("byte %d flipped: %q", i, got)
		}
		if err := os.WriteFile(path, whole[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := c.Load("x"); ok {
			t.Errorf("cut to %d bytes", i)
		}
	}
}

func TestNamesAreFileNames(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []string{"a", "A", "../x", "a/b", "con", "\x00"} {
		for _, name := range []string{HeadName(s, "main"), CandidatesName(s)} {
			if filepath.Base(name) != name || seen[name] {
				t.Errorf("%q gives %q", s, name)
			}
			seen[name] = true
		}
	}
}

// A file that was written while something is being forgotten may contain it, so it is removed
// again. So is a file whose data was read before the forgetting and written afterwards.
func TestGuard(t *testing.T) {
	for _, at := range []struct {
		name       string
		begin, end int
		keep       bool
	}{{"nothing is forgotten", 3, 3, true}, {"forgotten since", 3, 4, false},
		{"begun since", 3, -1, false}, {"under way all the time", -1, -1, false},
		{"ended since", -1, 4, false}} {
		c := Open(t.TempDir(), nil)
		mark := at.begin
		c.Guard(func() (int, error) { return mark, nil })
		c.Begin()
		mark = at.end
		err := c.Store("x", Stamp{Number: 7}, []byte("payload"))
		if _, _, ok := c.Load("x"); ok != at.keep || at.keep != (err == nil) {
			t.Errorf("%s: there %v, %v", at.name, ok, err)
		}
	}
}

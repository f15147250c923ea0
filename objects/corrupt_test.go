package objects_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// neverWrong reads every object in every way and fails if one comes back as something else. It
// returns how many came back whole.
func neverWrong(t *testing.T, s *objects.Store, raws []format.Raw) (whole int) {
	t.Helper()
	for _, r := range raws {
		got, err := s.Get(r.ID())
		if err == nil {
			if !bytes.Equal(got.Header, r.Header) || !bytes.Equal(got.Body, r.Body) {
				t.Fatalf("%v came back as %q %q", r.ID(), got.Header, got.Body)
			}
			whole++
		}
		var corrupt *objects.CorruptError
		if err != nil && !errors.As(err, &corrupt) && !errors.Is(err, objects.ErrNotFound) {
			t.Fatalf("unexpected error: %v", err)
		}
		if h, err := s.Header(r.ID()); err == nil && !bytes.Equal(h, r.Header) {
			t.Fatalf("header of %v came back as %q", r.ID(), h)
		}
		_, _ = s.Has(r.ID())
		_, _ = s.Prefix(r.ID().String()[:8])
		if key, ok := format.SourceKey(r.Header); ok {
			found, err := s.BySource(key)
			if err == nil &&
				slices.ContainsFunc(found, func(id format.ID) bool { return id != r.ID() }) {
				t.Fatalf("source of %v found %v", r.ID(), found)
			}
		}
	}
	return whole
}

func TestEveryByteOfAPack(t *testing.T) {
	t.Parallel()
	raws := []format.Raw{object(1, "hello"), object(2, words(200, 2)), bare(3), object(4, "")}
	s, _ := newStore(t, nil)
	info := pack(t, s, raws...)
	_ = s.Close()
	idx := info.Path[:len(info.Path)-len(".pack")] + ".idx"
	root := info.Path[:len(info.Path)-len("objects/pack/pack-.pack")-format.IDLen]
	for _, path := range []string{info.Path, idx} {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		try := func(b []byte) {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			fresh := objects.Open(root, nil)
			neverWrong(t, fresh, raws)
			for _, r := range raws {
				if found, err := fresh.Prefix(r.ID().String()[:12]); err == nil && len(found) == 0 {
					t.Fatalf("%s: %v is said to be nowhere", path, r.ID())
				}
			}
			if err := fresh.CheckPack(info.ID); err == nil {
				t.Error("a changed file passes the check")
			}
			if err := fresh.Reread(info.ID); err == nil {
				t.Error("a changed file passes as it was written")
			}
			_ = fresh.Close()
		}
		for i := range good {
			if path == idx && i > 60 && i < 1070 && i%16 != 0 {
				continue // 256 numbers of the same sort
			}
			bad := slices.Clone(good)
			bad[i] ^= 1
			try(bad)
			if i%8 == 0 {
				try(good[:i])
				_ = s.Contents(func(objects.Place, format.Raw) error { return nil },
					func(string, error) error { return nil })
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh := open(t, root, nil)
	if whole := neverWrong(t, fresh, raws); whole != len(raws) {
		t.Errorf("%d of %d came back in the end", whole, len(raws))
	}
	// The index comes back from the pack, to the byte.
	good, err := os.ReadFile(idx)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(idx); err != nil {
		t.Fatal(err)
	}
	if orphans, err := fresh.Orphans(); err != nil || !slices.Equal(orphans, []format.ID{info.ID}) {
		t.Error(orphans, err)
	}
	if err := fresh.Reindex(info.ID); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(idx)
	if err != nil || !bytes.Equal(good, again) {
		t.Error("the index made anew differs", err)
	}
}

package objects_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

// recordAbsent writes why an object's body is absent, and returns the record's path.
func recordAbsent(t *testing.T, root string, r format.Raw, reason string) string {
	t.Helper()
	b, err := (&format.Absent{Object: r.ID(), Reason: reason, Time: time.Unix(1, 0).UTC()}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "absent", r.ID().String()[:2], r.ID().String()[2:])
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	return path
}

// A body that was lost comes back with the next one who stores it, alone or in a batch, and its
// record goes.
func TestALostBodyComesBack(t *testing.T) {
	for _, with := range []int{0, objects.MaxCarried} {
		s, root := newStore(t, nil)
		r := object(1, "dear")
		path := recordAbsent(t, root, r, format.ReasonLost)
		put(t, s, format.Raw{Header: r.Header})
		var gone *objects.GoneError
		if _, err := s.Get(r.ID()); !errors.As(err, &gone) || gone.Reason != "lost" {
			t.Errorf("got %v", err)
		}
		put(t, s, append(batch(with + 1)[1:], r)...)
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the record is still there: %v", err)
		}
		same(t, s, r)
	}
}

// A body that is lost, and then forgotten, does not come back.
func TestALostBodyIsForgotten(t *testing.T) {
	s, root := newStore(t, nil)
	r := object(1, "dear")
	b, err := (&format.Absent{Object: r.ID(), Reason: format.ReasonLost,
		Time: time.Unix(1, 0).UTC()}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "absent", r.ID().String()[:2], r.ID().String()[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, s, format.Raw{Header: r.Header})
	err = s.MarkAbsent(hold(t, root), []format.ID{r.ID()}, format.ReasonForgotten,
		time.Unix(2, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	var gone *objects.GoneError
	if err := s.Put(r); !errors.As(err, &gone) || gone.Reason != format.ReasonForgotten {
		t.Errorf("got %v", err)
	}
}

// A pack may have the header alone of an object that is whole elsewhere: its body was lost there,
// and stored again. What is forgotten goes from the pack all the same.
func TestStripPackBesideABodyThatCameBack(t *testing.T) {
	s, root := newStore(t, nil)
	back, goes, stays := object(1, "it came back"), object(2, "it goes"), object(3, "it stays")
	recordAbsent(t, root, back, format.ReasonLost)
	_, err := s.WritePack(func(yield func(format.Raw, error) bool) {
		_ = yield(format.Raw{Header: back.Header}, nil) && yield(goes, nil) && yield(stays, nil)
	}, objects.Default)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, back)
	recordAbsent(t, root, goes, format.ReasonForgotten)
	var bad []string
	n, err := s.StripPacks(context.Background(), hold(t, root),
		func(id format.ID) bool { return id == goes.ID() },
		func(path string) { bad = append(bad, path) })
	if n != 1 || err != nil || bad != nil {
		t.Errorf("%d packs, %v, %v", n, err, bad)
	}
	same(t, s, back)
	same(t, s, stays)
	var gone *objects.GoneError
	if _, err := s.Get(goes.ID()); !errors.As(err, &gone) {
		t.Errorf("got %v", err)
	}
}

// Of a pack that is damaged beyond its parity, the objects of all blocks but the damaged one are
// saved, with the index and without it, and are listed and told.
func TestSalvageBesideABadBlock(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		s, root := newStore(t, nil)
		var raws []format.Raw
		for i := range 600 {
			raws = append(raws, object(i, words(8000, uint64(i))))
		}
		info := pack(t, s, raws...)
		_ = s.Close()
		b, err := os.ReadFile(info.Path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 << 10 { // in the second block of several
			b[len(b)/3+i] ^= 0xff
		}
		if err := errors.Join(os.Chmod(info.Path, 0o600),
			os.WriteFile(info.Path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
		s = open(t, root, nil)
		if !indexed {
			if err := os.Remove(s.IndexPath(info.ID)); err != nil {
				t.Fatal(err)
			}
		}
		saved := 0
		if err := s.SalvagePack(info.ID, func(r format.Raw, whole bool) error {
			if whole {
				saved++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if saved < 300 || saved == len(raws) {
			t.Errorf("index there: %v: %d of %d objects are saved", indexed, saved, len(raws))
		}
		if !indexed {
			continue
		}
		told, faults := 0, 0
		err = s.Contents(func(objects.Place, format.Raw) error { told++; return nil },
			func(string, error) error { faults++; return nil })
		if err != nil || told != saved || faults != 1 {
			t.Errorf("%d of %d objects are told, %d faults, %v", told, saved, faults, err)
		}
		c, err := s.PackContents(info.ID)
		if err == nil || len(c.IDs) != saved {
			t.Errorf("%d of %d objects are listed, %v", len(c.IDs), saved, err)
		}
	}
}

// What a look-up by an id finds in a damaged block is salvaged, too: zeros in a frame can unpack to
// other bytes, behind objects that are as they were.
func TestSalvageWhatIsReadInABadBlock(t *testing.T) {
	s, root := newStore(t, nil)
	var raws []format.Raw
	for i := range 200 {
		raws = append(raws, object(i, words(60, uint64(i))))
	}
	info := pack(t, s, raws...)
	_ = s.Close()
	whole, err := os.ReadFile(info.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(info.Path, 0o600); err != nil {
		t.Fatal(err)
	}
	partly := 0
	for at := 0; at < len(whole); at += 64 {
		b := slices.Clone(whole)
		clear(b[at:min(at+8, len(b))])
		if err := os.WriteFile(info.Path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, root, nil)
		saved := map[format.ID]bool{}
		if err := s.SalvagePack(info.ID, func(r format.Raw, whole bool) error {
			saved[r.ID()] = saved[r.ID()] || whole
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, r := range raws {
			if _, err := s.Get(r.ID()); err == nil {
				if read++; !saved[r.ID()] {
					t.Errorf("zeros at %d: %v is read, and not saved", at, r.ID())
				}
			}
		}
		if s.CheckPack(info.ID) != nil && read > 0 && read < len(raws) {
			partly++
		}
		_ = s.Close()
	}
	if partly == 0 {
		t.Error("no damage left a part of the objects")
	}
}

// A pack that is lost, while its index is there, is damage of the objects in it and of no others.
func TestALostPackIsDamage(t *testing.T) {
	s, root := newStore(t, nil)
	lost, kept := object(1, "lost"), object(2, "kept")
	pack(t, s, lost)
	pack(t, s, kept)
	names, err := filepath.Glob(filepath.Join(root, "objects", "pack", "*.pack"))
	if err != nil || len(names) != 2 {
		t.Fatalf("packs %q, error %v", names, err)
	}
	for _, name := range names {
		if err := os.Rename(name, name+".away"); err != nil {
			t.Fatal(err)
		}
		var corrupt *objects.CorruptError
		bad := 0
		for _, r := range []format.Raw{lost, kept} {
			if _, err := open(t, root, nil).Get(r.ID()); errors.As(err, &corrupt) {
				bad++
			} else if err != nil {
				t.Errorf("%v: %v", r.ID(), err)
			}
		}
		if bad != 1 {
			t.Errorf("without one of two packs %d objects are damaged", bad)
		}
		if err := os.Rename(name+".away", name); err != nil {
			t.Fatal(err)
		}
	}
}

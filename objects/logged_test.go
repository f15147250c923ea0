package objects_test

import (
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/objects"
)

func stage(t *testing.T, s *objects.Store, raws ...format.Raw) bool {
	t.Helper()
	ok, err := s.Stage(raws...)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestStage(t *testing.T) {
	s, root := newStore(t, nil)
	one, two := object(1, "hello"), object(2, "you")
	if !stage(t, s, one, two, one) || len(s.Staged()) != 2 {
		t.Fatalf("%d objects are staged, want 2", len(s.Staged()))
	}
	same(t, s, one)
	if ids, err := s.Prefix(two.ID().String()[:8]); err != nil || len(ids) != 0 {
		t.Errorf("a staged object is in the log: %v, %v", ids, err)
	}
	s.EndStage(false)
	if _, err := s.Get(one.ID()); !errors.Is(err, objects.ErrNotFound) || len(s.Staged()) != 0 {
		t.Errorf("after the stage was dropped: %v", err)
	}
	stage(t, s, one, two)
	s.EndStage(true)
	same(t, s, one)
	if ids, err := s.Prefix(two.ID().String()[:8]); err != nil || len(ids) != 1 {
		t.Errorf("a recorded object is not found by its prefix: %v, %v", ids, err)
	}
	if !stage(t, s, one) || len(s.Staged()) != 0 {
		t.Error("an object that the log carries was staged again")
	}
	if there, err := open(t, root, nil).Has(one.ID()); err != nil || there {
		t.Error("something was written", err)
	}
}

// A batch that is too large for a record is not staged, and neither is any part of it.
func TestStageLimits(t *testing.T) {
	s, _ := newStore(t, nil)
	if stage(t, s, batch(objects.MaxCarried+1)...) || len(s.Staged()) != 0 {
		t.Error("too many objects")
	}
	if !stage(t, s, batch(objects.MaxCarried)...) {
		t.Error("a full stage is refused")
	}
	if stage(t, s, object(1, "one more")) {
		t.Error("an object more than fits")
	}
	s.EndStage(false)
	if stage(t, s, object(1, string(make([]byte, 300<<10)))) {
		t.Error("a large object")
	}
	bad := object(1, "hello")
	bad.Body = append([]byte(nil), bad.Body...)
	bad.Body[len(bad.Body)-1] ^= 1
	if _, err := s.Stage(bad); err == nil {
		t.Error("a body that does not match its header")
	}
}

// What the log carries is found, listed and checked, and a miss reads the log again.
func TestLogged(t *testing.T) {
	s, root := newStore(t, nil)
	one, two := object(1, "hello"), object(2, "you")
	s.SetLogged([]format.Raw{one})
	reads := 0
	s.ReadLog = func() error { reads++; s.SetLogged([]format.Raw{one, two}); return nil }
	same(t, s, one)
	if reads != 0 {
		t.Errorf("the log was read %d times", reads)
	}
	same(t, s, two)
	if missing, err := s.HasAll([]format.ID{one.ID(), two.ID(), bare(9).ID()}); err != nil ||
		len(missing) != 1 {
		t.Errorf("missing %v, %v", missing, err)
	}
	n := 0
	if err := s.Contents(func(objects.Place, format.Raw) error { n++; return nil },
		func(_ string, err error) error { return err }); err != nil || n != 2 ||
		!s.IsLogged(one.ID()) {
		t.Errorf("%d objects, %v", n, err)
	}
	held := hold(t, root)
	if err := s.PackLogged(held); err != nil {
		t.Fatal(err)
	}
	s.ReadLog = nil
	s.SetLogged(nil)
	same(t, s, one)
	same(t, s, two)
	packs, err := s.Packs()
	if err != nil || len(packs) != 1 || packs[0].Objects != 2 {
		t.Errorf("%v, %v", packs, err)
	}
	s.SetLogged([]format.Raw{one, two})
	if err := s.PackLogged(held); err != nil {
		t.Fatal(err)
	}
	if again, _ := s.Packs(); len(again) != 1 {
		t.Error("what is packed was packed again")
	}
	// A damaged copy is passed over where another is whole, and is told.
	bad := format.Raw{Header: one.Header, Body: append([]byte(nil), one.Body...)}
	bad.Body[0] ^= 1
	s.SetLogged([]format.Raw{bad})
	same(t, s, one)
	var corrupt *objects.CorruptError
	if err := s.CheckLogged(one.ID()); !errors.As(err, &corrupt) {
		t.Errorf("a damaged copy: %v", err)
	}
	if !stage(t, s, one) || len(s.Staged()) != 1 {
		t.Error("an object whose copy in the log is damaged was not staged")
	}
	same(t, s, one)
}

// Checkpoints do not leave more and more packs: many small ones become one, and nothing is lost.
func TestPackLoggedMerges(t *testing.T) {
	s, root := newStore(t, nil)
	held := hold(t, root)
	noise := make([]byte, 256<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise) // never fails
	large := object(1000, hex.EncodeToString(noise))
	pack(t, s, large)
	first, err := s.Packs()
	if err != nil {
		t.Fatal(err)
	}
	all := []format.Raw{large}
	most := 0
	for i := range 40 {
		raws := []format.Raw{object(2*i, "hello"), object(2*i+1, "you")}
		all = append(all, raws...)
		s.SetLogged(raws)
		if err := s.PackLogged(held); err != nil {
			t.Fatal(err)
		}
		s.SetLogged(nil)
		packs, err := s.Packs()
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(packs)-1)
		isFirst := func(p objects.PackInfo) bool { return p.ID == first[0].ID }
		if !slices.ContainsFunc(packs, isFirst) {
			t.Fatal("a large pack was unpacked to be merged")
		}
	}
	if most > 16 {
		t.Errorf("%d packs", most)
	}
	for _, r := range all {
		same(t, open(t, root, nil), r)
	}
}

// A damaged pack is not merged, and keeps no other from it.
func TestPackLoggedLeavesDamage(t *testing.T) {
	s, root := newStore(t, nil)
	held := hold(t, root)
	var all []format.Raw
	for i := range 16 {
		r := object(i, "hello")
		all = append(all, r)
		pack(t, s, r)
	}
	first, err := s.Packs()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(first[3].Path)
	if err != nil {
		t.Fatal(err)
	}
	b[50] ^= 1 // in the head of its block
	if err := errors.Join(os.Chmod(first[3].Path, 0o600),
		os.WriteFile(first[3].Path, b, 0o600)); err != nil {
		t.Fatal(err)
	}
	s = open(t, root, nil)
	last := object(99, "last")
	s.SetLogged([]format.Raw{last})
	if err := s.PackLogged(held); err != nil {
		t.Fatal(err)
	}
	packs, err := s.Packs()
	if err != nil || len(packs) != 2 {
		t.Fatalf("%d packs, %v", len(packs), err)
	}
	found := 0
	s.SetLogged(nil)
	for _, r := range append(all, last) {
		if got, err := s.Get(r.ID()); err == nil && string(got.Body) == string(r.Body) {
			found++
		}
	}
	if found != 16 {
		t.Errorf("%d of 17 objects are whole, want all but one", found)
	}
}

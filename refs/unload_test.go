package refs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// blob returns an object with a body of n bytes.
func blob(t *testing.T, n int) format.Raw {
	t.Helper()
	body := bytes.Repeat(fmt.Appendf(nil, "%d ", n), n)[:n]
	header, err := format.EncodeBlob(format.SumBody(body, format.MediaText))
	if err != nil {
		t.Fatal(err)
	}
	return format.Raw{Header: header, Body: body}
}

// carry commits an operation that carries objects.
func (s *store) carry(name string, n int, objects ...format.Raw) {
	s.Helper()
	op := &format.Operation{Verb: "append", Time: s.now, Objects: objects}
	op.Refs = []format.RefUpdate{{Name: name, Old: s.view.Get(name), New: tip(n)}}
	v, err := s.db.Commit(s.held, s.view, op, nil)
	s.must(err)
	s.view = v
}

// everywhere is an object store that also has what the log carries.
type everywhere struct{ anything }

func (everywhere) Elsewhere(format.ID) (bool, error) { return true, nil }

func TestUnload(t *testing.T) {
	s := newStore(t)
	s.carry("sessions/a/main", 1, blob(t, 10), blob(t, 2000))
	s.must(s.move(map[string]int{"sessions/a/main": 2}))
	s.carry("sessions/a/main", 3, blob(t, 30))
	before := s.read()
	if got := len(before.Carried()); got != 3 {
		t.Fatalf("the log carries %d objects, want 3", got)
	}
	if err := s.db.Checkpoint(s.held, s.view); err == nil ||
		!strings.Contains(err.Error(), "nowhere else") {
		t.Errorf("a checkpoint that hides objects: %v", err)
	}
	s.db.Objects = everywhere{}
	view, err := s.db.Unload(s.held, s.view, false)
	s.must(err)
	s.view = view
	if got := len(view.Carried()); got != 0 || view.Number != before.Number ||
		view.Digest != before.Digest {
		t.Errorf("after Unload the log carries %d objects and ends with operation %d, %s", got,
			view.Number, view.Digest)
	}
	for i, r := range view.Since {
		if was := before.Since[i]; r.Digest != was.Digest || r.Op.Refs[0] != was.Op.Refs[0] {
			t.Errorf("operation %d has become another", r.Op.Number)
		}
	}
	s.must(s.db.Checkpoint(s.held, s.view))
	// What comes after the checkpoint is unloaded without a byte of the log before it moving.
	old, err := os.ReadFile(s.log())
	s.must(err)
	s.carry("sessions/a/main", 4, blob(t, 40))
	if view, err = s.db.Unload(s.held, s.view, false); err != nil || view.Number != 4 {
		t.Fatal(view, err)
	}
	now, err := os.ReadFile(s.log())
	if err != nil || !bytes.HasPrefix(now, old) {
		t.Error("the log before the checkpoint has changed", err)
	}
	again, err := s.db.Unload(s.held, view, false)
	if same, _ := os.ReadFile(s.log()); err != nil || again.Number != 4 || !bytes.Equal(same, now) {
		t.Error("a second Unload changed the log", err)
	}
}

// Objects of a record that are damaged cost nothing else: the operation and those after it count.
func TestDamagedObjectsOfARecord(t *testing.T) {
	s := newStore(t)
	s.carry("sessions/a/main", 1, blob(t, 10), blob(t, 900))
	s.carry("sessions/a/main", 2, blob(t, 20))
	b, err := os.ReadFile(s.log())
	s.must(err)
	b[bytes.Index(b, []byte("900 900"))] ^= 1
	s.must(os.WriteFile(s.log(), b, 0o600))
	v := s.read()
	s.must(s.db.CheckCarried(v))
	if v.Number != 2 || !v.Since[0].Damaged || v.Since[1].Damaged || len(v.Carried()) != 3 {
		t.Errorf("%d operations, %d objects", v.Number, len(v.Carried()))
	}
	n := 0
	s.must(s.db.Backward(v, func(Record) bool { n++; return true }))
	if n != 2 {
		t.Errorf("backward: %d operations", n)
	}
	s.open(nil)
	kept, err := s.db.Unload(s.held, s.view, false)
	if err != nil || len(kept.Carried()) != 2 || !kept.Since[0].Damaged {
		t.Errorf("Unload took a damaged record: %d objects, %v", len(kept.Carried()), err)
	}
	bare, err := s.db.Unload(s.held, kept, true)
	if err != nil || len(bare.Carried()) != 0 || bare.Number != 2 || bare.Digest != v.Digest {
		t.Errorf("Unload left a damaged record: %d objects, %v", len(bare.Carried()), err)
	}
	if salvage, err := s.db.Salvage(); err != nil || salvage.Needed() {
		t.Errorf("the log needs repair: %+v, %v", salvage, err)
	}
}

// The last record is a torn tail if a sector in the middle of its objects was never written, and
// damaged if a byte there has changed.
func TestUnwrittenSectorOfObjects(t *testing.T) {
	s := newStore(t)
	s.carry("sessions/a/main", 1, blob(t, 10))
	s.carry("sessions/a/main", 2, blob(t, 4000))
	whole, err := os.ReadFile(s.log())
	s.must(err)
	torn := bytes.Clone(whole)
	clear(torn[2048:2560])
	s.must(os.WriteFile(s.log(), torn, 0o600))
	if v := s.read(); v.Number != 1 || v.Torn == 0 {
		t.Errorf("a hole: operation %d, %d bytes torn", v.Number, v.Torn)
	}
	for at := 2048; at < 2560; at += 64 {
		bad := bytes.Clone(whole)
		bad[at] ^= 4
		s.must(os.WriteFile(s.log(), bad, 0o600))
		if v := s.read(); v.Number != 2 || v.Torn != 0 || !v.Since[1].Damaged {
			t.Errorf("byte %d: operation %d, %d bytes torn", at, v.Number, v.Torn)
		}
	}
	for n := len(whole) - 3900; n < len(whole); n += 97 {
		s.must(os.WriteFile(s.log(), whole[:n], 0o600))
		if v := s.read(); v.Number != 1 || v.Torn == 0 {
			t.Errorf("cut to %d bytes: operation %d, %d bytes torn", n, v.Number, v.Torn)
		}
	}
	s.must(os.WriteFile(s.log(), whole, 0o600))
}

// Salvage hands out the objects of a record whose operation is damaged.
func TestSalvageOfCarriedObjects(t *testing.T) {
	s := newStore(t)
	s.carry("sessions/a/main", 1, blob(t, 10))
	s.carry("sessions/a/main", 2, blob(t, 20), blob(t, 30))
	second := s.view.Since[1].Offset
	b, err := os.ReadFile(s.log())
	s.must(err)
	b[second+12+20] ^= 1 // in the digest of the operation before
	b[second+12+21] ^= 1
	s.must(os.WriteFile(s.log(), b, 0o600))
	if !s.passesOver() || len(s.read().Since[1].Op.Objects) != 2 {
		t.Error("the objects of a lost operation are not read")
	}
	v, err := s.db.Salvage()
	s.must(err)
	if len(v.Objects) != 2 || v.Objects[1].ID() != blob(t, 30).ID() || len(v.Later) != 0 {
		t.Errorf("%d objects, %d records", len(v.Objects), len(v.Later))
	}
}

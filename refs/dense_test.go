package refs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// condense closes the newest segment and makes all closed ones dense. It returns how many became.
func (s *store) condense() int {
	s.Helper()
	v, err := s.db.Next(s.held, s.view)
	s.must(err)
	s.must(s.db.Checkpoint(s.held, v))
	s.must(s.held.Release())
	s.held = nil
	n, err := s.db.Condense(context.Background(), 1, s.take)
	s.must(err)
	s.open(nil)
	return n
}

func (s *store) take(ctx context.Context) (*lock.Held, error) {
	return lock.Acquire(ctx, nil, s.dir, time.Minute, lock.Owner{})
}

// everything returns the records of the log, as Forward gives them and as Backward does.
func (s *store) everything() (forward, backward []Record) {
	s.Helper()
	s.must(s.db.Forward(func(r Record) bool { forward = append(forward, r); return true }))
	s.must(
		s.db.Backward(s.read(),
			func(r Record) bool { backward = append(backward, r); return true }))
	slices.Reverse(backward)
	return forward, backward
}

func sameRecords(a, b []Record) bool {
	return slices.EqualFunc(a, b, func(a, b Record) bool {
		return a.Digest == b.Digest && a.Segment == b.Segment && a.Offset == b.Offset &&
			a.Size == b.Size
	})
}

func isDenseFile(t testing.TB, path string) bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return isDense(b)
}

// TestCondense: a dense log has the same records at the same offsets, in less space, and goes on.
func TestCondense(t *testing.T) {
	s := grow(t, 900, 300)
	before, _ := s.everything()
	plain, err := os.Stat(s.log())
	s.must(err)
	if n := s.condense(); n != 2 {
		t.Fatalf("%d segments became dense, want 2", n)
	}
	dense, err := os.Stat(s.log())
	s.must(err)
	if dense.Size() >= plain.Size() {
		t.Errorf("%d bytes of %d", dense.Size(), plain.Size())
	}
	forward, backward := s.everything()
	if !sameRecords(before, forward) || !sameRecords(before, backward) {
		t.Error("the log says something else")
	}
	s.must(s.move(map[string]int{a: 1000}))
	if v := s.read(); v.Get(a) != tip(1000) || len(v.Since) != 1 {
		t.Errorf("%v, %d records after the checkpoint", v.Get(a), len(v.Since))
	}
	s.must(s.db.CheckHeads())
	s.must(s.db.CheckDense(func(err error) { t.Error(err) }))
	if v, err := s.db.Salvage(); err != nil || v.Needed() {
		t.Errorf("%+v, %v", v, err)
	}
	if n := s.condense(); n != 1 { // operation 901 alone is in a segment of its own
		t.Logf("%d more", n)
	}
}

// TestMend makes a damaged dense segment a plain one, to the byte, with its parity, and leaves a
// sound one alone.
func TestMend(t *testing.T) {
	s := grow(t, 700)
	plain, err := os.ReadFile(s.log())
	s.must(err)
	s.condense()
	dense, err := os.ReadFile(s.log())
	s.must(err)
	none := func() error { t.Error("a change"); return nil }
	if mended, err := s.db.Mend(s.held, none); err != nil || len(mended) > 0 {
		t.Errorf("mended %q, %v", mended, err)
	}
	for at := 0; at < len(dense); at += 97 {
		bad := bytes.Clone(dense)
		bad[at] ^= 4
		s.must(os.WriteFile(s.log(), bad, 0o600))
		found := false
		s.must(s.db.CheckDense(func(error) { found = true }))
		if !found && isDense(bad) {
			t.Fatalf("byte %d of %d changed: no fault", at, len(dense))
		}
		mended, err := s.db.Mend(s.held, func() error { return nil })
		if err != nil || len(mended) != 1 {
			t.Fatalf("byte %d of %d changed: mended %q, %v", at, len(dense), mended, err)
		}
		if got, err := os.ReadFile(s.log()); err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("byte %d of %d changed: not the plain bytes, %v", at, len(dense), err)
		}
	}
}

// TestDenseNeedsNoObjects: a dense log says what it said when no object that it names is there.
func TestDenseNeedsNoObjects(t *testing.T) {
	s := grow(t, 400)
	s.condense()
	gone := map[format.ID]bool{}
	for n := range 401 {
		gone[id(n)] = true
	}
	s.db.Objects = anything{missing: gone}
	if forward, backward := s.everything(); len(forward) != 400 ||
		!sameRecords(forward, backward) {
		t.Errorf("%d and %d records", len(forward), len(backward))
	}
}

// TestBaseInDense moves the base into a dense segment, which stays dense.
func TestBaseInDense(t *testing.T) {
	s := grow(t, 600)
	s.condense()
	_, err := s.db.DropTo(s.held, 500)
	s.must(err)
	if !isDenseFile(t, s.log()) {
		t.Error("the segment of the base is plain")
	}
	s.must(s.move(map[string]int{b: 1}))
	if forward, backward := s.everything(); len(forward) != 101 ||
		!sameRecords(forward, backward) {
		t.Errorf("%d and %d records", len(forward), len(backward))
	}
	s.must(s.db.CheckHeads())
	if v, err := s.db.Salvage(); err != nil || v.Needed() {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestBaseAtTheEnd: a base at the end of a closed segment needs none of it.
func TestBaseAtTheEnd(t *testing.T) {
	s := grow(t, 300)
	s.condense()
	s.must(s.move(map[string]int{a: 301}))
	if n, err := s.db.DropTo(s.held, 300); err != nil || n != 1 {
		t.Errorf("dropped %d segments, %v", n, err)
	}
	base, err := s.db.Base()
	s.must(err)
	if base.Segment != 2 || base.Number != 300 {
		t.Errorf("base %+v", base)
	}
	if forward, backward := s.everything(); len(forward) != 1 || !sameRecords(forward, backward) {
		t.Errorf("%d records", len(forward))
	}
	s.must(s.db.CheckHeads())
}

// TestNewestLost: the checkpoint is at the start of the newest segment, which is lost.
func TestNewestLost(t *testing.T) {
	s := grow(t, 300)
	s.condense()
	s.must(os.Remove(s.db.segmentPath(2)))
	v, err := s.db.Salvage()
	s.must(err)
	s.must(s.db.Restore(s.held, v, func(string) error { return nil }))
	s.must(s.db.Forgive(s.held))
	s.open(nil)
	s.must(s.move(map[string]int{a: 301}))
	if forward, backward := s.everything(); len(forward) != 301 || !sameRecords(forward, backward) {
		t.Errorf("%d records", len(forward))
	}
}

// FuzzDenseSegment reads any bytes as a segment. It returns what a sound one says, or an error.
func FuzzDenseSegment(f *testing.F) {
	s := newStore(f)
	for n := 1; n <= 60; n++ {
		s.must(s.move(map[string]int{a: n}))
	}
	plain, err := os.ReadFile(s.log())
	s.must(err)
	dense, err := s.db.encodeDense(plain)
	s.must(err)
	f.Add(dense, 0, byte(0))
	f.Add(dense, 200, byte(1))
	f.Add(plain, 50, byte(3))
	f.Fuzz(func(t *testing.T, b []byte, at int, by byte) {
		if len(b) > 0 {
			b[int(uint(at)%uint(len(b)))] ^= by
		}
		if !isDense(b) {
			return
		}
		seg, err := s.db.parseDense("log-1", b)
		if err != nil {
			return
		}
		for i, p := range seg.blocks {
			if got, err := seg.block(i); err == nil && int64(len(got)) != p.plain {
				t.Fatalf("block %d has %d bytes, its head says %d", i, len(got), p.plain)
			}
		}
		if got, err := seg.all(false); err == nil && int64(len(got)) != seg.size {
			t.Fatalf("%d bytes of %d", len(got), seg.size)
		}
	})
}

// failing is objects whose reads fail, as of a disk that does not answer.
type failing struct {
	anything
	why error
}

func (f failing) DecompressLog(int, []byte) ([]byte, error) { return nil, f.why }

// TestSalvageNeedsReads: what could not be read is no damage, and nothing is given up for it.
func TestSalvageNeedsReads(t *testing.T) {
	s := grow(t, 900, 300)
	s.condense()
	for _, why := range []error{
		&fs.PathError{Op: "read", Path: "pack", Err: errors.New("input/output error")},
		&format.VersionError{},
	} {
		s.db.Objects = failing{why: why}
		if _, err := s.db.Salvage(); !errors.Is(err, why) {
			t.Errorf("with %v: %v", why, err)
		}
	}
	s.db.Objects = failing{why: errors.New("no frame of zstd")}
	if v, err := s.db.Salvage(); err != nil || !v.Needed() {
		t.Errorf("with damage: %+v, %v", v, err)
	}
}

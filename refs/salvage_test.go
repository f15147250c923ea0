package refs

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// grow commits operations up to number n, each of which moves the ref a to the tip of its number.
// After each of the numbers in ends a new segment begins.
func grow(t *testing.T, n int, ends ...int) *store {
	t.Helper()
	s := newStore(t)
	for i := 1; i <= n; i++ {
		s.must(s.move(map[string]int{a: i}))
		if slices.Contains(ends, i) {
			s.must(s.db.beginSegment(s.view.end.segment+1, s.view.Number+1))
			s.view.end.segment++
			s.view.end.offset = int64(len(s.db.segmentHeader(s.view.Number + 1)))
		}
	}
	return s
}

// edit changes a file of refs/.
func (s *store) edit(path string, change func([]byte) []byte) {
	s.Helper()
	old, err := os.ReadFile(path)
	s.must(err)
	s.must(os.WriteFile(path, change(bytes.Clone(old)), 0o600))
}

// breakRecord flips a byte in the middle of the record of an operation.
func (s *store) breakRecord(number uint64) {
	s.Helper()
	found := false
	s.must(s.db.Forward(func(r Record) bool {
		if r.Op.Number == number {
			found = true
			s.edit(s.db.segmentPath(r.Segment), func(b []byte) []byte {
				b[r.Offset+int64(r.Size)/2] ^= 1
				b[r.Offset+int64(r.Size)/2+1] ^= 1
				return b
			})
		}
		return !found
	}))
	if !found {
		s.Fatalf("there is no operation %d", number)
	}
}

// restore repairs the store. It then checks that the refs can be read and written, that the log is
// one chain with correct first lines, and that nothing is left to repair.
func (s *store) restore(v *Salvage) *View {
	s.Helper()
	s.must(s.db.Restore(s.held, v, func(path string) error { return nil }))
	s.must(s.db.CheckHeads())
	again, err := s.db.Salvage()
	s.must(err)
	if again.Needed() {
		s.Errorf("a second repair has to do: %q, %q", again.Mended, again.Lost)
	}
	view := s.read()
	if s.view, err = s.db.Begin(s.held); err != nil {
		s.Fatal(err)
	}
	s.must(s.move(map[string]int{b: 1000}))
	base, err := s.db.Base()
	s.must(err)
	number := base.Number
	s.must(s.db.Forward(func(r Record) bool { number = r.Op.Number; return true }))
	if number != view.Number+1 || s.read().Get(b) != tip(1000) {
		s.Errorf("the log ends with operation %d, after one more than %d", number, view.Number)
	}
	return view
}

// A sound log needs no repair, wherever its segments end and its checkpoint and base are, with a
// torn tail or without.
func TestSalvageOfASoundLog(t *testing.T) {
	for _, n := range []int{0, 1, 3, 8, 9, 10, 11} {
		for _, ends := range [][]int{nil, {n}, {1, 8}, {9, 10}} {
			for _, how := range []string{"", "checkpoint", "base", "torn"} {
				s := grow(t, n, ends...)
				switch {
				case how == "checkpoint":
					s.must(s.db.Checkpoint(s.held, s.view))
				case how == "base" && n > 2:
					s.must(s.db.Checkpoint(s.held, s.view))
					_, err := s.db.DropTo(s.held, uint64(n)-1)
					s.must(err)
				case how == "torn":
					s.edit(s.db.segmentPath(s.view.end.segment),
						func(b []byte) []byte { return append(b, "ctxo\x00\x00"...) })
				}
				v, err := s.db.Salvage()
				if err != nil || v.Needed() || len(v.Mended)+len(v.Lost)+len(v.Later) > 0 {
					t.Fatalf("%d operations, ends %v, %s: %+v, %v", n, ends, how, v, err)
				}
				s.must(s.db.CheckHeads())
			}
		}
	}
}

// TestSalvage repairs damage of every sort. It checks the messages, and which operations are before
// and behind the damage.
func TestSalvage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(s *store)
		mended string // the one line of Mended
		lost   string
		number uint64 // the newest operation that is left
		later  []uint64
	}{
		{"no checkpoint", func(s *store) { s.must(os.Remove(s.db.checkpointPath())) },
			"refs/checkpoint is made again from the log", "", 12, nil},
		{"a bad checkpoint",
			func(s *store) {
				s.edit(s.db.checkpointPath(), func(b []byte) []byte { return b[1:] })
			},
			"refs/checkpoint is made again from the log", "", 12, nil},
		{"a bad base",
			func(s *store) { s.must(os.WriteFile(s.db.basePath(), []byte("base"), 0o600)) },
			"refs/base is damaged; the log is there from its beginning", "", 12, nil},
		{"the first line of the first segment",
			func(s *store) { s.edit(s.db.segmentPath(1), flip(3)) },
			"the first line of 1 segments of the log", "", 12, nil},
		{"the first line of another one", func(s *store) { s.edit(s.db.segmentPath(2), flip(3)) },
			"the first line of 1 segments of the log", "", 12, nil},
		{"a record", func(s *store) { s.breakRecord(5) },
			"", "what is recorded in the log after operation 4, but 7 operations from 6 to 12", 4,
			[]uint64{6, 7, 8, 9, 10, 11, 12}},
		{"two records", func(s *store) { s.breakRecord(9); s.edit(s.db.segmentPath(3), breakLast) },
			"", "what is recorded in the log after operation 8, but 2 operations from 10 to 11", 8,
			[]uint64{10, 11}},
		{"the last record", func(s *store) { s.edit(s.db.segmentPath(3), breakLast) },
			"", "what is recorded in the log after operation 11", 11, nil},
		{"a segment is missing", func(s *store) { s.must(os.Remove(s.db.segmentPath(2))) },
			"", "what is recorded in the log after operation 9, but 1 operations from 12 to 12", 9,
			[]uint64{12}},
		{"a segment begins with other bytes",
			func(s *store) { s.edit(s.db.segmentPath(2), func(b []byte) []byte { return b[60:] }) },
			"", "what is recorded in the log after operation 9, but 2 operations from 11 to 12", 9,
			[]uint64{11, 12}},
		{"a segment ends early, and the log goes on",
			func(s *store) {
				s.edit(s.db.segmentPath(1), func(b []byte) []byte { return b[:len(b)-5] })
			},
			"", "what is recorded in the log after operation 8, but 3 operations from 10 to 12", 8,
			[]uint64{10, 11, 12}},
		{"a segment is shorter than its first line",
			func(s *store) { s.must(os.WriteFile(s.db.segmentPath(3), []byte("ctx-log"), 0o600)) },
			"", "what is recorded in the log after operation 11", 11, nil},
	} {
		s := grow(t, 12, 9, 11)
		tt.damage(s)
		v, err := s.db.Salvage()
		if err != nil || !v.Needed() {
			t.Errorf("%s: %v, %+v", tt.name, err, v)
			continue
		}
		var later []uint64
		for _, r := range v.Later {
			later = append(later, r.Op.Number)
		}
		lost := strings.Join(v.Lost, "|")
		view := s.restore(v)
		if mended := strings.Join(v.Mended, "|"); mended != tt.mended || lost != tt.lost ||
			!slices.Equal(later, tt.later) {
			t.Errorf("%s: mended %q, lost %q, later %v", tt.name, mended, lost, later)
		}
		if view.Number != tt.number || view.Get(a) != tip(int(tt.number)) {
			t.Errorf("%s: operation %d, %v", tt.name, view.Number, view.Get(a))
		}
		pending, cut, err := s.db.Pending()
		if err != nil || cut != (tt.lost != "") || len(pending) != len(tt.later) {
			t.Errorf("%s: %d operations are pending, %v, %v", tt.name, len(pending), cut, err)
		}
		for i, r := range pending {
			if r.Op.Number != tt.later[i] {
				t.Errorf("%s: operation %d is pending, not %d", tt.name, r.Op.Number, tt.later[i])
			}
		}
		if cut {
			s.must(s.db.Forgive(s.held))
		}
		if _, cut, err := s.db.Pending(); err != nil || cut {
			t.Errorf("%s: still pending, %v", tt.name, err)
		}
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 1; return b }
}

// breakLast flips bits in two bytes of the last record's digest.
func breakLast(b []byte) []byte {
	b[len(b)-10] ^= 1
	b[len(b)-12] ^= 1
	return b
}

// Damage before the checkpoint loses the operations up to it, but no value of a ref.
func TestSalvageFromTheCheckpoint(t *testing.T) {
	for n := 3; n < 13; n++ {
		for _, dropped := range []bool{false, true} {
			s := grow(t, n, 8)
			s.must(s.db.Checkpoint(s.held, s.view))
			from, first := "its beginning", uint64(1)
			if dropped {
				_, err := s.db.DropTo(s.held, 1)
				s.must(err)
				from, first = "operation 2", 2
			}
			s.must(s.move(map[string]int{a: n + 1}))
			s.breakRecord(first)
			v, err := s.db.Salvage()
			s.must(err)
			want := fmt.Sprintf(
				"the log from %s to operation %d; undo, reflog and the like reach no further back",
				from, n)
			if len(v.Lost) != 1 || v.Lost[0] != want || len(v.Mended)+len(v.Later) > 0 {
				t.Fatalf("%d operations: lost %q, want %q; mended %q", n, v.Lost, want, v.Mended)
			}
			if view := s.restore(v); view.Number != uint64(n)+1 || view.Get(a) != tip(n+1) {
				t.Fatalf("%d operations: operation %d, %v", n, view.Number, view.Get(a))
			}
			if base, err := s.db.Base(); err != nil || base.Number != uint64(n) {
				t.Fatalf("%d operations: base %+v, %v", n, base, err)
			}
			if list, err := s.db.segments(); err != nil || list[0] != s.view.start.segment {
				t.Fatalf("%d operations: segments %v, and the log begins in %d: %v", n, list,
					s.view.start.segment, err)
			}
		}
	}
}

// Without any log, the checkpoint alone is kept, and the log continues after it, even after several
// such repairs and for operation numbers of any length.
func TestSalvageWithoutLog(t *testing.T) {
	for n := 1; n < 13; n++ {
		s := grow(t, n, 9)
		s.must(s.db.Checkpoint(s.held, s.view))
		number := uint64(n)
		for range 3 {
			list, err := s.db.segments()
			s.must(err)
			for _, segment := range list {
				s.must(os.Remove(s.db.segmentPath(segment)))
			}
			v, err := s.db.Salvage()
			s.must(err)
			s.must(s.db.Restore(s.held, v, func(string) error { return nil }))
			s.must(s.db.CheckHeads())
			if view := s.read(); view.Number != number || view.Get(a) != tip(int(number)) {
				t.Fatalf("%d operations: operation %d, %v", n, view.Number, view.Get(a))
			}
			if again, err := s.db.Salvage(); err != nil || again.Needed() {
				t.Fatalf("%d operations: %+v, %v", n, again, err)
			}
		}
		s.view = s.read()
		s.must(s.move(map[string]int{a: n + 1}))
		s.must(s.db.CheckHeads())
		if view := s.read(); view.Number != number+1 || view.Get(a) != tip(n+1) {
			t.Fatalf("%d operations, and one more: operation %d, %v", n, view.Number, view.Get(a))
		}
	}
}

// CheckHeads reports a missing segment between two others: readers would take it for the end of the
// log.
func TestSegmentMissing(t *testing.T) {
	s := grow(t, 6, 2, 4)
	s.must(s.db.CheckHeads())
	s.must(os.Remove(s.db.segmentPath(2)))
	var corrupt *CorruptError
	if err := s.db.CheckHeads(); !errors.As(err, &corrupt) || corrupt.Path != s.db.segmentPath(2) {
		t.Errorf("got %v", err)
	}
}

// The damaged first line of a segment without operations is written again.
func TestSalvageOfAnEmptySegment(t *testing.T) {
	s := grow(t, 9, 9)
	s.edit(s.db.segmentPath(2), flip(2))
	v, err := s.db.Salvage()
	if err != nil || len(v.Lost) > 0 || len(v.Mended) > 0 || !v.Needed() {
		t.Fatalf("%+v, %v", v, err)
	}
	if view := s.restore(v); view.Number != 9 || len(v.Mended) != 1 {
		t.Errorf("operation %d, mended %q", view.Number, v.Mended)
	}
}

// A checkpoint and a base that were swapped are swapped again.
func TestSalvageOfSwappedCheckpoints(t *testing.T) {
	s := grow(t, 6)
	s.must(s.db.Checkpoint(s.held, s.view))
	_, err := s.db.DropTo(s.held, 3)
	s.must(err)
	base, err := os.ReadFile(s.db.basePath())
	s.must(err)
	newest, err := os.ReadFile(s.db.checkpointPath())
	s.must(err)
	s.must(errors.Join(os.WriteFile(s.db.basePath(), newest, 0o600),
		os.WriteFile(s.db.checkpointPath(), base, 0o600)))
	v, err := s.db.Salvage()
	s.must(err)
	if len(v.Lost) > 0 || len(v.Mended) != 1 ||
		v.Mended[0] != "refs/checkpoint and refs/base have changed places" {
		t.Errorf("mended %q, lost %q", v.Mended, v.Lost)
	}
	if view := s.restore(v); view.Number != 6 || view.Get(a) != tip(6) {
		t.Errorf("operation %d, %v", view.Number, view.Get(a))
	}
}

// A repair is impossible without both the checkpoint and the first operation. Files of a newer
// version are not touched.
func TestSalvageBeyondRepair(t *testing.T) {
	s := grow(t, 3)
	s.must(os.Remove(s.db.checkpointPath()))
	s.breakRecord(1)
	if _, err := s.db.Salvage(); !errors.Is(err, ErrBeyondRepair) {
		t.Errorf("got %v", err)
	}
	s = grow(t, 3)
	s.edit(s.db.checkpointPath(), func(b []byte) []byte {
		body, _, _ := bytes.Cut(bytes.Replace(b, []byte("checkpoint 1"), []byte("checkpoint 2"), 1),
			[]byte("sum "))
		return fmt.Appendf(body, "sum %x\n", sha256.Sum256(body))
	})
	var newer *format.VersionError
	if _, err := s.db.Salvage(); !errors.As(err, &newer) {
		t.Errorf("got %v", err)
	}
}

// A new checkpoint is due after CheckpointEvery operations, and not earlier.
func TestLong(t *testing.T) {
	s := grow(t, CheckpointEvery-1)
	if s.view.Long() {
		t.Errorf("after %d operations", CheckpointEvery-1)
	}
	s.must(s.move(map[string]int{a: 1000}))
	if !s.view.Long() {
		t.Errorf("not after %d operations", CheckpointEvery)
	}
}

// Objects in few records count from carriedBytes on, decisions and many records from
// checkpointBytes on.
func TestLongBytes(t *testing.T) {
	const size = 64 << 10
	for _, tt := range []struct {
		records, size, carried int
		want                   bool
	}{
		{4, size, 0, true},
		{3, size, 0, false},
		{4, size, size, false},
		{15, size, size, false},
		{16, size, size, true},
		{31, size / 8, size / 8, false},
		{32, size / 8, size / 8, true},
	} {
		v := &View{}
		for range tt.records {
			op := &format.Operation{Objects: []format.Raw{{Body: make([]byte, tt.carried)}}}
			v.Since = append(v.Since, Record{Op: op, Size: tt.size})
		}
		if got := v.Long(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

package refs

import (
	"errors"
	"os"
	"runtime"
	"testing"
)

// TestHoles reads logs with more zeros than a segment has room for, as a file system leaves them
// that extends a file before it writes. No more is read at a time than a segment may have; zeros at
// the end are a torn tail, and everything else is damage that a repair saves records from.
func TestHoles(t *testing.T) {
	const hole = maxSegmentFile
	for name, c := range map[string]struct {
		cut   func(log []byte) (before, after []byte)
		torn  bool
		later int // records that are behind the damage
		kept  uint64
	}{
		"at the end": {func(b []byte) ([]byte, []byte) { return b, nil }, true, 0, 20},
		"before a few more": {func(b []byte) ([]byte, []byte) { return b, []byte("x\n") },
			false, 0, 20},
		"in a record": {func(b []byte) ([]byte, []byte) { return b[:900], b[900:] },
			false, 15, 4},
		"at the beginning": {func(b []byte) ([]byte, []byte) { return nil, b }, false, 20, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			for n := range 20 {
				s.must(s.move(map[string]int{a: n}))
			}
			log, err := os.ReadFile(s.log())
			s.must(err)
			before, after := c.cut(log)
			s.must(os.WriteFile(s.log(), before, 0o600))
			s.must(os.Truncate(s.log(), int64(len(before)+hole)))
			f, err := os.OpenFile(s.log(), os.O_WRONLY, 0)
			s.must(err)
			_, err = f.WriteAt(after, int64(len(before)+hole))
			s.must(errors.Join(err, f.Close()))

			taken := allocated(func() { _, err = s.db.Read() })
			if taken > 8<<20 {
				t.Errorf("a reader takes %d bytes", taken)
			}
			if c.torn {
				s.must(err)
				v, err := s.db.Begin(s.held)
				s.must(err)
				if info, err := os.Stat(s.log()); err != nil || info.Size() != int64(len(log)) ||
					v.Number != c.kept || v.Torn != 0 {
					t.Errorf("%v, operation %d, %d bytes are torn", err, v.Number, v.Torn)
				}
				return
			}
			if !isCorrupt(err) {
				t.Fatalf("read: %v", err)
			}
			v, err := s.db.Salvage()
			s.must(err)
			s.must(s.db.Restore(s.held, v, func(string) error { return nil }))
			view, err := s.db.Read()
			s.must(err)
			if view.Number != c.kept || len(v.Later) != c.later {
				t.Errorf("operation %d is kept, %d behind the damage", view.Number, len(v.Later))
			}
		})
	}
}

// allocated returns how many bytes a function allocates.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

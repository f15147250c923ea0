package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/durable/durabletest"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
	"github.com/gemini-ctx/ctx/lock"
)

const storeID = "00112233445566778899aabbccddeeff"

// anything is an object store that has every object except the missing ones.
type anything struct{ missing map[format.ID]bool }

func (anything) Elsewhere(format.ID) (bool, error) { return false, nil }

func (anything) SetLogged([]format.Raw) {}

func (a anything) HasAll(ids []format.ID) ([]format.ID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id format.ID) bool { return !a.missing[id] }),
		nil
}

func id(n int) format.ID { return format.Sum(fmt.Appendf(nil, "object %d", n)) }

func tip(n int) format.Value { return format.Value{Kind: format.SessionValue, ID: id(n)} }

type store struct {
	testing.TB
	dir  string
	db   *DB
	held *lock.Held
	view *View
	now  time.Time
}

func newStore(t testing.TB) *store {
	t.Helper()
	s := &store{TB: t, dir: durabletest.TempDir(t),
		now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := Init(s.dir, storeID, nil); err != nil {
		t.Fatal(err)
	}
	s.open(nil)
	t.Cleanup(func() { s.held.Release() })
	return s
}

// open acts as the next process: it takes the lock and calls Begin.
func (s *store) open(fs *durable.FS) {
	s.Helper()
	if s.held != nil {
		if err := s.held.Release(); err != nil {
			s.Fatal(err)
		}
	}
	s.db = Open(s.dir, storeID, fs, anything{})
	var err error
	if s.held, err = lock.Acquire(context.Background(), nil, s.dir, time.Minute,
		lock.Owner{}); err != nil {
		s.Fatal(err)
	}
	if s.view, err = s.db.Begin(s.held); err != nil {
		s.Fatal(err)
	}
}

// move commits an operation that moves sessions to new tips.
func (s *store) move(names map[string]int) error {
	op := &format.Operation{Verb: "append", Time: s.now}
	s.now = s.now.Add(time.Hour)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		op.Refs = append(op.Refs,
			format.RefUpdate{Name: name, Old: s.view.Get(name), New: tip(names[name])})
	}
	v, err := s.db.Commit(s.held, s.view, op, nil)
	if err == nil {
		s.view = v
	}
	return err
}

func (s *store) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *store) read() *View {
	s.Helper()
	v, err := s.db.Read()
	s.must(err)
	return v
}

func (s *store) log() string { return filepath.Join(s.dir, "refs", "log-1") }

const (
	a = "sessions/a/main"
	b = "sessions/b/main"
)

// A1: the newest record gives the value of a ref, even if the rename of the checkpoint was lost.
// Readers see both refs of an operation or neither.
func TestA1CheckpointLostRecordsHold(t *testing.T) {
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	old, err := os.ReadFile(s.db.checkpointPath())
	s.must(err)
	for n := range 20 {
		s.must(s.move(map[string]int{b: n + 2}))
	}
	s.must(s.db.Checkpoint(s.held, s.view))
	s.must(s.move(map[string]int{a: 99, b: 100}))
	s.must(os.WriteFile(s.db.checkpointPath(), old, 0o600)) // as if a power cut undid the rename
	v := s.read()
	if v.Get(a) != tip(99) || v.Get(b) != tip(100) || v.Number != 22 {
		t.Errorf("a %v, b %v after operation %d", v.Get(a), v.Get(b), v.Number)
	}
}

// A2: a reader that meets half a record writes nothing and sees all records before it, even on a
// read-only medium.
func TestA2ReadersRepairNothing(t *testing.T) {
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	whole, err := os.ReadFile(s.log())
	s.must(err)
	s.must(s.move(map[string]int{a: 2}))
	both, err := os.ReadFile(s.log())
	s.must(err)
	for cut := len(whole) + 1; cut < len(both); cut++ {
		s.must(os.WriteFile(s.log(), both[:cut], 0o600))
		v := s.read()
		if v.Get(a) != tip(1) || v.Torn != int64(cut-len(whole)) {
			t.Fatalf("cut at %d: %v, torn %d", cut, v.Get(a), v.Torn)
		}
		if now, _ := os.ReadFile(s.log()); len(now) != cut {
			t.Fatalf("a reader changed the log")
		}
	}
}

// A3: only an incomplete last record is a torn tail. It is kept in a file of its own. Flipped bits
// are corruption, wherever they are: readers and writers pass over it, and nothing is cut off. A
// record in which they are in one byte is read as it was, and Mend writes it so.
func TestA3TornTailOrRot(t *testing.T) {
	s := newStore(t)
	for n := range 100 {
		s.must(s.move(map[string]int{a: n}))
	}
	good, err := os.ReadFile(s.log())
	s.must(err)
	torn := good[:len(good)-10]
	s.must(os.WriteFile(s.log(), torn, 0o600))
	s.open(nil)
	if s.view.Number != 99 {
		t.Errorf("after a torn tail: operation %d", s.view.Number)
	}
	aside, err := os.ReadFile(filepath.Join(s.dir, "log", "torn-100"))
	s.must(err)
	if !bytes.HasSuffix(torn, aside) {
		t.Error("what was put aside is not the tail")
	}
	s.must(s.move(map[string]int{a: 100}))

	head := len(s.db.segmentHeader(1))
	const step = 37
	for i := range thirds.Range(t, (len(good)-head)/step) {
		bad, at := bytes.Clone(good), head+step*i
		bad[at] ^= 0x10
		s.must(os.WriteFile(s.log(), bad, 0o600))
		if s.read().Number != 100 {
			t.Fatalf("bit flipped at %d of %d: operation %d", at, len(good), s.read().Number)
		}
		restored, err := s.db.Mend(s.held, func() error { return nil })
		if now, _ := os.ReadFile(s.log()); err != nil || len(restored) != 1 ||
			!bytes.Equal(now, good) {
			t.Fatalf("bit flipped at %d of %d: restored %q, %v", at, len(good), restored, err)
		}
	}
	for at := head; at+80 < len(good); at += 710 {
		bad := bytes.Clone(good)
		for i := range 8 { // four of them are in one record
			bad[at+10*i] ^= 0x10
		}
		s.must(os.WriteFile(s.log(), bad, 0o600))
		if !s.passesOver() {
			t.Fatalf("bits flipped from %d of %d", at, len(good))
		}
		s.open(nil)
		if now, _ := os.ReadFile(s.log()); !bytes.Equal(now, bad) {
			t.Fatal("something was cut")
		}
		s.must(s.move(map[string]int{a: at}))
		v := s.read()
		if v.Get(a) != s.view.Get(a) || v.Number != s.view.Number || v.Digest != s.view.Digest {
			t.Fatalf("bits flipped from %d of %d: the log does not go on", at, len(good))
		}
		if err := s.db.Checkpoint(s.held, v); !isCorrupt(err) {
			t.Fatalf("bits flipped from %d of %d: a checkpoint hides it: %v", at, len(good), err)
		}
	}
}

// passesOver reports whether a reading of the refs passes over damage, and one of the log does not.
func (s *store) passesOver() bool {
	return s.read().Lost() && isCorrupt(s.db.Forward(func(Record) bool { return true }))
}

// A3 with zeros: room for a record that was never filled is also a torn tail.
func TestA3ZeroFilledTail(t *testing.T) {
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	whole, err := os.ReadFile(s.log())
	s.must(err)
	s.must(s.move(map[string]int{a: 2}))
	both, err := os.ReadFile(s.log())
	s.must(err)
	for _, written := range []int{0, 12} {
		tail := append(bytes.Clone(both[:len(whole)+written]),
			make([]byte, len(both)-len(whole)-written)...)
		s.must(os.WriteFile(s.log(), tail, 0o600))
		if v := s.read(); v.Number != 1 || v.Torn == 0 {
			t.Errorf("%d bytes and zeros: operation %d, torn %d", written, v.Number, v.Torn)
		}
	}
}

// A3 with sectors: after a power cut, a record longer than a sector can have any subset of its
// sectors. With all of them it counts as committed. With another wrong byte it is damage. Records
// that were acknowledged before it are never part of the torn tail.
func TestA3UnwrittenSectors(t *testing.T) {
	const sector = 512
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	whole, err := os.ReadFile(s.log())
	s.must(err)
	long := map[string]int{}
	for n := range 40 {
		long[fmt.Sprintf("sessions/s%d/main", n)] = n
	}
	s.must(s.move(long))
	both, err := os.ReadFile(s.log())
	s.must(err)
	var parts [][2]int
	for at := len(whole); at < len(both); {
		end := min(len(both), (at/sector+1)*sector)
		parts = append(parts, [2]int{at, end})
		at = end
	}
	if len(parts) < 4 || len(parts) > 12 {
		t.Fatalf("the record is in %d sectors", len(parts))
	}
	for left := range thirds.Range(t, 1<<len(parts)) {
		tail, lost := bytes.Clone(both), 0
		for i, p := range parts {
			if left&(1<<i) == 0 {
				clear(tail[p[0]:p[1]])
				if p[1]-p[0] >= 8 {
					lost++
				}
			}
		}
		if lost == 0 {
			continue
		}
		s.must(os.WriteFile(s.log(), tail, 0o600))
		if v := s.read(); v.Number != 1 || v.Torn != int64(len(both)-len(whole)) {
			t.Fatalf("sectors %b of %d are there: operation %d, torn %d", left, len(parts),
				v.Number, v.Torn)
		}
	}
	const step = 11
	begin := len(whole) - 60
	for i := range thirds.Range(t, (len(both)-begin)/step) {
		bad, at := bytes.Clone(both), begin+step*i
		for i := range 8 { // four of them are in one record
			bad[min(at+10*i, len(bad)-5-i)] ^= 0x10
		}
		s.must(os.WriteFile(s.log(), bad, 0o600))
		if !s.passesOver() {
			t.Fatalf("bits flipped from %d of %d", at, len(both))
		}
	}
	// The same hole in a record before another record is damage.
	s.must(os.WriteFile(s.log(), both, 0o600))
	s.open(nil)
	s.must(s.move(map[string]int{a: 3}))
	more, err := os.ReadFile(s.log())
	s.must(err)
	for _, p := range parts {
		bad := bytes.Clone(more)
		clear(bad[p[0]:p[1]])
		s.must(os.WriteFile(s.log(), bad, 0o600))
		if !s.passesOver() {
			t.Fatalf("a hole at %d with a record behind", p[0])
		}
	}
}

// A4: a record that cannot be synced is cut off again. If that fails too, the writer returns
// ErrMaybe.
func TestA4FailedSync(t *testing.T) {
	disk := errors.New("input/output error")
	for _, both := range []bool{false, true} {
		s := newStore(t)
		s.must(s.move(map[string]int{a: 1}))
		before, err := os.ReadFile(s.log())
		s.must(err)
		s.open(&durable.FS{Hook: func(c durable.Call) error {
			if c.Op == durable.OpSync || both && c.Op == durable.OpTruncate {
				if c.Op == durable.OpSync && !both && c.N > 2 {
					return nil // the sync after the truncation
				}
				return disk
			}
			return nil
		}})
		err = s.move(map[string]int{a: 2})
		if err == nil || errors.Is(err, ErrMaybe) != both {
			t.Errorf("truncation fails %v: %v", both, err)
		}
		after, _ := os.ReadFile(s.log())
		if !both && !bytes.Equal(before, after) {
			t.Error("the record is still there")
		}
	}
}

// A log that can be neither opened for writing nor cut has not been written to, so the error is not
// ErrMaybe.
func TestLogThatCannotBeOpened(t *testing.T) {
	disk := errors.New("operation not permitted")
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	s.open(&durable.FS{Hook: func(c durable.Call) error { return disk }})
	if err := s.move(map[string]int{a: 2}); !errors.Is(err, disk) || errors.Is(err, ErrMaybe) {
		t.Errorf("got %v", err)
	}
}

// A6: an operation that names a missing object is not recorded.
func TestA6NamesMustExist(t *testing.T) {
	s := newStore(t)
	s.db.Objects = anything{missing: map[format.ID]bool{id(5): true}}
	if err := s.move(map[string]int{a: 5}); err == nil ||
		!strings.Contains(err.Error(), "missing object") {
		t.Errorf("got %v", err)
	}
	op := &format.Operation{Verb: "graduate", Time: s.now,
		Forests: []format.ForestUpdate{{Name: "main",
			Decisions: []format.Decision{{Kind: format.DecideJoin, ID: id(5)}}}}}
	if _, err := s.db.Commit(s.held, s.view, op, nil); err == nil {
		t.Error("a decision about a missing entry was recorded")
	}
	if _, err := s.db.Commit(s.held, s.view, op, map[format.ID]bool{id(5): true}); err != nil {
		t.Errorf("what was just put: %v", err)
	}
}

// A8: the log is divided into segments, the record of an append is small, and old segments are
// removed after a checkpoint operation.
func TestA8SegmentsAndTheirEnd(t *testing.T) {
	s := newStore(t)
	for n := range 200 {
		s.must(s.move(map[string]int{a: n}))
	}
	info, err := os.Stat(s.log())
	s.must(err)
	if per := info.Size() / 200; per > 300 {
		t.Errorf("%d bytes for an append", per)
	}
	for segment := uint64(2); segment < 5; segment++ {
		// The effect of a full segment, without 4 MiB of records.
		s.must(s.db.beginSegment(segment, s.view.Number+1))
		s.view.end = cursor{segment: segment,
			offset: int64(len(s.db.segmentHeader(s.view.Number + 1))), number: s.view.Number,
			digest: s.view.Digest}
		op := &format.Operation{Verb: VerbCheckpoint, Time: s.now}
		s.now = s.now.Add(24 * time.Hour)
		v, err := s.db.Commit(s.held, s.view, op, nil)
		s.must(err)
		s.view = v
		s.must(s.db.Checkpoint(s.held, s.view))
		s.must(s.move(map[string]int{a: int(1000 + segment)}))
	}
	all := s.numbers()
	if len(all) != 206 {
		t.Fatalf("%d operations", len(all))
	}
	dropped, err := s.dropBefore(s.now.Add(-20 * time.Hour))
	s.must(err)
	if dropped != 3 {
		t.Errorf("dropped %d segments", dropped)
	}
	if again, err := s.dropBefore(s.now.Add(-20 * time.Hour)); err != nil || again != 0 {
		t.Errorf("again: %d, %v", again, err)
	}
	// A power cut can bring back some of them, and not those between.
	for _, n := range []uint64{1, 3} {
		s.must(os.WriteFile(s.db.segmentPath(n), nil, 0o600))
	}
	base, err := s.db.Base()
	s.must(err)
	if there, err := s.db.Outlived(base); err != nil || !there {
		t.Errorf("what came back is not seen: %v", err)
	}
	if again, err := s.db.DropTo(s.held, base.Number); err != nil || again != 2 {
		t.Errorf("of two that came back, %d were dropped: %v", again, err)
	}
	if there, err := s.db.Outlived(base); err != nil || there {
		t.Errorf("something is left: %v", err)
	}
	if left := s.numbers(); len(left) == 0 || left[len(left)-1] != 206 || left[0] <= 200 {
		t.Errorf("left: %v", left)
	}
	if v := s.read(); v.Get(a) != tip(1004) {
		t.Errorf("a is %v", v.Get(a))
	}
}

// dropBefore drops as much as possible of the log before a time.
func (s *store) dropBefore(cutoff time.Time) (int, error) {
	s.Helper()
	r, ok, err := s.db.CanBegin(cutoff)
	if err != nil || !ok {
		return 0, err
	}
	return s.db.DropTo(s.held, r.Op.Number)
}

func (s *store) numbers() []uint64 {
	s.Helper()
	var forward, backward []uint64
	s.must(
		s.db.Forward(func(r Record) bool { forward = append(forward, r.Op.Number); return true }))
	s.must(
		s.db.Backward(s.read(),
			func(r Record) bool { backward = append(backward, r.Op.Number); return true }))
	slices.Reverse(backward)
	if !slices.Equal(forward, backward) {
		s.Fatalf("forward %v, backward %v", forward, backward)
	}
	return forward
}

func TestNextSegmentBeginsWhenFull(t *testing.T) {
	s := newStore(t)
	big := make([]format.Decision, 1000)
	for i := range big {
		big[i] = format.Decision{Kind: format.DecideJoin, ID: id(i)}
	}
	for range 130 {
		op := &format.Operation{Verb: "graduate", Time: s.now,
			Forests: []format.ForestUpdate{{Name: "main", Decisions: big}}}
		v, err := s.db.Commit(s.held, s.view, op, nil)
		s.must(err)
		s.view = v
	}
	if _, err := os.Stat(s.db.segmentPath(2)); err != nil {
		t.Error(err)
	}
	if n := s.numbers(); len(n) != 130 {
		t.Errorf("%d operations", len(n))
	}
	// A record that is cut short before another segment is no torn tail.
	info, err := os.Stat(s.log())
	s.must(err)
	s.must(os.Truncate(s.log(), info.Size()-3))
	var corrupt *CorruptError
	if _, err := s.db.Read(); !errors.As(err, &corrupt) {
		t.Errorf("got %v", err)
	}
}

func TestCommitExpectsOldValues(t *testing.T) {
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	op := &format.Operation{Verb: "append", Time: s.now,
		Refs: []format.RefUpdate{{Name: a, Old: tip(9), New: tip(2)}}}
	var stale *StaleError
	if _, err := s.db.Commit(s.held, s.view, op, nil); !errors.As(err, &stale) || stale.Ref != a {
		t.Errorf("got %v", err)
	}
	for name, u := range map[string]format.RefUpdate{
		"a kind that there is not": {Name: "tags/x",
			New: format.Value{Kind: format.ObjectValue, ID: id(1)}},
		"an object in a session": {Name: b,
			New: format.Value{Kind: format.ObjectValue, ID: id(1)}},
		"a session in a name":   {Name: "user/x", New: tip(1)},
		"a move to where it is": {Name: a, Old: tip(1), New: tip(1)},
		"HEAD with a path": {Name: "HEAD/x",
			New: format.Value{Kind: format.NameValue, Name: "a"}},
	} {
		op := &format.Operation{Verb: "append", Time: s.now, Refs: []format.RefUpdate{u}}
		if _, err := s.db.Commit(s.held, s.view, op, nil); err == nil {
			t.Errorf("%s: recorded", name)
		}
	}
	s.must(s.held.Release())
	if _, err := s.db.Commit(&lock.Held{}, s.view, op, nil); err == nil {
		t.Error("recorded without the lock")
	}
	s.held = nil
}

// A checkpoint may not hide decisions that its forest does not hold.
func TestCheckpointWantsForestWritten(t *testing.T) {
	s := newStore(t)
	op := &format.Operation{Verb: "graduate", Time: s.now,
		Forests: []format.ForestUpdate{{Name: "main",
			Decisions: []format.Decision{{Kind: format.DecideJoin, ID: id(1)}}}}}
	v, err := s.db.Commit(s.held, s.view, op, nil)
	s.must(err)
	if err := s.db.Checkpoint(s.held, v); err == nil {
		t.Error("decisions went under the checkpoint")
	}
	op = &format.Operation{Verb: VerbCheckpoint, Time: s.now,
		Refs: []format.RefUpdate{{Name: "forests/main",
			New: format.Value{Kind: format.ObjectValue, ID: id(2)}}}}
	v, err = s.db.Commit(s.held, v, op, nil)
	s.must(err)
	s.must(s.db.Checkpoint(s.held, v))
	if p := s.read().Pending("main", 0); len(p) > 0 {
		t.Errorf("pending: %v", p)
	}
}

// The decisions since the write of a forest's ref are those of its later records, whatever is left
// out of them.
func TestPending(t *testing.T) {
	decide := func(forest string, clusters ...uint64) Record {
		u := format.ForestUpdate{Name: forest}
		for _, n := range clusters {
			u.Decisions = append(u.Decisions, format.Decision{Kind: format.DecideJoin, Cluster: n})
		}
		return Record{Op: &format.Operation{Forests: []format.ForestUpdate{u}}}
	}
	write := Record{Op: &format.Operation{Refs: []format.RefUpdate{{Name: "forests/main"}}}}
	for _, test := range []struct {
		name  string
		since []Record
		want  []uint64
	}{
		{"nothing", nil, nil},
		{"written last", []Record{decide("main", 1), write}, nil},
		{"another forest", []Record{decide("other", 1), decide("main", 2), decide("other", 3)},
			[]uint64{2}},
		{"written between",
			[]Record{decide("main", 1, 2), write, decide("main", 3), decide("main", 4, 5, 6)},
			[]uint64{3, 4, 5, 6}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := &View{Since: test.since}
			if n := v.PendingCount("main"); n != len(test.want) {
				t.Errorf("PendingCount: %d, want %d", n, len(test.want))
			}
			for n := range len(test.want) + 1 {
				var got []uint64
				for _, d := range v.Pending("main", n) {
					got = append(got, d.Cluster)
				}
				if !slices.Equal(got, test.want[n:]) {
					t.Errorf("without the first %d: %v, want %v", n, got, test.want[n:])
				}
			}
		})
	}
}

// Files of another store are refused, and a store without a log is not a new store.
func TestD11ForeignAndMissing(t *testing.T) {
	s := newStore(t)
	s.must(s.move(map[string]int{a: 1}))
	other := Open(s.dir, "ffffffffffffffffffffffffffffffff", nil, anything{})
	var corrupt *CorruptError
	if _, err := other.Read(); !errors.As(err, &corrupt) {
		t.Errorf("got %v", err)
	}
	s.must(os.Remove(s.log()))
	if _, err := s.db.Read(); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &corrupt) {
		t.Errorf("got %v", err)
	}
}

// The checkpoint operation is recorded, but the checkpoint file is not written (a crash, a full
// disk), and the log continues in the next segment. Dropping the log before that operation must not
// remove the segment that the old checkpoint file needs.
func TestDropKeepsWhatTheCheckpointNeeds(t *testing.T) {
	s := newStore(t)
	commit := func(op *format.Operation) {
		t.Helper()
		op.Time = s.now
		s.now = s.now.Add(time.Second)
		v, err := s.db.Commit(s.held, s.view, op, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.view = v
	}
	var list []format.Decision
	for i := range 60000 {
		list = append(list, format.Decision{Kind: format.DecideJoin, ID: id(i)})
	}
	commit(&format.Operation{Verb: "graduate", Session: "s",
		Refs:    []format.RefUpdate{{Name: "sessions/s/main", New: tip(1)}},
		Forests: []format.ForestUpdate{{Name: "main", Decisions: list}}})
	commit(&format.Operation{Verb: "graduate", Session: "s",
		Refs:    []format.RefUpdate{{Name: "sessions/s/main", Old: tip(1), New: tip(2)}},
		Forests: []format.ForestUpdate{{Name: "main", Decisions: list}}})
	commit(&format.Operation{Verb: "graduate", Session: "s",
		Refs:    []format.RefUpdate{{Name: "sessions/s/main", Old: tip(2), New: tip(3)}},
		Forests: []format.ForestUpdate{{Name: "main", Decisions: list}}})
	commit(&format.Operation{Verb: VerbCheckpoint,
		Refs: []format.RefUpdate{{Name: "forests/main",
			New: format.Value{Kind: format.ObjectValue, ID: id(7)}}}})
	// A crash here: s.db.Checkpoint is not called.
	if _, err := s.dropBefore(s.now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Read(); err != nil {
		t.Fatalf("the refs cannot be read any more: %v", err)
	}
}

// BenchmarkRead measures a read with 255 records after the checkpoint, the most there usually are.
func BenchmarkRead(b *testing.B) {
	s := newStore(b)
	for n := range 255 {
		s.must(s.move(map[string]int{"sessions/9f77ed91-0000-4000-8000-000000000000/main": n}))
	}
	for b.Loop() {
		s.read()
	}
}

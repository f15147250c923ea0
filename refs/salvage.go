package refs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// Salvage describes what can be saved of damaged refs, and the steps that make them readable again.
// DB.Salvage only reads; DB.Restore performs the steps.
type Salvage struct {
	Mended []string // damage that can be repaired without a loss, one line each
	Lost   []string // losses, one line each
	// Later holds whole records behind the damage, oldest first. They no longer follow from the
	// operations before it. The caller takes what is damaged out of the objects of a Damaged one.
	Later []Record
	// Objects are what damaged records carry. They may be damaged themselves. The caller stores those
	// that are sound before it calls Restore.
	Objects []format.Raw

	start      *format.Checkpoint // where the kept log begins
	checkpoint bool               // the checkpoint must be replaced by start
	base       bool               // the base must be replaced by start
	noBase     bool               // a damaged base must be removed; the whole log exists
	before     uint64             // segments with a lower number must be removed
	fresh      bool               // the log continues in a segment that does not exist yet
	// heads maps each segment whose first line must be written again to the number of its first
	// operation.
	heads map[uint64]uint64
	cut   *cursor // where the kept log ends and the damage begins
	last  uint64  // the newest segment that exists
}

// Needed reports whether Restore has anything to do.
func (v *Salvage) Needed() bool {
	return v.checkpoint || v.base || v.noBase || v.before > 0 || len(v.heads) > 0 || v.cut != nil
}

// ErrBeyondRepair says that neither a checkpoint nor the beginning of the log can be read.
var ErrBeyondRepair = errors.New("neither a checkpoint nor the beginning of the log can be read")

// Salvage examines the checkpoint, the base and every segment. It returns a *format.VersionError if
// a newer version wrote one of them, and ErrBeyondRepair if there is nothing to begin from.
func (db *DB) Salvage() (*Salvage, error) {
	v := &Salvage{heads: map[uint64]uint64{}}
	checkpoint, why := db.readCheckpoint(db.checkpointPath())
	base, baseWhy := db.readCheckpoint(db.basePath())
	for _, err := range []error{why, baseWhy} {
		if errors.As(err, new(*format.VersionError)) {
			return nil, err
		}
	}
	segments, err := db.segments()
	if err != nil {
		return nil, err
	}
	if len(segments) > 0 {
		v.last = segments[len(segments)-1]
	}
	if base != nil && checkpoint != nil && base.Number > checkpoint.Number {
		base, checkpoint = checkpoint, base // they have changed places
		v.base, v.checkpoint = true, true
		v.Mended = append(v.Mended, "refs/checkpoint and refs/base have changed places")
	}
	noBase := errors.Is(baseWhy, fs.ErrNotExist)
	whole := false
	if base == nil && slices.Contains(segments, 1) {
		if whole, err = db.beginsAt1(); err != nil {
			return nil, err
		}
	}
	if whole {
		base = &format.Checkpoint{Store: db.store, Segment: 1,
			Offset: uint64(len(db.segmentHeader(1)))}
		if !noBase {
			v.noBase = true
			v.Mended = append(v.Mended, "refs/base is damaged; the log is there from its beginning")
		}
	}
	if err := v.findStart(db, base, checkpoint); err != nil {
		return nil, fmt.Errorf("%w: %w", err, errors.Join(why, baseWhy))
	}
	return v, nil
}

// findStart decides where the kept log begins and ends.
func (v *Salvage) findStart(db *DB, base, checkpoint *format.Checkpoint) error {
	if base != nil {
		end, damage, err := db.follow(cursorOf(base), v.last, v.heads)
		if err != nil {
			return err
		}
		if !damage && checkpoint != nil && end.number == checkpoint.Number &&
			end.segment+1 == checkpoint.Segment {
			// The newest segment, in which nothing is known to be recorded, is lost.
			end, damage = cursor{segment: checkpoint.Segment, number: end.number,
				digest: end.digest}, true
		}
		if checkpoint == nil || end.number >= checkpoint.Number {
			v.start = base
			if checkpoint == nil {
				v.checkpoint = true
				v.Mended = append(v.Mended, "refs/checkpoint is made again from the log")
			}
			return v.cutAt(db, end, damage)
		}
	}
	if checkpoint == nil {
		return ErrBeyondRepair
	}
	clear(v.heads)
	end, damage, err := db.follow(cursorOf(checkpoint), v.last, v.heads)
	if err != nil {
		return err
	}
	from := "its beginning"
	if base != nil {
		from = fmt.Sprintf("operation %d", base.Number+1)
	}
	v.start, v.base, v.before, v.noBase = checkpoint, true, checkpoint.Segment, false
	v.Lost = append(v.Lost,
		fmt.Sprintf(
			"the log from %s to operation %d; undo, reflog and the like reach no further back",
			from, checkpoint.Number))
	if err := v.cutAt(db, end, damage); err != nil {
		return err
	}
	if damage && end == cursorOf(checkpoint) {
		// No part of the log can be kept. The new segment leaves a gap in the numbers, so that
		// readers do not reach it before the checkpoint names it.
		v.cut, v.fresh, v.checkpoint = nil, true, true
		v.start.Segment, v.start.Offset = max(v.last, v.start.Segment)+2,
			uint64(len(db.segmentHeader(v.start.Number+1)))
		v.before = v.start.Segment
	}
	return nil
}

func cursorOf(c *format.Checkpoint) cursor {
	return cursor{segment: c.Segment, offset: int64(c.Offset), number: c.Number, digest: c.Digest}
}

// cutAt makes the kept log end where the damage begins, and collects the whole records behind it.
func (v *Salvage) cutAt(db *DB, end cursor, damage bool) error {
	if !damage {
		return nil
	}
	v.cut = &end
	seen := map[uint64]bool{}
	for n := end.segment; n <= max(v.last, end.segment); n++ {
		b, err := db.bytesWithGaps(n)
		if err != nil && unreadable(err) {
			return err
		}
		if err != nil {
			continue // all of it is lost
		}
		if n == end.segment {
			b = b[min(end.offset, int64(len(b))):]
		}
		v.collect(b, end.number, seen)
	}
	slices.SortFunc(v.Later, byNumber)
	line := fmt.Sprintf("what is recorded in the log after operation %d", end.number)
	if n := len(v.Later); n > 0 {
		line += fmt.Sprintf(", but %d operations from %d to %d", n, v.Later[0].Op.Number,
			v.Later[n-1].Op.Number)
	}
	v.Lost = append(v.Lost, line)
	return nil
}

func byNumber(a, b Record) int { return cmp.Compare(a.Op.Number, b.Op.Number) }

// collect adds to v.Later the whole records in damaged bytes whose numbers are above after.
func (v *Salvage) collect(b []byte, after uint64, seen map[uint64]bool) {
	for {
		i := bytes.Index(b, []byte("ctxo"))
		if i < 0 {
			return
		}
		op, digest, n, err := format.DecodeOperation(b[i:])
		damaged := errors.Is(err, format.ErrObjects)
		if err != nil && !damaged {
			v.Objects = append(v.Objects, format.SalvageObjects(b[i:])...)
			b = b[i+1:]
			continue
		}
		if op.Number > after && !seen[op.Number] {
			seen[op.Number] = true
			v.Later = append(v.Later, Record{Op: op, Digest: digest, Damaged: damaged})
		}
		b = b[i+n:]
	}
}

// follow reads the log from at to the end of the segment last, or to the first damage. A missing
// segment before last is damage, and so is a record that carried an entry which is nowhere now. A
// damaged first line of a segment is none, because the operations before it give its content;
// follow notes such segments in heads.
func (db *DB) follow(
	at cursor, last uint64, heads map[uint64]uint64,
) (end cursor, damage bool, err error) {
	for {
		b, err := db.bytesWithGaps(at.segment)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || isCorrupt(err) {
				return at, true, nil
			}
			return at, false, err
		}
		head := db.segmentHeader(at.number + 1)
		if at.offset > 0 && !db.headFits(b) {
			db.mendHead(b, at, heads)
		}
		switch {
		case at.offset == 0 && bytes.HasPrefix(b, []byte(head)):
			at.offset = int64(len(head))
		case at.offset == 0:
			at.offset = int64(len(head))
			if len(b) < len(head) || len(b) > len(head) && !db.goesOn(b[len(head):], at) {
				at.offset = 0
				return at, true, nil
			}
			heads[at.segment] = at.number + 1
		case at.offset > int64(len(b)):
			return at, true, nil
		}
		torn := false
		for int(at.offset) < len(b) {
			rest := b[at.offset:]
			op, digest, n, _, err := db.decodeNext(rest, at.offset)
			if err == nil && len(op.Objects) > 0 {
				_, _, _, err = format.DecodeOperation(rest)
			}
			if errors.Is(err, format.ErrObjects) && !isTorn(rest, at.offset, err) {
				var lacks bool
				if lacks, err = db.lacks(op); err != nil {
					return at, false, err
				}
				if lacks {
					return at, true, nil
				}
			}
			if err != nil && isTorn(rest, at.offset, err) {
				torn = true
				break
			}
			if errors.As(err, new(*format.VersionError)) {
				return at, false, err
			}
			if err != nil || op.Number != at.number+1 || op.Before != at.digest {
				return at, true, nil
			}
			at.number, at.digest, at.offset = op.Number, digest, at.offset+int64(n)
		}
		if torn && db.isTooLarge(at.segment) {
			return at, true, nil
		}
		if _, err := os.Lstat(db.segmentPath(at.segment + 1)); errors.Is(err, fs.ErrNotExist) {
			return at, at.segment < last, nil
		} else if err != nil {
			return at, false, err
		}
		if torn {
			return at, true, nil
		}
		at.segment, at.offset = at.segment+1, 0
	}
}

// mendHead works out the first line of a segment in whose middle the log begins. The record after
// the line gives the number in it, and the number gives the length of the line.
func (db *DB) mendHead(b []byte, at cursor, heads map[uint64]uint64) {
	for digits := 1; digits <= 20; digits++ {
		length := len(db.segmentHeader(0)) - 1 + digits
		if length > len(b) {
			return
		}
		if op, _, _, err := decode(b[length:]); err == nil &&
			len(db.segmentHeader(op.Number)) == length {
			heads[at.segment] = op.Number
			return
		}
		if head := db.segmentHeader(at.number + 1); int64(len(head)) == at.offset &&
			length == len(head) {
			heads[at.segment] = at.number + 1
			return
		}
	}
}

// goesOn reports whether b begins with the record that must come next.
func (db *DB) goesOn(b []byte, at cursor) bool {
	op, _, _, err := decode(b)
	return err == nil && op.Number == at.number+1 && op.Before == at.digest
}

// beginsAt1 reports whether segment 1 begins with the first operation, or has none yet. The error
// is that of a read that may succeed later.
func (db *DB) beginsAt1() (bool, error) {
	b, err := db.bytesWithGaps(1)
	if err != nil && unreadable(err) {
		return false, err
	}
	head := db.segmentHeader(1)
	if err != nil || len(b) < len(head) {
		return false, nil
	}
	rest := b[len(head):]
	if db.goesOn(rest, cursor{}) {
		return true, nil
	}
	_, _, _, err = decode(rest)
	return string(b[:len(head)]) == head && (len(rest) == 0 || isTorn(rest, int64(len(head)), err)),
		nil
}

func isCorrupt(err error) bool {
	return errors.As(err, new(*CorruptError))
}

// maxSegmentFile is the most bytes that are read of a segment. Its last record may have any legal
// length.
const maxSegmentFile = SegmentSize + format.MaxPayload + 1<<20

// segments lists the numbers of the log's segment files, sorted.
func (db *DB) segments() ([]uint64, error) {
	files, err := os.ReadDir(filepath.Join(db.root, "refs"))
	if err != nil {
		return nil, fmt.Errorf("cannot list the log: %w", err)
	}
	var list []uint64
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Name(), "log-")
		if n, err := strconv.ParseUint(rest, 10, 64); ok && err == nil &&
			strconv.FormatUint(n, 10) == rest {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// laterPath is the file that keeps the whole records behind a damage until a repair has recorded
// their content again.
func (db *DB) laterPath() string { return filepath.Join(db.root, "log", "after-damage") }

// Restore makes the refs readable again, as v says. A crash after any step leaves what a second
// Salvage needs: Restore copies the whole records behind the damage to a file in log/ before it
// cuts them off, and the file stays until Forgive. clear removes anything at a path that is not a
// regular file.
func (db *DB) Restore(held *lock.Held, v *Salvage, clear func(path string) error) error {
	if err := held.Of(db.root); err != nil {
		return err
	}
	write := func(path string, b []byte) error {
		if err := clear(path); err != nil {
			return err
		}
		return db.fs.WriteDurable(path, b, 0o600)
	}
	if v.cut != nil || v.fresh {
		if err := db.fs.MkdirAll(filepath.Dir(db.laterPath())); err != nil {
			return err
		}
		kept, err := durable.ReadFile(db.laterPath())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, r := range v.Later {
			record, _, err := r.Op.Encode()
			if err != nil {
				return err
			}
			kept = append(kept, record...)
		}
		if err := write(db.laterPath(), kept); err != nil {
			return err
		}
	}
	if len(v.heads) > 0 {
		v.Mended = append(v.Mended,
			fmt.Sprintf("the first line of %d segments of the log", len(v.heads)))
	}
	for segment, first := range v.heads {
		if v.cut != nil && segment > v.cut.segment {
			continue
		}
		b, err := db.bytesWithGaps(segment)
		if err != nil {
			return err
		}
		head := db.segmentHeader(first)
		if err := write(db.segmentPath(segment),
			append([]byte(head), b[len(head):]...)); err != nil {
			return err
		}
	}
	if err := db.cutLog(v, write, clear); err != nil {
		return err
	}
	if v.fresh {
		if err := write(db.segmentPath(v.start.Segment),
			[]byte(db.segmentHeader(v.start.Number+1))); err != nil {
			return err
		}
	}
	if v.base || v.checkpoint {
		b, err := v.start.Encode()
		if err != nil {
			return err
		}
		// The log can be read with either file alone, so their order does not matter.
		for _, one := range []struct {
			want bool
			path string
		}{{v.base, db.basePath()}, {v.checkpoint, db.checkpointPath()}} {
			if !one.want {
				continue
			}
			if err := write(one.path, b); err != nil {
				return err
			}
		}
	}
	if v.noBase {
		if err := clear(db.basePath()); err != nil {
			return err
		}
		return db.fs.RemoveDurable(db.basePath())
	}
	return db.removeSegments(v.before, clear)
}

// removeSegments removes every segment with a number below before.
func (db *DB) removeSegments(before uint64, clear func(string) error) error {
	segments, err := db.segments()
	if err != nil {
		return err
	}
	for _, n := range segments {
		if n >= before {
			break
		}
		if err := db.removeSegment(n, clear); err != nil {
			return err
		}
	}
	return db.fs.SyncDir(filepath.Join(db.root, "refs"))
}

func (db *DB) removeSegment(n uint64, clear func(string) error) error {
	if err := clear(db.segmentPath(n)); err != nil {
		return err
	}
	if err := db.fs.Remove(db.segmentPath(n)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// cutLog cuts off the damage and the rest of its segment, after it has removed all later segments,
// newest first.
func (db *DB) cutLog(v *Salvage, write func(string, []byte) error, clear func(string) error) error {
	if v.cut == nil {
		return nil
	}
	for n := v.last; n > v.cut.segment; n-- {
		if err := db.removeSegment(n, clear); err != nil {
			return err
		}
	}
	b, err := db.bytesWithGaps(v.cut.segment)
	if err != nil && unreadable(err) {
		return err
	}
	if v.cut.offset == 0 || err != nil || int64(len(b)) < v.cut.offset {
		if v.cut.offset > int64(len(db.segmentHeader(v.cut.number+1))) {
			return fmt.Errorf("cannot restore the log: %q has lost the bytes before %d",
				db.segmentPath(v.cut.segment), v.cut.offset)
		}
		b = []byte(db.segmentHeader(v.cut.number + 1))
		return write(db.segmentPath(v.cut.segment), b)
	}
	return write(db.segmentPath(v.cut.segment), b[:v.cut.offset])
}

// Pending returns the whole records that Restore cut off behind a damage, oldest first. cut is true
// from Restore until Forgive, even if there are no such records.
func (db *DB) Pending() (later []Record, cut bool, err error) {
	b, err := durable.ReadFile(db.laterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	v := &Salvage{}
	v.collect(b, 0, map[uint64]bool{})
	slices.SortFunc(v.Later, byNumber)
	return v.Later, true, nil
}

// Forgive removes the records that Pending returns. The caller has recorded their content again.
func (db *DB) Forgive(held *lock.Held) error {
	if err := held.Of(db.root); err != nil {
		return err
	}
	return db.fs.RemoveDurable(db.laterPath())
}

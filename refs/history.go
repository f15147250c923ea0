package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// Base returns the refs at the start of the kept log. They are empty if no segment was ever
// dropped.
func (db *DB) Base() (*format.Checkpoint, error) {
	c, err := db.readCheckpoint(db.basePath())
	if errors.Is(err, fs.ErrNotExist) {
		return &format.Checkpoint{Store: db.store, Segment: 1}, nil
	}
	return c, err
}

// Forward calls each for every operation of the kept log, oldest first, until each returns false.
// It checks the chain of digests.
func (db *DB) Forward(each func(Record) bool) error {
	base, err := db.Base()
	if err != nil {
		return err
	}
	_, _, err = db.scanLog(cursorOf(base), false, func(records []Record) error {
		for _, r := range records {
			if !each(r) {
				return errStop
			}
		}
		return nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return missing(err)
}

var errStop = errors.New("stop")

// Backward calls each for every operation of the kept log up to v, newest first, until each returns
// false. It reads the log from its end, so recent operations are cheap to find. It passes over what
// v has of operations that are Lost.
func (db *DB) Backward(v *View, each func(Record) bool) error {
	for _, r := range slices.Backward(v.Since) {
		if r.Lost == nil && !each(r) {
			return nil
		}
	}
	base, err := db.Base()
	if err != nil {
		return err
	}
	for at := v.start; at.number > base.Number; {
		more, err := db.backThrough(&at, base, each)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// backWindow is the number of bytes that Backward reads at a time: about 250 records of appends.
const backWindow = 64 << 10

// backThrough reads one segment backwards, from at.offset to its first record or to the base. at
// holds the number and the digest of the record that ends at at.offset; offset 0 stands for the end
// of the segment. more is false if each returned false.
func (db *DB) backThrough(
	at *cursor, base *format.Checkpoint, each func(Record) bool,
) (more bool, err error) {
	path := db.segmentPath(at.segment)
	f, err := db.openSegment(at.segment)
	if err != nil {
		return false, missing(err)
	}
	defer f.Close()
	head, err := headOf(f, path)
	if err != nil {
		return false, err
	}
	if at.offset == 0 {
		at.offset = f.size
	}
	r := backReader{f: f, path: path}
	for at.offset > head && at.number > base.Number {
		b, err := r.recordBefore(at.offset, head)
		if err != nil {
			return false, err
		}
		op, digest, n, err := decode(b)
		mended := false
		if err != nil {
			op, digest, n, mended, err = db.decodeNext(b, at.offset-int64(len(b)))
		}
		if err != nil || op.Number != at.number || digest != at.digest {
			return false, &CorruptError{Path: path, Offset: at.offset - int64(len(b)),
				Why: fmt.Sprintf("operation %d does not stand before byte %d",
					at.number, at.offset)}
		}
		at.offset -= int64(n)
		at.number, at.digest = op.Number-1, op.Before
		if !each(Record{Op: op, Digest: digest, Segment: at.segment, Offset: at.offset, Size: n,
			Mended: mended}) {
			return false, nil
		}
	}
	at.segment, at.offset = at.segment-1, 0
	return true, nil
}

// backReader reads the records of a segment from its end, a window of bytes at a time.
type backReader struct {
	f     io.ReaderAt
	path  string
	bytes []byte // the bytes of the file from start on
	start int64
}

// recordBefore returns the record that ends at byte end. The record must not start before head.
func (r *backReader) recordBefore(end, head int64) ([]byte, error) {
	if err := r.cover(max(head, end-4), end, head); err != nil {
		return nil, err
	}
	size := format.RecordSize(r.bytes[:end-r.start])
	if size == 0 || end-size < head {
		return nil, &CorruptError{Path: r.path, Offset: end, Why: "no record ends here"}
	}
	if err := r.cover(end-size, end, head); err != nil {
		return nil, err
	}
	return r.bytes[end-size-r.start : end-r.start], nil
}

// cover reads the bytes from..to, unless they are already in the window.
func (r *backReader) cover(from, to, head int64) error {
	if r.bytes != nil && from >= r.start && to <= r.start+int64(len(r.bytes)) {
		return nil
	}
	start := max(head, min(from, to-backWindow))
	b := make([]byte, to-start)
	if _, err := r.f.ReadAt(b, start); err != nil {
		if isCorrupt(err) {
			return err
		}
		return fmt.Errorf("cannot read %q: %w", r.path, err)
	}
	r.bytes, r.start = b, start
	return nil
}

// headOf returns the length of a segment's first line.
func headOf(f io.ReaderAt, path string) (int64, error) {
	b := make([]byte, 200)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	line := bytes.IndexByte(b[:n], '\n')
	if line < 0 || !bytes.HasPrefix(b, []byte("ctx-log 1 ")) {
		return 0, &CorruptError{Path: path, Offset: 0, Why: "not a log segment"}
	}
	return int64(line) + 1, nil
}

// CanBegin returns the newest operation older than cutoff after which the log can begin. The refs
// after this operation hold every earlier decision about forests, and the checkpoint needs no
// earlier operation. ok is false if there is no such operation.
func (db *DB) CanBegin(cutoff time.Time) (found Record, ok bool, err error) {
	// A crash can leave a checkpoint that is older than the operation made for it. That checkpoint
	// still needs the log after it.
	current, err := db.readCheckpoint(db.checkpointPath())
	if err != nil {
		return Record{}, false, err
	}
	unwritten := map[string]bool{}
	err = db.Forward(func(r Record) bool {
		if !r.Op.Time.Before(cutoff) || r.Op.Number > current.Number {
			return false
		}
		for _, f := range r.Op.Forests {
			unwritten[f.Name] = true
		}
		for _, u := range r.Op.Refs {
			if name, ok := strings.CutPrefix(u.Name, "forests/"); ok {
				delete(unwritten, name)
			}
		}
		if len(unwritten) == 0 {
			found, ok = r, true
		}
		return true
	})
	return found, ok, err
}

// DropTo removes the log up to an operation that CanBegin returned. The refs after that operation
// become the base, and all segments before it are removed. undo, reflog and ref@{n} reach back only
// to the base. After a crash the next call finishes the work. dropped is the number of removed
// segments.
func (db *DB) DropTo(held *lock.Held, number uint64) (dropped int, err error) {
	if err := held.Of(db.root); err != nil {
		return 0, err
	}
	base, err := db.Base()
	if err != nil {
		return 0, err
	}
	if number <= base.Number {
		return db.removeBefore(base.Segment)
	}
	running := viewOf(base)
	err = db.Forward(func(r Record) bool {
		running.follow(r)
		running.Since = nil
		return r.Op.Number < number
	})
	if err != nil {
		return 0, err
	}
	running.sortNames()
	if running.Number != number {
		return 0, fmt.Errorf("cannot drop the log up to operation %d: it ends at %d", number,
			running.Number)
	}
	next := db.checkpointOf(running)
	if err := db.advance(next); err != nil {
		return 0, err
	}
	b, err := next.Encode()
	if err != nil {
		return 0, err
	}
	if err := db.fs.WriteDurable(db.basePath(), b, 0o600); err != nil {
		return 0, err
	}
	return db.removeBefore(next.Segment)
}

// advance moves a base at the end of a closed segment to the start of the next one, so that the
// segment can go.
func (db *DB) advance(base *format.Checkpoint) error {
	s, err := db.openSegment(base.Segment)
	if err != nil {
		return err
	}
	size := s.size
	if err := s.Close(); err != nil {
		return err
	}
	after, err := os.Stat(db.segmentPath(base.Segment + 1))
	if err == nil && after.Mode().IsRegular() && size == int64(base.Offset) {
		base.Segment, base.Offset = base.Segment+1, uint64(len(db.segmentHeader(base.Number+1)))
	}
	return nil
}

func (db *DB) removeBefore(segment uint64) (dropped int, err error) {
	old, err := db.before(segment)
	if err != nil {
		return 0, err
	}
	for _, n := range old {
		err := db.fs.Remove(db.segmentPath(n))
		if durable.InUse(err) {
			// A reader has the file open; a later DropTo removes it, see Outlived
			return dropped, nil
		}
		if err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// Outlived reports whether segments from before the base still exist. A crash can leave them, and
// so can a file system that does not keep the order of removals. DropTo with the base's number
// removes them.
func (db *DB) Outlived(base *format.Checkpoint) (bool, error) {
	old, err := db.before(base.Segment)
	return len(old) > 0, err
}

// before lists the existing segments with a lower number.
func (db *DB) before(segment uint64) (old []uint64, err error) {
	old, err = db.segments()
	end, _ := slices.BinarySearch(old, segment)
	return old[:end], err
}

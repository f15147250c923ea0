package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gemini-ctx/ctx/format"
)

// Record is an operation with its place in the log.
type Record struct {
	Op      *format.Operation
	Digest  format.ID
	Segment uint64
	Offset  int64 // the byte at which the record starts
	Size    int
	// Damaged is true if objects that the record carries are damaged; the operation is whole. Read
	// finds only some of this damage, CheckCarried all of it.
	Damaged bool
	// Mended is true if a byte of the record is damaged, and the record is what it was before. Read
	// finds all of this damage to operations, and CheckCarried to objects.
	Mended bool
	// Lost says why bytes of the log, from one record that can be read to the next, are none. Op has
	// the number of the last operation that was there, and the objects that can be told apart.
	Lost *CorruptError
}

// File returns the name of the segment that holds the record, below the store's directory, with a
// slash.
func (r Record) File() string { return fmt.Sprintf("refs/log-%d", r.Segment) }

// OperationSize returns about the number of bytes of the record without the objects that it
// carries.
func (r Record) OperationSize() int {
	size := r.Size
	for _, raw := range r.Op.Objects {
		size -= len(raw.Header) + len(raw.Body)
	}
	return size
}

// scan is the result of a pass over one segment.
type scan struct {
	records []Record
	end     int64 // the byte after the last whole record
	torn    int64 // bytes after end that belong to a record that was never completed
}

// cursor is a place in the log. number and digest are those of the operation before that place,
// which the next record must continue.
type cursor struct {
	segment uint64
	offset  int64
	number  uint64    // of the operation before
	digest  format.ID // of the operation before
	lost    bool      // operations between that one and this place cannot be read
}

// takes reports whether an operation goes on from this place.
func (c *cursor) takes(op *format.Operation) bool {
	if c.lost {
		return op.Number > c.number
	}
	return op.Number == c.number+1 && op.Before == c.digest
}

// scanSegment reads the records of one segment from at.offset on and moves the cursor behind them.
// If over is true, it passes over damage to the next whole record, and returns a Lost one for it.
// The error is fs.ErrNotExist if there is no such segment.
func (db *DB) scanSegment(at *cursor, over bool) (*scan, error) {
	path := db.segmentPath(at.segment)
	b, start, zeros, err := db.readSegment(path, at)
	if err != nil {
		return nil, err
	}
	out := &scan{end: start}
	for int(out.end-start) < len(b) {
		rest := b[out.end-start:]
		op, digest, n, mended, err := db.decodeNext(rest, out.end)
		damaged := errors.Is(err, format.ErrObjects) && !isTorn(rest, out.end, err)
		if err != nil && !damaged {
			if isTorn(rest, out.end, err) {
				out.torn = int64(len(rest)) + zeros
				break
			}
			if errors.As(err, new(*format.VersionError)) {
				return nil, err
			}
		} else if err = nil; !at.takes(op) {
			err = fmt.Errorf("operation %d does not follow operation %d", op.Number, at.number)
		}
		if err != nil {
			lost := &CorruptError{Path: path, Offset: out.end, Why: err.Error()}
			if !over {
				return nil, lost
			}
			r := lostRecord(rest, at, lost)
			out.records = append(out.records, r)
			out.end += int64(r.Size)
			continue
		}
		if out.records == nil { // the others are likely as long
			out.records = make([]Record, 0, min(len(b)/n+1, 512))
		}
		out.records = append(out.records,
			Record{Op: op, Digest: digest, Segment: at.segment, Offset: out.end, Size: n,
				Damaged: damaged, Mended: mended})
		at.number, at.digest, at.lost = op.Number, digest, false
		out.end += int64(n)
	}
	at.offset = out.end
	return out, nil
}

// lostRecord stands for the bytes of rest before the next whole record that can follow at. It moves
// the cursor behind the operations that were there: at least one, if there is no such record.
func lostRecord(rest []byte, at *cursor, why *CorruptError) Record {
	at.lost = true
	size, number := 1, at.number+1
	for size < len(rest) {
		i := bytes.Index(rest[size:], []byte("ctxo"))
		if i < 0 {
			size = len(rest)
			break
		}
		size += i
		if op, _, _, err := decode(rest[size:]); err == nil && at.takes(op) {
			number = op.Number - 1
			break
		}
		size++
	}
	at.number = number
	return Record{Op: &format.Operation{Number: at.number,
		Objects: format.SalvageObjects(rest[:size])},
		Digest: at.digest, Segment: at.segment, Offset: why.Offset, Size: size, Lost: why}
}

// readSegment returns the bytes of a segment from at.offset on, their offset, and the number of
// zeros that follow them in a file that is larger than any segment. Offset 0 stands for the first
// record.
func (db *DB) readSegment(
	path string, at *cursor,
) (b []byte, start, zeros int64, err error) {
	f, err := db.openSegment(at.segment)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	start = at.offset
	if start == 0 {
		head := db.segmentHeader(at.number + 1)
		got := make([]byte, len(head))
		if n, err := f.ReadAt(got, 0); err != nil && !errors.Is(err, io.EOF) ||
			string(got[:n]) != head {
			next := db.firstOf(got[:n])
			if at.lost && next > at.number {
				at.number, head = next-1, db.segmentHeader(next)
			} else if next > at.number+1 && at.segment > 1 {
				return nil, 0, 0, &CorruptError{Path: db.segmentPath(at.segment - 1), Offset: -1,
					Why: fmt.Sprintf(
						"ends with operation %d, and the segment after it begins with "+
							"operation %d", at.number, next)}
			} else {
				return nil, 0, 0,
					&CorruptError{Path: path, Offset: 0, Why: "not the segment that belongs here"}
			}
		}
		start = int64(len(head))
	}
	if f.size < start {
		return nil, 0, 0, &CorruptError{Path: path, Offset: f.size,
			Why: fmt.Sprintf("ends before byte %d, where the checkpoint goes on", start)}
	}
	if f.size-start > maxSegmentFile {
		return nil, 0, 0, f.tooLarge()
	}
	b = make([]byte, f.size-start)
	n, err := f.ReadAt(b, start)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, 0, err
	}
	return b[:n], start, f.zeros, nil
}

// firstOf parses b as the first line of a segment of this store and returns the number of the
// segment's first operation. It returns 0 if b is no such line.
func (db *DB) firstOf(b []byte) uint64 {
	line, _, ok := bytes.Cut(b[:min(len(b), maxHead)], []byte{'\n'})
	digits, found := bytes.CutPrefix(line, []byte("ctx-log 1 "+db.store+" "))
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if !ok || !found || err != nil {
		return 0
	}
	return n
}

// maxHead is the largest length in bytes of a segment's first line.
const maxHead = 200

// CheckHeads compares the first line of every segment of the kept log with the record after it.
// Readers that start in the middle of a segment do not do this. CheckHeads also returns a
// *CorruptError if a segment is missing before a later one, because readers would take the gap for
// the end of the log.
func (db *DB) CheckHeads() error {
	base, err := db.Base()
	if err != nil {
		return err
	}
	segments, err := db.segments()
	if err != nil {
		return err
	}
	next := base.Segment
	for _, n := range segments {
		if n < base.Segment {
			continue
		}
		if n != next {
			return &CorruptError{Path: db.segmentPath(next), Offset: -1,
				Why: fmt.Sprintf("is missing, and %q is there", filepath.Base(db.segmentPath(n)))}
		}
		next++
		b, err := db.bytesOf(n)
		if err != nil {
			return err
		}
		if !db.headFits(b) {
			return &CorruptError{Path: db.segmentPath(n), Offset: 0,
				Why: "its first line is not that of a segment with these operations"}
		}
	}
	return nil
}

// headFits reports whether the first line of a segment agrees with the record after it.
func (db *DB) headFits(b []byte) bool {
	first := db.firstOf(b)
	if first == 0 ||
		string(b[:min(len(b), len(db.segmentHeader(first)))]) != db.segmentHeader(first) {
		return false
	}
	op, _, _, err := decode(b[len(db.segmentHeader(first)):])
	return err != nil || op.Number == first
}

// decode reads the record at the start of b. Damage to the objects that it carries is no error: the
// operation is whole, and a look-up checks each object by its id.
func decode(b []byte) (op *format.Operation, digest format.ID, n int, err error) {
	op, digest, n, err = format.ReadOperation(b)
	if errors.Is(err, format.ErrObjects) {
		err = nil
	}
	return op, digest, n, err
}

// decodeNext reads the record at the start of rest, which goes on from byte at to the end of the
// segment. Only a record that ends there can be torn, so only then are its objects compared with
// its digest. Every look-up checks the object that it finds. A record in which a byte is damaged is
// read as it was.
func (db *DB) decodeNext(rest []byte, at int64) (
	op *format.Operation, digest format.ID, n int, mended bool, err error,
) {
	was := db.mended(rest, false)
	if was == nil {
		op, digest, n, err = format.ReadOperation(rest)
		if err == nil && n == len(rest) && len(op.Objects) > 0 {
			op, digest, n, err = format.DecodeOperation(rest)
		}
		if err == nil || isTorn(rest, at, err) {
			return op, digest, n, false, err
		}
		if was = db.mended(rest, true); was == nil {
			return op, digest, n, false, err
		}
	}
	op, digest, n, err = format.DecodeOperation(was)
	return op, digest, n, true, err
}

// mending is a damaged record, or the first bytes of one, and what it was; nil if nobody can tell.
type mending struct{ is, was []byte }

// maxUnmended is how many bytes of damage are remembered for which there is no help.
const maxUnmended = 4 << 10

// mended returns the record that was at the start of b before one byte of it was damaged, and nil
// if b is sound, or is damaged in more places. Unless search is true, it returns only what was
// found before: to search takes long.
func (db *DB) mended(b []byte, search bool) []byte {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, m := range db.mendings {
		if bytes.HasPrefix(b, m.is) {
			return m.was
		}
	}
	if !search {
		return nil
	}
	was := format.Mend(b)
	n := len(was)
	if was == nil {
		n = min(len(b), maxUnmended)
	} else if bytes.HasPrefix(b, was) {
		return nil
	}
	db.mendings = append(db.mendings, mending{bytes.Clone(b[:n]), was})
	return was
}

// isTorn reports whether the bytes rest, from byte at of a segment to its end, are a torn tail: a
// record that was being written when its writer stopped. err is the error of decoding rest. Only a
// record that the end of the file cuts short, or that was not filled completely, is torn, and only
// without a whole record after it. Everything else is damage.
func isTorn(rest []byte, at int64, err error) bool {
	if !format.IsUnfilledRecord(rest, at) && !format.IsShortRecord(err) {
		return false
	}
	return !holdsRecord(rest[1:])
}

func holdsRecord(b []byte) bool {
	for {
		i := bytes.Index(b, []byte("ctxo"))
		if i < 0 {
			return false
		}
		if _, _, _, err := decode(b[i:]); err == nil {
			return true
		}
		b = b[i+1:]
	}
}

// scanLog reads the log from at to its end, segment by segment, and calls each with the records of
// one segment at a time. It returns the end of the log, and the number of bytes of a torn tail.
// over is as in scanSegment.
func (db *DB) scanLog(
	at cursor, over bool, each func([]Record) error,
) (end cursor, torn int64, err error) {
	for {
		s, err := db.scanSegment(&at, over)
		if err != nil {
			return at, 0, err
		}
		if err := each(s.records); err != nil {
			return at, 0, err
		}
		next := cursor{segment: at.segment + 1, number: at.number, digest: at.digest, lost: at.lost}
		if _, err := os.Stat(db.segmentPath(next.segment)); errors.Is(err, fs.ErrNotExist) {
			return at, s.torn, nil
		} else if err != nil {
			return at, 0, err
		}
		if s.torn > 0 {
			return at, 0, &CorruptError{Path: db.segmentPath(at.segment), Offset: s.end,
				Why: "a record is cut short, and the log goes on after it"}
		}
		at = next
	}
}

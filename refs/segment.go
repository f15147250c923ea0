package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// segment is a segment of the log that is open for reading. It is the one door to the bytes of the
// log: they are those of the plain form, whichever form the file has. The plain bytes of a dense
// segment are proven before they are handed out.
type segment struct {
	path  string
	size  int64    // bytes in the plain form, without zeros
	zeros int64    // zero bytes at the end of a file that is larger than any segment
	file  *os.File // of a plain segment; nil of a dense one

	// Of a dense segment:
	db     *DB
	head   []byte // the first line
	blocks []place
	recent [2]unpacked // the blocks that were read last
}

// place is where a block of a dense segment is.
type place struct {
	record []byte // the record that holds it, not checked yet
	at     int64  // in the plain form
	plain  int64
}

type unpacked struct {
	n     int // of the block, from 1; 0 for none
	bytes []byte
}

// openSegment opens a segment. The error is fs.ErrNotExist if there is none, and *CorruptError if
// what is there is no file, or is a dense segment whose blocks cannot be told apart.
func (db *DB) openSegment(n uint64) (*segment, error) {
	path := db.segmentPath(n)
	f, err := durable.Open(path)
	if err != nil {
		return nil, notFile(path, err)
	}
	s, err := db.readForm(f, path)
	if err != nil || s.file == nil {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readForm tells the form of a segment by its first record.
func (db *DB) readForm(f *os.File, path string) (*segment, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &segment{path: path, size: info.Size(), file: f}
	var front [maxHead + format.RecordPrefix]byte
	n, err := f.ReadAt(front[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := format.CheckEarly(front[bytes.IndexByte(front[:n], '\n')+1 : n]); err != nil {
		return nil, err
	}
	if !isDense(front[:n]) {
		if s.size <= maxSegmentFile {
			return s, nil
		}
		s.size, err = endOfData(f, s.size)
		s.zeros = info.Size() - s.size
		return s, err
	}
	if info.Size() > maxSegmentFile {
		return nil, &CorruptError{Path: path, Offset: -1, Why: "is larger than any segment"}
	}
	b := make([]byte, info.Size())
	if n, err = f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return db.parseDense(path, b[:n])
}

// isDense reports whether the first bytes of a file are those of a dense segment.
func isDense(front []byte) bool {
	line := bytes.IndexByte(front[:min(len(front), maxHead)], '\n')
	return line >= 0 && format.BeginsDense(front[line+1:])
}

// parseDense finds the blocks of a dense segment. It checks no digest.
func (db *DB) parseDense(path string, b []byte) (*segment, error) {
	line := bytes.IndexByte(b[:min(len(b), maxHead)], '\n')
	if line < 0 {
		return nil, &CorruptError{Path: path, Offset: 0, Why: "not a log segment"}
	}
	s := &segment{path: path, db: db, head: b[:line+1], size: int64(line + 1)}
	rest := b[line+1:]
	for format.BeginsDense(rest) {
		size := format.RecordLength(rest)
		if size > len(rest) {
			break
		}
		plain, _, err := format.CutBlock(format.RecordPayload(rest[:size]))
		if err != nil {
			return nil, s.corrupt(s.size, err.Error())
		}
		s.blocks = append(s.blocks, place{record: rest[:size], at: s.size, plain: int64(plain)})
		s.size += int64(plain)
		rest = rest[size:]
	}
	if len(s.blocks) == 0 || s.size > maxSegmentFile {
		return nil, s.corrupt(s.size, "is no sound dense segment")
	}
	if len(rest) == 0 || rest[0] != parityMark {
		return nil, s.corrupt(s.size, "a block of the dense segment is damaged")
	}
	return s, nil
}

func (s *segment) corrupt(at int64, why string) error {
	return &CorruptError{Path: s.path, Offset: at, Why: why}
}

// Close closes the file.
func (s *segment) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// ReadAt reads bytes of the plain form, as io.ReaderAt says. The error is *CorruptError where a
// block of a dense segment cannot be proven.
func (s *segment) ReadAt(b []byte, at int64) (n int, err error) {
	if s.file != nil {
		return s.file.ReadAt(b, at)
	}
	if at < int64(len(s.head)) {
		n = copy(b, s.head[at:])
	}
	for i := s.find(at + int64(n)); n < len(b) && i < len(s.blocks); i++ {
		plain, err := s.block(i)
		if err != nil {
			return n, err
		}
		n += copy(b[n:], plain[at+int64(n)-s.blocks[i].at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// find returns the number of the block that has a byte, or how many blocks there are.
func (s *segment) find(at int64) int {
	for i, p := range s.blocks {
		if at < p.at+p.plain {
			return i
		}
	}
	return len(s.blocks)
}

// block returns the plain bytes of a block.
func (s *segment) block(i int) ([]byte, error) {
	for _, u := range s.recent {
		if u.n == i+1 {
			return u.bytes, nil
		}
	}
	plain, err := s.db.decodeBlock(s.blocks[i].record)
	if err != nil && unreadable(err) {
		return nil, err
	}
	if err != nil {
		return nil,
			&CorruptError{Path: s.path, Offset: s.blocks[i].at, Why: err.Error(), cause: err}
	}
	s.recent[1], s.recent[0] = s.recent[0], unpacked{i + 1, plain}
	return plain, nil
}

// unreadable reports whether an error says nothing about the bytes of a block: a newer version
// wrote them, or the system could not read a file that is there. A later or a newer reader may have
// them.
func unreadable(err error) bool {
	return errors.As(err, new(*format.VersionError)) ||
		errors.As(err, new(*fs.PathError)) && !errors.Is(err, fs.ErrNotExist)
}

// decodeBlock returns the plain bytes of the block that a record holds.
func (db *DB) decodeBlock(record []byte) ([]byte, error) {
	payload, _, err := format.CutRecord(record)
	if err != nil {
		return nil, err
	}
	plain, frame, err := format.CutBlock(payload)
	if err != nil {
		return nil, err
	}
	if db.Objects == nil {
		return nil, errors.New("a dense segment cannot be read without the objects")
	}
	return db.Objects.DecompressLog(plain, frame)
}

// all returns the plain bytes of a segment. With gaps it goes on after a block that cannot be
// proven, and has bytes in its place that are no record.
func (s *segment) all(gaps bool) ([]byte, error) {
	b := make([]byte, s.size)
	if !gaps || s.file != nil {
		n, err := s.ReadAt(b, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return b[:n], nil
	}
	copy(b, s.head)
	for i, p := range s.blocks {
		part := b[p.at : p.at+p.plain]
		plain, err := s.block(i)
		if err != nil && unreadable(err) {
			return nil, err
		}
		if copy(part, plain); err != nil {
			for k := range part {
				part[k] = gap
			}
		}
	}
	return b, nil
}

// gap fills the place of a block that cannot be proven. No record begins with it, and it is not
// the zero of a sector that was never written.
const gap = 0xff

// bytesOf returns the plain bytes of a segment.
func (db *DB) bytesOf(n uint64) ([]byte, error) { return db.readAll(n, false) }

// bytesWithGaps is bytesOf for who saves what is left: a block of a dense segment that cannot be
// proven is a gap.
func (db *DB) bytesWithGaps(n uint64) ([]byte, error) { return db.readAll(n, true) }

func (db *DB) readAll(n uint64, gaps bool) (b []byte, err error) {
	s, err := db.openSegment(n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.size > maxSegmentFile && gaps {
		return s.withoutHoles()
	}
	if s.size > maxSegmentFile {
		return nil, s.tooLarge()
	}
	if b, err = s.all(gaps); err != nil {
		return nil, fmt.Errorf("cannot read the log: %w", err)
	}
	return b, nil
}

// isTooLarge reports whether a segment has more data than any may have, so that readers refuse it.
func (db *DB) isTooLarge(n uint64) bool {
	s, err := db.openSegment(n)
	return err == nil && s.Close() == nil && s.size > maxSegmentFile
}

func (s *segment) tooLarge() error {
	return s.corrupt(-1, fmt.Sprintf("has %d bytes, and is larger than any segment", s.size))
}

// holePiece is the number of bytes of a file that are read at a time to look for zeros.
const holePiece = 1 << 20

// endOfData returns the end of a file without the zeros at its end, but for as many as a record can
// end with and some more.
func endOfData(f io.ReaderAt, size int64) (int64, error) {
	b := make([]byte, holePiece)
	for end := size; end > 0; end -= int64(len(b)) {
		b = b[:min(end, holePiece)]
		if _, err := f.ReadAt(b, end-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if data := len(bytes.TrimRight(b, "\x00")); data > 0 {
			return min(size, end-int64(len(b)-data)+diskSector), nil
		}
	}
	return 0, nil
}

// diskSector is the smallest number of bytes that a disk writes.
const diskSector = 512

// withoutHoles returns the bytes of a file that is larger than any segment, with as many zeros of
// each run as can be in one object. So whole records stay whole, and all bytes before the first run
// stay where they are.
func (s *segment) withoutHoles() (out []byte, err error) {
	b, run := make([]byte, holePiece), 0
	for at := int64(0); at < s.size; at += int64(len(b)) {
		b = b[:min(s.size-at, holePiece)]
		if _, err := s.file.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if len(bytes.TrimRight(b, "\x00")) > 0 {
			run = 0
		} else if run += len(b); run > format.MaxBody {
			continue
		}
		if out = append(out, b...); len(out) > maxSegmentFile {
			return nil, s.tooLarge()
		}
	}
	return out, nil
}

package refs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/format/dense"
	"github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/parallel"
	"github.com/gemini-ctx/ctx/lock"
)

// A closed segment can be stored densely: the file then names objects by the first bytes of their
// ids (docs/format/dense-log.md). This file writes dense segments, checks them, and makes them
// plain again.

// DenseFrom is the size in bytes from which on a plain segment is made dense.
const DenseFrom = 8 << 10

// denseBlock is how many plain bytes a block has, unless one record has more. A block is read as a
// whole; its ids are those of some 2,000 decisions.
const denseBlock = 64 << 10

// parityMark is the byte behind the blocks, where a record would begin.
const parityMark = 'p'

// Next begins the next segment, so that the present one is closed. The caller writes a checkpoint
// at once, so that readers need the closed segment no more. A crash in between leaves an empty
// segment, in which the log goes on.
func (db *DB) Next(held *lock.Held, v *View) (*View, error) {
	if err := db.mustHold(held); err != nil {
		return nil, err
	}
	next := v.clone()
	if err := db.beginNext(next); err != nil {
		return nil, err
	}
	return next, nil
}

// NewestSize returns how many bytes the newest segment has.
func (v *View) NewestSize() int64 { return v.end.offset }

// Condense makes the closed segments before the checkpoint dense that have at least from bytes, and
// returns how many those were. take takes the store's lock; Condense holds it only while it puts a
// file in its place. The objects that the log names must be in packs as far as they are to be
// named shortly. A crash leaves the plain form of a segment or the dense one.
func (db *DB) Condense(
	ctx context.Context, from int64, take func(context.Context) (*lock.Held, error),
) (done int, err error) {
	current, err := db.readCheckpoint(db.checkpointPath())
	if err != nil {
		return 0, err
	}
	base, err := db.Base()
	if err != nil {
		return 0, err
	}
	c := condenser{db: db, base: base, from: from, take: take}
	for n := base.Segment; n < current.Segment; n++ {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		ok, err := c.segment(ctx, n)
		if err != nil {
			return done, fmt.Errorf("cannot store the log densely: %w", err)
		}
		if ok {
			done++
		}
	}
	return done, nil
}

// condenser is one run of Condense.
type condenser struct {
	db   *DB
	base *format.Checkpoint
	from int64
	take func(context.Context) (*lock.Held, error)
}

func (c condenser) segment(ctx context.Context, n uint64) (done bool, err error) {
	plain, isPlain, err := c.db.plainBytes(n)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was dropped
	}
	if err != nil || !isPlain || int64(len(plain)) < c.from {
		return false, err
	}
	dead := int64(0)
	if n == c.base.Segment {
		dead = int64(c.base.Offset)
	}
	b, err := c.db.encodeDense(plain, dead)
	if err != nil || len(b) >= len(plain) {
		return false, err
	}
	held, err := c.take(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	if same, err := c.unchanged(n, plain); err != nil || !same {
		return false, err
	}
	err = c.db.putDense(n, b, plain)
	if durable.InUse(err) {
		return false, nil // a reader has the segment open; the next gc takes it
	}
	return err == nil, err
}

// unchanged reports whether the segment and the base are still what they were without the lock: a
// repair may have written the segment, and another gc may have moved the base and removed objects.
func (c condenser) unchanged(n uint64, plain []byte) (bool, error) {
	base, err := c.db.Base()
	if err != nil || base.Number != c.base.Number {
		return false, err
	}
	now, isPlain, err := c.db.plainBytes(n)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return isPlain && bytes.Equal(now, plain), err
}

// putDense puts the dense form in the place of the plain one, once it has read it again as a reader
// would.
func (db *DB) putDense(n uint64, b, plain []byte) error {
	temp := db.fs.NewTemp(filepath.Dir(db.segmentPath(n)))
	defer temp.Discard()
	if _, err := temp.Write(b); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := db.checkDense(db.segmentPath(n), b, plain); err != nil {
		return err
	}
	if err := temp.Rename(db.segmentPath(n)); err != nil {
		return err
	}
	return db.fs.SyncDir(filepath.Dir(db.segmentPath(n)))
}

// plainBytes returns the bytes of a segment, and whether it is plain. It does not decode a dense
// one.
func (db *DB) plainBytes(n uint64) (b []byte, plain bool, err error) {
	s, err := db.openSegment(n)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.file == nil {
		return nil, false, nil
	}
	b, err = s.all(false)
	return b, true, err
}

// encodeDense returns the dense form of a segment. The records before byte dead are kept no more:
// the objects that they name may go, so their ids stay as they are.
func (db *DB) encodeDense(plain []byte, dead int64) ([]byte, error) {
	head := bytes.IndexByte(plain, '\n') + 1
	cuts := []int{head}
	for at := head; at < len(plain); cuts = append(cuts, at) {
		end := len(plain)
		if int64(at) < dead {
			end = int(min(dead, int64(end)))
		}
		size, err := blockAt(plain[at:end])
		if err != nil {
			return nil, err
		}
		at += size
	}
	blocks, errs := make([][]byte, len(cuts)-1), make([]error, len(cuts)-1)
	parallel.Each(len(blocks), func(i int) {
		present := db.Objects.Packed
		if int64(cuts[i]) < dead {
			present = nonePresent
		}
		block, raw, err := dense.Encode(plain[cuts[i]:cuts[i+1]], present)
		if err == nil {
			block.Frame, err = db.Objects.CompressLog(raw)
		}
		if errs[i] = err; err == nil {
			blocks[i] = block.Payload()
		}
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out := bytes.Clone(plain[:head])
	for _, payload := range blocks {
		out = format.AppendRecord(out, payload)
	}
	var parity pack.Parity
	if _, err := parity.Write(out); err != nil {
		return nil, err
	}
	out = append(out, parity.Bytes()...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

func nonePresent(ids []format.ID) ([]bool, error) { return make([]bool, len(ids)), nil }

// blockAt returns how many bytes of the records b make a block.
func blockAt(b []byte) (size int, err error) {
	for size < len(b) {
		_, rest, err := format.CutRecord(b[size:])
		if err != nil {
			return 0, err
		}
		next := len(b) - len(rest)
		if size > 0 && next > denseBlock {
			break
		}
		size = next
	}
	return size, nil
}

// checkDense compares what a dense segment says with the plain bytes.
func (db *DB) checkDense(path string, b, plain []byte) error {
	s, err := db.parseDense(path, b)
	if err != nil {
		return err
	}
	got, err := s.all(false)
	if err == nil && !bytes.Equal(got, plain) {
		err = fmt.Errorf("the dense form of %q does not say what the plain one says", path)
	}
	return err
}

// CheckDense checks all bytes of the dense segments of the kept log, parity included, and calls bad
// for each that is damaged. Forward checks what the segments say.
func (db *DB) CheckDense(bad func(err error)) error {
	segments, err := db.segments()
	if err != nil {
		return err
	}
	for _, n := range segments {
		b, err := db.denseFile(n)
		if err != nil {
			bad(err)
		}
		if b != nil && !sumFits(b) {
			bad(&CorruptError{Path: db.segmentPath(n), Offset: -1,
				Why: "the dense segment does not match its digest"})
		}
	}
	return nil
}

// denseFile returns the bytes of the file of a dense segment, and nil for a plain one.
func (db *DB) denseFile(n uint64) ([]byte, error) {
	path := db.segmentPath(n)
	b, err := durable.ReadAtMost(path, maxSegmentFile)
	if err != nil || !isDense(b) {
		return nil, ignoreMissing(err)
	}
	return b, nil
}

// ignoreMissing returns nil for what Forward reports in its own words.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, durable.ErrNotFile) ||
		errors.Is(err, durable.ErrTooLarge) {
		return nil
	}
	return err
}

func sumFits(b []byte) bool {
	return len(b) > sha256.Size &&
		sha256.Sum256(b[:len(b)-sha256.Size]) == format.ID(b[len(b)-sha256.Size:])
}

// Loosen makes plain every dense segment that can be read, if need be with its parity, and mends
// the records of plain ones in which a byte is damaged. It returns the names of the segments that
// were damaged. A segment that cannot be read stays as it is. A repair calls it before it removes
// damaged objects, whose ids dense segments may need. Loosen calls touch before each change.
func (db *DB) Loosen(held *lock.Held, touch func() error) (restored []string, err error) {
	if err := db.mustHold(held); err != nil {
		return nil, err
	}
	segments, err := db.segments()
	if err != nil {
		return nil, err
	}
	for _, n := range segments {
		mended, err := db.loosen(n, touch)
		if err != nil {
			return restored, err
		}
		if mended {
			restored = append(restored, Record{Segment: n}.File())
		}
	}
	return restored, nil
}

// loosen makes one segment plain and sound, if it can be read. mended says that its file was
// damaged.
func (db *DB) loosen(n uint64, touch func() error) (mended bool, err error) {
	path := db.segmentPath(n)
	b, err := durable.ReadAtMost(path, maxSegmentFile)
	if err != nil {
		return false, nil //nolint:nilerr // Forward and Salvage report it
	}
	plain, mended := db.plainOf(path, b)
	if plain == nil {
		if plain = db.mendPlain(b); plain == nil {
			return false, nil
		}
		mended = true
	}
	if err := touch(); err != nil {
		return false, err
	}
	return mended, db.fs.WriteDurable(path, plain, 0o600)
}

// mendPlain returns the bytes of a plain segment with its records as they were before a byte of
// them was damaged; nil if there is none of these.
func (db *DB) mendPlain(b []byte) (out []byte) {
	for at := bytes.IndexByte(b, '\n') + 1; at < len(b); {
		rest := b[at:]
		_, _, n, err := format.DecodeOperation(rest)
		if err == nil {
			at += n
			continue
		}
		if isTorn(rest, int64(at), err) {
			break
		}
		if was := db.mended(rest, true); was != nil {
			if out == nil {
				out = bytes.Clone(b)
			}
			at += copy(out[at:], was)
			continue
		}
		next := bytes.Index(rest[1:], []byte("ctxo"))
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return out
}

// plainOf returns what a file that is or was a dense segment says, and whether its parity was
// needed. It returns nil for a plain segment, and if the file cannot be read.
func (db *DB) plainOf(path string, b []byte) (plain []byte, restored bool) {
	if !sumFits(b) && len(b) >= sha256.Size {
		whole, err := pack.Restore(bytes.Clone(b), format.ID(b[len(b)-sha256.Size:]))
		if err == nil && isDense(whole) {
			if plain, err := db.sayOf(path, whole); err == nil {
				return plain, true
			}
		}
	}
	if !isDense(b) {
		return nil, false
	}
	plain, err := db.sayOf(path, b)
	if err != nil {
		return nil, false
	}
	return plain, !sumFits(b)
}

// Said returns what a file of the log says where it is a dense segment, and nil for any other file.
// The error is *CorruptError where some of a dense segment cannot be proven, even with its parity.
func (db *DB) Said(path string) ([]byte, error) {
	b, err := durable.ReadAtMost(path, maxSegmentFile)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	plain, _ := db.plainOf(path, b)
	if plain == nil && isDense(b) {
		return nil,
			&CorruptError{Path: path, Offset: -1, Why: "some of the dense segment cannot be read"}
	}
	return plain, nil
}

func (db *DB) sayOf(path string, b []byte) ([]byte, error) {
	s, err := db.parseDense(path, b)
	if err != nil {
		return nil, err
	}
	return s.all(false)
}

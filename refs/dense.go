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
	"github.com/gemini-ctx/ctx/format/pack"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/lock"
)

// A closed segment can be stored densely: compressed, with parity (docs/format/dense-log.md). This
// file writes dense segments, checks them, and mends segments of both forms.

// DenseFrom is the size in bytes from which on a plain segment is made dense.
const DenseFrom = 8 << 10

// denseBlock is how many plain bytes a block has, unless one record has more. A block is read as a
// whole.
const denseBlock = 64 << 10

// parityMark is the byte behind the blocks, where a record would begin.
const parityMark = 'p'

// Next begins the next segment, so that the present one is closed. The caller writes a checkpoint
// at once, so that readers need the closed segment no more. A crash in between leaves an empty
// segment, in which the log goes on.
func (db *DB) Next(held *lock.Held, v *View) (*View, error) {
	if err := held.Of(db.root); err != nil {
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
// file in its place. A crash leaves the plain form of a segment or the dense one.
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
	c := condenser{db: db, from: from, take: take}
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
	b, err := c.db.encodeDense(plain)
	if err != nil || b == nil {
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

// unchanged reports whether the segment is still what it was without the lock: a repair may have
// written it, and another gc may have dropped it.
func (c condenser) unchanged(n uint64, plain []byte) (bool, error) {
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

// encodeDense returns the dense form of a segment; nil for one without a record.
func (db *DB) encodeDense(plain []byte) ([]byte, error) {
	head := bytes.IndexByte(plain, '\n') + 1
	cuts := []int{head}
	for at := head; at < len(plain); cuts = append(cuts, at) {
		size, err := blockAt(plain[at:])
		if err != nil {
			return nil, err
		}
		at += size
	}
	if len(cuts) == 1 {
		return nil, nil
	}
	frames, errs := make([][]byte, len(cuts)-1), make([]error, len(cuts)-1)
	lists.OnAll(len(frames), func(i int) {
		frames[i], errs[i] = db.Objects.CompressLog(plain[cuts[i]:cuts[i+1]])
	})
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	out := bytes.Clone(plain[:head])
	for i, frame := range frames {
		out = format.AppendRecord(out, format.BlockPayload(cuts[i+1]-cuts[i], frame))
	}
	var parity pack.Parity
	if _, err := parity.Write(out); err != nil {
		return nil, err
	}
	out = append(out, parity.Bytes()...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...), nil
}

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

// Mend restores damaged dense segments, as plain ones, where their parity can, and in plain ones
// the records in which a byte is damaged. It returns the names of these segments. A segment that
// cannot be restored stays as it is. Mend calls touch before each change.
func (db *DB) Mend(held *lock.Held, touch func() error) (mended []string, err error) {
	if err := held.Of(db.root); err != nil {
		return nil, err
	}
	segments, err := db.segments()
	if err != nil {
		return nil, err
	}
	for _, n := range segments {
		b, err := durable.ReadAtMost(db.segmentPath(n), maxSegmentFile)
		if err != nil {
			continue // Forward and Salvage report it
		}
		plain, restored := db.plainOf(db.segmentPath(n), b)
		switch {
		case plain == nil:
			plain = db.mendPlain(b)
		case !restored:
			continue
		}
		if plain == nil {
			continue
		}
		if err := touch(); err != nil {
			return mended, err
		}
		if err := db.fs.WriteDurable(db.segmentPath(n), plain, 0o600); err != nil {
			return mended, err
		}
		mended = append(mended, Record{Segment: n}.File())
	}
	return mended, nil
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

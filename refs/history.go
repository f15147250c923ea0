package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// Base returns the refs from which the kept log starts: empty in a store that has dropped no segment.
func (db *DB) Base() (*format.Checkpoint, error) {
	c, err := db.readCheckpoint(db.basePath())
	if errors.Is(err, fs.ErrNotExist) {
		return &format.Checkpoint{Store: db.store, Segment: 1}, nil
	}
	return c, err
}

// Forward calls each for every operation of the kept log, oldest first, until it returns false. It checks the chain of digests.
func (db *DB) Forward(each func(Record) bool) error {
	base, err := db.Base()
	if err != nil {
		return err
	}
	at := cursor{segment: base.Segment, offset: int64(base.Offset), number: base.Number, digest: base.Digest}
	_, _, err = db.scanLog(at, func(records []Record) error {
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
	return err
}

var errStop = errors.New("stop")

// Backward calls each for every operation of the kept log that v knows of, newest first, until it returns false. It reads the log
// a segment at a time, so that what happened lately costs little to find.
func (db *DB) Backward(v *View, each func(Record) bool) error {
	for i := len(v.Since) - 1; i >= 0; i-- {
		if !each(v.Since[i]) {
			return nil
		}
	}
	before := v.Number - uint64(len(v.Since)) + 1
	base, err := db.Base()
	if err != nil {
		return err
	}
	for segment := v.end.segment; segment >= base.Segment && before > base.Number+1; segment-- {
		records, err := db.wholeSegment(segment, base)
		if err != nil {
			return err
		}
		for i := len(records) - 1; i >= 0; i-- {
			if records[i].Op.Number >= before {
				continue
			}
			before = records[i].Op.Number
			if !each(records[i]) {
				return nil
			}
		}
	}
	return nil
}

// wholeSegment reads one segment without its neighbours: the first record is taken at its word for what is before it.
func (db *DB) wholeSegment(segment uint64, base *format.Checkpoint) ([]Record, error) {
	at := cursor{segment: segment, offset: int64(base.Offset), number: base.Number, digest: base.Digest}
	if segment > base.Segment {
		first, digest, err := db.startOf(segment)
		if err != nil {
			return nil, err
		}
		at = cursor{segment: segment, number: first - 1, digest: digest}
	}
	s, err := db.scanSegment(&at)
	if err != nil {
		return nil, err
	}
	return s.records, nil
}

// startOf reads the number of a segment's first operation and the digest it names as the one before.
func (db *DB) startOf(segment uint64) (first uint64, before format.ID, err error) {
	path := db.segmentPath(segment)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, format.ID{}, err
	}
	var version int
	var store string
	if _, err := fmt.Sscanf(string(b[:min(len(b), 200)]), "ctx-log %d %s %d\n", &version, &store, &first); err != nil || first == 0 {
		return 0, format.ID{}, &CorruptError{Path: path, Offset: 0, Why: "not a log segment"}
	}
	head := len(db.segmentHeader(first))
	if len(b) <= head {
		return first, format.ID{}, nil
	}
	op, _, _, err := format.DecodeOperation(b[head:])
	if format.IsShortRecord(err) {
		return first, format.ID{}, nil
	}
	if err != nil {
		return 0, format.ID{}, &CorruptError{Path: path, Offset: int64(head), Why: err.Error()}
	}
	return first, op.Before, nil
}

// DropBefore forgets the log before the newest checkpoint operation older than cutoff: what the refs were then becomes the base, and
// segments that lie wholly before it are removed. undo, reflog and ref@{n} reach as far as what is kept. After a crash the
// next call finishes what is left.
func (db *DB) DropBefore(held *lock.Held, cutoff time.Time) (dropped int, err error) {
	if err := db.mustHold(held); err != nil {
		return 0, err
	}
	old, err := db.Base()
	if err != nil {
		return 0, err
	}
	// A checkpoint that is older than the operation for it, because of a crash, still needs the log after it.
	current, err := db.readCheckpoint(db.checkpointPath())
	if err != nil {
		return 0, err
	}
	running, base := viewOf(old), old
	if running.end.offset == 0 {
		running.end.offset = int64(len(db.segmentHeader(1)))
	}
	err = db.Forward(func(r Record) bool {
		if !r.Op.Time.Before(cutoff) || r.Op.Number > current.Number {
			return false
		}
		running.apply(r)
		if r.Op.Verb == VerbCheckpoint {
			base = db.checkpointOf(running)
		}
		return true
	})
	if err != nil {
		return 0, err
	}
	if base != old {
		b, err := base.Encode()
		if err != nil {
			return 0, err
		}
		if err := db.fs.WriteDurable(db.basePath(), b, 0o600); err != nil {
			return 0, err
		}
	}
	return db.removeBefore(base.Segment)
}

// VerbCheckpoint is the verb of the operation that writes the forests before a checkpoint.
const VerbCheckpoint = "checkpoint"

func (db *DB) removeBefore(segment uint64) (dropped int, err error) {
	for n := segment; n > 1; n-- {
		path := db.segmentPath(n - 1)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := db.fs.Remove(path); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

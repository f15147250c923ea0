// Package refs keeps what names point at: a checkpoint of every ref, and after it a log of operations. The log is the truth; one
// function appends to it.
package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// SegmentSize is how many bytes a log segment may have before the next one is begun. 4 MiB hold some 15,000 appends, so that old
// history goes in useful pieces and a scan backwards reads little at a time.
const SegmentSize = 4 << 20

// CheckpointEvery is how many operations a reader overlays at most, give or take the ones since the lock holder last looked.
// 256 records of an append take some 70 KB and less than half a millisecond to read.
const CheckpointEvery = 256

// checkpointBytes is the same limit for large records, such as those of bulk graduation: a megabyte takes some three milliseconds to read.
const checkpointBytes = 1 << 20

// DB is the refs of one store. It holds no state: every read starts from the disk.
type DB struct {
	Objects Objects // asked at commit whether what is named exists

	root  string
	store string
	fs    *lock.FS
}

// Objects is what a commit asks of the object store.
type Objects interface {
	// HasAll returns those of ids that are not in the store.
	HasAll(ids []format.ID) (missing []format.ID, err error)
}

// Open returns the refs of the store in directory root, whose id is store. It does no I/O.
func Open(root, store string, fs *lock.FS, objects Objects) *DB {
	return &DB{Objects: objects, root: root, store: store, fs: fs}
}

// Init makes an empty log and an empty checkpoint in root. After a crash it can be run again; it never touches what is there.
func Init(root, store string, durable *lock.FS) error {
	db := Open(root, store, durable, nil)
	if err := durable.MkdirAll(filepath.Join(root, "refs")); err != nil {
		return err
	}
	if _, err := os.Stat(db.checkpointPath()); err == nil {
		return nil
	}
	switch b, err := lock.ReadFile(db.segmentPath(1)); {
	case errors.Is(err, fs.ErrNotExist), err == nil && bytes.IndexByte(b, '\n') == len(b)-1:
		// None yet, or an empty one of an init that was cut short, perhaps under another id.
		if err := db.beginSegment(1, 1); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		return &CorruptError{Path: db.checkpointPath(), Offset: -1, Why: "is missing, and the log is not empty"}
	}
	first := format.Checkpoint{Store: store, Segment: 1, Offset: uint64(len(db.segmentHeader(1)))}
	b, err := first.Encode()
	if err != nil {
		return err
	}
	return durable.WriteDurable(db.checkpointPath(), b, 0o600)
}

func (db *DB) checkpointPath() string { return filepath.Join(db.root, "refs", "checkpoint") }
func (db *DB) basePath() string       { return filepath.Join(db.root, "refs", "base") }

func (db *DB) segmentPath(n uint64) string {
	return filepath.Join(db.root, "refs", fmt.Sprintf("log-%d", n))
}

// segmentHeader is the first line of a segment; first is the number of the operation that follows it.
func (db *DB) segmentHeader(first uint64) string {
	return fmt.Sprintf("ctx-log 1 %s %d\n", db.store, first)
}

func (db *DB) beginSegment(n, first uint64) error {
	return db.fs.WriteDurable(db.segmentPath(n), []byte(db.segmentHeader(first)), 0o600)
}

// maxCheckpoint bounds the size of a checkpoint file: a million refs.
const maxCheckpoint = 512 << 20

// CorruptError says that the log or the checkpoint is damaged. Nothing is repaired or cut by itself.
type CorruptError struct {
	Path   string
	Offset int64 // where in the file; -1 where that says nothing
	Why    string

	cause error // what the file system said, where it was that
}

func (e *CorruptError) Unwrap() error { return e.cause }

func (e *CorruptError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("corrupt: %q: %s", e.Path, e.Why)
	}
	return fmt.Sprintf("corrupt: %q at byte %d: %s", e.Path, e.Offset, e.Why)
}

// notFile makes damage of what the file system says of a name that something else than a file has.
func notFile(path string, err error) error {
	if errors.Is(err, lock.ErrNotFile) {
		return &CorruptError{Path: path, Offset: -1, Why: "is not a regular file"}
	}
	return err
}

// missing makes damage of a file that has to be there and is not.
func missing(err error) error {
	var path *fs.PathError
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &path) {
		return &CorruptError{Path: path.Path, Offset: -1, Why: "is missing", cause: err}
	}
	return err
}

// StaleError says that a ref does not have the value that an update expected.
type StaleError struct {
	Ref       string
	Want, Got format.Value
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("ref %q has moved: expected %s, found %s", e.Ref, orNone(e.Want), orNone(e.Got))
}

func orNone(v format.Value) string {
	if !v.Exists() {
		return "none"
	}
	return v.String()
}

// ErrMaybe says that a record could neither be made to last nor be taken back.
var ErrMaybe = errors.New("the operation may have been recorded")

func (db *DB) readCheckpoint(path string) (*format.Checkpoint, error) {
	b, err := lock.ReadAtMost(path, maxCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot read refs: %w", notFile(path, err))
	}
	c, err := format.DecodeCheckpoint(b)
	if err != nil {
		var version *format.VersionError
		if errors.As(err, &version) {
			return nil, err
		}
		return nil, &CorruptError{Path: path, Offset: -1, Why: err.Error()}
	}
	if c.Store != db.store {
		return nil, &CorruptError{Path: path, Offset: -1, Why: "belongs to store " + c.Store}
	}
	return c, nil
}

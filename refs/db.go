// Package refs stores the refs of a store: a checkpoint file with all refs, followed by a log of
// operations. The log is the truth. Only DB.Commit appends to it, under the store's lock; readers
// take no lock.
//
// Begin with DB and View: DB.Read returns a View, which is one consistent set of refs. The files
// are described in docs/format/operation.md and docs/format/checkpoint.md.
package refs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
)

// SegmentSize is the size in bytes at which the next log segment is begun. 4 MiB hold about 15,000
// appends. The log is removed in whole segments, and a search backwards reads one segment at a
// time.
const SegmentSize = 4 << 20

// CheckpointEvery is the number of operations after which a new checkpoint is due. It bounds the
// operations that a reader applies to the checkpoint, apart from those since a lock holder last
// checked. 256 records of appends take about 70 KB, and less than half a millisecond to read.
const CheckpointEvery = 256

// checkpointBytes is the size of the log in bytes after which a new checkpoint is due, with the
// objects that records carry. It bounds the time that every command needs to read the log: 256 KiB
// of carried messages take about 0.2 ms, of decisions of bulk graduation about 0.8 ms.
//
// A checkpoint takes longer than the commands that it saves time for, where records are large. So
// objects count only from carriedBytes on, as long as there are fewer than fewRecords records.
const (
	checkpointBytes = 256 << 10
	carriedBytes    = 1 << 20
	fewRecords      = 32
)

// DB is the refs of one store. Every read starts from the disk.
type DB struct {
	Objects Objects // asked at commit whether the objects that the operation names exist

	// OnDamage, if not nil, is called at every reading that passes over damage.
	OnDamage func(*CorruptError)

	root  string
	store string
	fs    *durable.FS

	mu   sync.Mutex
	file []byte             // the checkpoint that was read last
	last *format.Checkpoint // what it says, shared and never changed; nil before the first
	// What damaged records were, so that nobody looks for it twice
	mendings []mending
}

// Objects is the part of the object store that DB needs.
type Objects interface {
	// HasAll returns those of ids that are not in the store.
	HasAll(ids []format.ID) (missing []format.ID, err error)
	// Elsewhere reports whether an object is stored outside of the log, whole.
	Elsewhere(id format.ID) (bool, error)
	// SetLogged takes the objects that the log carries after the checkpoint.
	SetLogged(raws []format.Raw)

	// CompressLog and DecompressLog are inverse to each other; size is that of the result.
	CompressLog(raw []byte) ([]byte, error)
	DecompressLog(size int, frame []byte) ([]byte, error)
}

// Open returns the refs of the store in directory root, which has the id store. It does no I/O.
func Open(root, store string, fs *durable.FS, objects Objects) *DB {
	return &DB{Objects: objects, root: root, store: store, fs: fs}
}

// Init makes an empty log and an empty checkpoint in root. It can be run again after a crash. It
// never overwrites an existing checkpoint or operation.
func Init(root, store string, fsys *durable.FS) error {
	db := Open(root, store, fsys, nil)
	if err := fsys.MkdirAll(filepath.Join(root, "refs")); err != nil {
		return err
	}
	if _, err := os.Stat(db.checkpointPath()); err == nil {
		return nil
	}
	switch b, err := durable.ReadFile(db.segmentPath(1)); {
	case errors.Is(err, fs.ErrNotExist), err == nil && bytes.IndexByte(b, '\n') == len(b)-1:
		// There is no segment yet, or only the first line of one, which an interrupted Init left,
		// perhaps under another store id.
		if err := db.beginSegment(1, 1); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		return &CorruptError{Path: db.checkpointPath(), Offset: -1,
			Why: "is missing, and the log is not empty"}
	}
	first := format.Checkpoint{Store: store, Segment: 1, Offset: uint64(len(db.segmentHeader(1)))}
	b, err := first.Encode()
	if err != nil {
		return err
	}
	return fsys.WriteDurable(db.checkpointPath(), b, 0o600)
}

// KeptNames is a regular expression of the names of the files below refs/ that have no other copy
// in the store.
const KeptNames = `checkpoint|base|log-[1-9][0-9]*`

func (db *DB) checkpointPath() string { return filepath.Join(db.root, "refs", "checkpoint") }
func (db *DB) basePath() string       { return filepath.Join(db.root, "refs", "base") }

func (db *DB) segmentPath(n uint64) string {
	return filepath.Join(db.root, "refs", fmt.Sprintf("log-%d", n))
}

// segmentHeader returns the first line of a segment; first is the number of its first operation.
func (db *DB) segmentHeader(first uint64) string {
	return fmt.Sprintf("ctx-log 1 %s %d\n", db.store, first)
}

func (db *DB) beginSegment(n, first uint64) error {
	return db.fs.WriteDurable(db.segmentPath(n), []byte(db.segmentHeader(first)), 0o600)
}

// maxCheckpoint is the largest size in bytes of a checkpoint file: about a million refs.
const maxCheckpoint = 512 << 20

// CorruptError says that the log or a checkpoint is damaged. Only Salvage and Restore repair
// damage.
type CorruptError struct {
	Path   string
	Offset int64 // byte in the file; -1 if no offset applies
	Why    string

	cause error // the error of the file system, if there was one
}

func (e *CorruptError) Unwrap() error { return e.cause }

func (e *CorruptError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("corrupt: %q: %s", e.Path, e.Why)
	}
	return fmt.Sprintf("corrupt: %q at byte %d: %s", e.Path, e.Offset, e.Why)
}

// notFile turns durable.ErrNotFile into a *CorruptError and returns other errors unchanged.
func notFile(path string, err error) error {
	if errors.Is(err, durable.ErrNotFile) {
		return &CorruptError{Path: path, Offset: -1, Why: "is not a regular file"}
	}
	return err
}

// missing turns fs.ErrNotExist into a *CorruptError, for a file that must exist. It returns other
// errors unchanged.
func missing(err error) error {
	var path *fs.PathError
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &path) {
		return &CorruptError{Path: path.Path, Offset: -1, Why: "is missing", cause: err}
	}
	return err
}

// StaleError says that a ref does not have the old value that an update names.
type StaleError struct {
	Ref       string
	Want, Got format.Value
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("ref %q has moved: expected %s, found %s", e.Ref, orNone(e.Want),
		orNone(e.Got))
}

func orNone(v format.Value) string {
	if !v.Exists() {
		return "none"
	}
	return v.String()
}

// ErrMaybe says that a record could neither be synced nor be cut off again.
var ErrMaybe = errors.New("the operation may have been recorded")

func (db *DB) readCheckpoint(path string) (*format.Checkpoint, error) {
	b, err := durable.ReadAtMost(path, maxCheckpoint)
	if err != nil {
		return nil, fmt.Errorf("cannot read refs: %w", notFile(path, err))
	}
	c, err := db.decodeCheckpoint(b)
	if err != nil {
		if errors.As(err, new(*format.VersionError)) {
			return nil, err
		}
		return nil, &CorruptError{Path: path, Offset: -1, Why: err.Error()}
	}
	if c.Store != db.store {
		return nil, &CorruptError{Path: path, Offset: -1, Why: "belongs to store " + c.Store}
	}
	return c, nil
}

// decodeCheckpoint decodes a checkpoint file, once for equal files: a command that changes one
// branch after the other reads as many times, and a checkpoint names each branch.
func (db *DB) decodeCheckpoint(b []byte) (*format.Checkpoint, error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.last != nil && bytes.Equal(b, db.file) {
		return db.last, nil
	}
	c, err := format.DecodeCheckpoint(b)
	if err == nil {
		db.file, db.last = b, c
	}
	return c, err
}

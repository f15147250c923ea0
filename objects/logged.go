package objects

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/gemini-ctx/ctx/format"
)

// A small operation carries its new objects in its record of the log, so that one write and one
// sync make both durable (docs/format/operation.md). They lie in the log until a checkpoint moves
// them into a pack. This file keeps the objects of the log after the checkpoint in memory: whoever
// reads the log hands them over, and look-ups find them here.

// Limits of what one operation may carry: Put writes a larger batch as a pack. Every reader reads
// the log after the checkpoint.
const (
	MaxCarried      = 64
	maxCarriedBytes = 256 << 10
)

// logged is the objects that the log carries after the checkpoint, and those of the operation that
// is being made.
type logged struct {
	known    bool         // the log was read
	read     []format.Raw // the objects that were read, oldest first; nil once they are in recorded
	recorded map[format.ID]format.Raw
	sequence []format.ID // of recorded, oldest first
	staged   map[format.ID]format.Raw
	order    []format.ID // of staged
	bytes    int         // of staged
}

// index computes the ids of the objects that were read. Many commands look none of them up.
func (l *logged) index() {
	if l.read == nil {
		return
	}
	recorded := make(map[format.ID]format.Raw, len(l.read))
	sequence := make([]format.ID, 0, len(l.read))
	for _, r := range l.read {
		id := r.ID()
		old, known := recorded[id]
		if !known {
			sequence = append(sequence, id)
		}
		if old.Body == nil {
			recorded[id] = r
		}
	}
	l.read, l.recorded, l.sequence = nil, recorded, sequence
}

func (l *logged) get(id format.ID) (format.Raw, bool) {
	if r, ok := l.staged[id]; ok {
		return r, true
	}
	l.index()
	r, ok := l.recorded[id]
	return r, ok
}

// SetLogged replaces the objects that the log is known to carry. The caller has just read the log;
// it must not change raws afterwards. A copy in the log that is not sound is of no use to a reader
// and counts as missing.
func (s *Store) SetLogged(raws []format.Raw) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.logged
	l.known, l.read, l.recorded, l.sequence = true, raws, nil, nil
}

// Stage checks objects as Put does and keeps them for the record of the operation that is being
// made. Look-ups find them at once. Nothing is written: Staged returns them for the record, and
// EndStage follows.
//
// ok is false, and nothing is staged, where the record would have to carry too much, or where an
// object brings back a body that was lost: Put is for those.
func (s *Store) Stage(raws ...format.Raw) (ok bool, err error) {
	return s.stage(raws, MaxCarried, maxCarriedBytes)
}

// Hold is Stage without a bound. Where TooMuch says so, the caller has to Put what is staged before
// it records the operation, and to leave it out of the record.
func (s *Store) Hold(raws ...format.Raw) (ok bool, err error) {
	return s.stage(raws, math.MaxInt, math.MaxInt)
}

// TooMuch reports whether more is staged than a record carries.
func (s *Store) TooMuch() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.logged.order) > MaxCarried || s.logged.bytes > maxCarriedBytes
}

// stage is Stage with bounds on all that is staged.
func (s *Store) stage(raws []format.Raw, most, mostBytes int) (ok bool, err error) {
	size := 0
	ids := make([]format.ID, len(raws))
	for i, r := range raws {
		if ids[i], err = s.admit(r); err != nil {
			return false, err
		}
		size += len(r.Header) + len(r.Body)
	}
	if lost, err := s.Gone(ids); err != nil || len(lost) > 0 {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.logged
	if len(l.order)+len(raws) > most || l.bytes+size > mostBytes {
		return false, nil
	}
	for i, r := range raws {
		if old, known := l.get(ids[i]); known {
			// A damaged copy in the log does not count.
			if whole, err := sound(ids[i], old); err == nil && (whole || r.Body == nil) {
				continue
			}
		}
		if l.staged == nil {
			l.staged = map[format.ID]format.Raw{}
		}
		l.staged[ids[i]] = format.Raw{Header: bytes.Clone(r.Header), Body: bytes.Clone(r.Body)}
		l.order = append(l.order, ids[i])
		l.bytes += len(r.Header) + len(r.Body)
	}
	return true, nil
}

// Staged returns the objects of the operation that is being made, in the order of Stage.
func (s *Store) Staged() []format.Raw {
	s.mu.Lock()
	defer s.mu.Unlock()
	raws := make([]format.Raw, len(s.logged.order))
	for i, id := range s.logged.order {
		raws[i] = s.logged.staged[id]
	}
	return raws
}

// EndStage ends what Stage began. The staged objects are in the log now if recorded is true, and
// are dropped otherwise.
func (s *Store) EndStage(recorded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.logged
	if recorded {
		l.index()
		if l.recorded == nil {
			l.recorded = map[format.ID]format.Raw{}
		}
		maps.Copy(l.recorded, l.staged)
		l.sequence = append(l.sequence, l.order...)
	}
	l.staged, l.order, l.bytes = nil, nil, 0
}

// RefreshLog reads the log again, so that Logged and EachLogged know what it carries now, with
// damaged objects as they were if it can be told.
func (s *Store) RefreshLog() error {
	if s.MendLog != nil {
		return s.MendLog()
	}
	return s.readLog()
}

// Logged returns the ids of the objects that the log carries, oldest first, as of the last
// SetLogged. Those that are staged are not among them.
func (s *Store) Logged() []format.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logged.index()
	return slices.Clone(s.logged.sequence)
}

// EachLogged calls fn for each object that the log carries, oldest first. A copy that is not what
// its id says is told to bad instead. An error of either ends it.
func (s *Store) EachLogged(
	fn func(Place, format.Raw) error, bad func(path string, err error) error,
) error {
	for _, id := range s.Logged() {
		r, ok := s.inLog(id)
		if !ok {
			continue // it went into a pack meanwhile
		}
		_, err := sound(id, r)
		if err == nil {
			err = fn(Place{id, s.logPath()}, r)
		} else {
			err = bad(s.logPath(), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Elsewhere reports whether a pack has an object whole.
func (s *Store) Elsewhere(id format.ID) (bool, error) {
	list, err := s.relist()
	if err != nil {
		return false, err
	}
	return s.packedWhole(id, list)
}

// CheckLogged checks the copy of an object that the log carries. Errors: *CorruptError. An object
// that the log does not carry any more is no error.
func (s *Store) CheckLogged(id format.ID) error {
	r, ok := s.inLog(id)
	if !ok {
		return nil
	}
	whole, err := sound(id, r)
	if err == nil && !whole {
		if _, gone, goneErr := s.gone(id); goneErr != nil || gone {
			return goneErr
		}
		err = errors.New("body is missing")
	}
	if err != nil {
		return &CorruptError{ID: id, Path: s.logPath(), Why: err.Error()}
	}
	return nil
}

// knowsLog reports whether SetLogged was called.
func (s *Store) knowsLog() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.known
}

func (s *Store) inLog(id format.ID) (format.Raw, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logged.get(id)
}

// readLog reads the log again, which hands over what it carries now. Objects go from the log into
// packs and never back, so a miss here and then in the packs is a miss.
func (s *Store) readLog() error {
	if s.ReadLog == nil {
		return nil
	}
	return s.ReadLog()
}

func (s *Store) tryLog(t *search) {
	r, ok := s.inLog(t.id)
	if !ok {
		return
	}
	found := format.Raw{Header: bytes.Clone(r.Header)}
	if t.body {
		found.Body = bytes.Clone(r.Body)
	}
	t.offer(found, s.logPath(),
		func(r format.Raw) (complete bool, err error) { return sound(t.id, r) })
}

// logPath is what messages name as the place of an object that the log carries.
func (s *Store) logPath() string { return filepath.Join(s.root, "refs") }

// CompressLog compresses a block of the log.
func (s *Store) CompressLog(raw []byte) ([]byte, error) {
	e, err := s.codec.LogEncoder()
	if err != nil {
		return nil, err
	}
	return e.EncodeAll(raw, nil), nil
}

// DecompressLog is the inverse of CompressLog; size is the number of bytes that come out.
func (s *Store) DecompressLog(size int, frame []byte) ([]byte, error) {
	return s.codec.Decode(size, frame)
}

package refs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/lock"
)

// Begin reads the refs for a writer. Nobody else writes under the lock, so a torn tail must come
// from a writer that died. Begin copies its bytes to log/torn-<n>, where n is the number that the
// operation would have had, and then cuts them off the log.
func (db *DB) Begin(held *lock.Held) (*View, error) {
	if err := held.Of(db.root); err != nil {
		return nil, err
	}
	v, err := db.Read()
	if err != nil || v.Torn == 0 {
		return v, err
	}
	if err := db.setAside(v); err != nil {
		return nil, fmt.Errorf("cannot put a torn record aside: %w", err)
	}
	return v, nil
}

func (db *DB) setAside(v *View) error {
	path := db.segmentPath(v.end.segment)
	f, err := db.openSegment(v.end.segment)
	if err != nil {
		return err
	}
	tail := make([]byte, v.Torn-f.zeros) // the zeros behind a tail say nothing
	_, err = f.ReadAt(tail, v.end.offset)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	dir := filepath.Join(db.root, "log")
	if err := db.fs.MkdirAll(dir); err != nil {
		return err
	}
	if err := db.fs.WriteDurable(filepath.Join(dir, fmt.Sprintf("torn-%d", v.Number+1)), tail,
		0o600); err != nil {
		return err
	}
	if err := db.fs.Truncate(path, v.end.offset); err != nil {
		return err
	}
	v.Torn = 0
	return nil
}

// Commit appends one operation to the log and syncs it. This is the only way in which refs move. v
// is the result of Begin, or of the last Commit under the same lock. present lists objects that the
// caller has just stored, so that Commit need not look for them.
//
// Commit sets op.Number, op.Before and, unless op states its effects, op.Effects by the verb. It
// sorts op.Refs. It checks that every ref has the old value
// that op names (else *StaleError), that every value fits the name of its ref, and that every
// object that op names exists.
//
// When Commit returns nil, the operation has happened. After an error it has not, unless
// errors.Is(err, ErrMaybe). After a crash it may have happened.
func (db *DB) Commit(
	held *lock.Held, v *View, op *format.Operation, present map[format.ID]bool,
) (*View, error) {
	if err := held.Of(db.root); err != nil {
		return nil, err
	}
	if op.Effects == (format.Effects{}) {
		op.Effects, _ = EffectsOfVerb(op.Verb)
	}
	op.Number, op.Before = v.Number+1, v.Digest
	slices.SortFunc(op.Refs,
		func(a, b format.RefUpdate) int { return strings.Compare(a.Name, b.Name) })
	for _, u := range op.Refs {
		if err := checkNamespace(u); err != nil {
			return nil, err
		}
		if got := v.Get(u.Name); got != u.Old {
			return nil, &StaleError{Ref: u.Name, Want: u.Old, Got: got}
		}
	}
	if err := db.checkObjects(op, present); err != nil {
		return nil, err
	}
	record, digest, err := op.Encode()
	if err != nil {
		return nil, err
	}
	next := v.clone()
	if err := db.makeRoom(next, len(record)); err != nil {
		return nil, err
	}
	if err := db.append(next, record); err != nil {
		return nil, err
	}
	next.apply(Record{Op: op, Digest: digest, Segment: next.end.segment, Offset: next.end.offset,
		Size: len(record)})
	return next, nil
}

// checkNamespace checks that the values of an update have the kind that belongs to the name of the
// ref.
func checkNamespace(u format.RefUpdate) error {
	kind := format.ObjectValue
	top, rest, _ := strings.Cut(u.Name, "/")
	switch top {
	case "HEAD":
		kind = format.NameValue
	case "sessions":
		kind = format.SessionValue
	case "epochs", "forests", "state", "user":
	default:
		return fmt.Errorf("no such kind of ref: %q", u.Name)
	}
	if (top == "HEAD") != (rest == "") {
		return fmt.Errorf("bad ref name: %q", u.Name)
	}
	for _, v := range []format.Value{u.Old, u.New} {
		if v.Exists() && v.Kind != kind {
			return fmt.Errorf("ref %q cannot hold %q", u.Name, v)
		}
	}
	if u.Old == u.New {
		return fmt.Errorf("ref %q would move to its current value", u.Name)
	}
	return nil
}

func (db *DB) checkObjects(op *format.Operation, present map[format.ID]bool) error {
	var ids []format.ID
	want := func(id format.ID) {
		if !id.IsZero() && !present[id] {
			ids = append(ids, id)
		}
	}
	for _, u := range op.Refs {
		// The old objects of a ref need no check: they exist, or were damaged earlier.
		if u.New.ID != u.Old.ID {
			want(u.New.ID)
		}
		if u.New.Pin != u.Old.Pin {
			want(u.New.Pin)
		}
	}
	for _, d := range op.Decisions() {
		want(d.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	missing, err := db.Objects.HasAll(ids)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("cannot record an operation that names a missing object: %v", missing[0])
	}
	return nil
}

// makeRoom begins the next segment if the record would make the current one too long.
func (db *DB) makeRoom(v *View, size int) error {
	if v.end.offset+int64(size) <= SegmentSize ||
		v.end.offset <= int64(len(db.segmentHeader(v.Number))) {
		return nil
	}
	return db.beginNext(v)
}

// beginNext begins the next segment.
func (db *DB) beginNext(v *View) error {
	if err := db.beginSegment(v.end.segment+1, v.Number+1); err != nil {
		return err
	}
	v.end.segment++
	v.end.offset = int64(len(db.segmentHeader(v.Number + 1)))
	return nil
}

// append writes the record and syncs it. After a failed sync the bytes may still reach the disk
// later, so append cuts them off again.
func (db *DB) append(v *View, record []byte) error {
	path := db.segmentPath(v.end.segment)
	err := db.fs.AppendSync(path, v.end.offset, record)
	if err == nil {
		return nil
	}
	if info, look := os.Stat(path); look == nil && info.Size() == v.end.offset {
		return fmt.Errorf("cannot write the log: %w", err) // not a byte was written
	}
	if cut := db.fs.Truncate(path, v.end.offset); cut != nil {
		return fmt.Errorf("cannot write the log: %w: %w", ErrMaybe, err)
	}
	return fmt.Errorf("cannot write the log: %w", err)
}

// Checkpoint replaces the checkpoint file by one of v. Readers would lose decisions that the refs
// of the forests do not hold yet, so v.PendingCount must be 0 for every forest but those in same:
// forests whose refs have not moved because the decisions since have undone each other. The caller
// first commits an operation that writes the other forests. Readers would also lose the objects
// that the log carries, so the caller first stores these elsewhere and calls Unload.
func (db *DB) Checkpoint(held *lock.Held, v *View, same ...string) error {
	if err := held.Of(db.root); err != nil {
		return err
	}
	if err := cmp.Or(db.mustBeWhole(v), db.mustNotCarry(v)); err != nil {
		return err
	}
	for _, r := range v.Since {
		for _, f := range r.Op.Forests {
			if v.PendingCount(f.Name) > 0 && !slices.Contains(same, f.Name) {
				return fmt.Errorf("forest %q is not written yet", f.Name)
			}
		}
	}
	b, err := db.checkpointOf(v).Encode()
	if err != nil {
		return err
	}
	return db.fs.WriteDurable(db.checkpointPath(), b, 0o600)
}

func (db *DB) checkpointOf(v *View) *format.Checkpoint {
	c := &format.Checkpoint{Store: db.store, Number: v.Number, Digest: v.Digest,
		Segment: v.end.segment, Offset: uint64(v.end.offset)}
	for _, name := range v.Names("") {
		c.Refs = append(c.Refs, format.Ref{Name: name, Value: v.Get(name)})
	}
	return c
}

package refs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/lock"
)

// Unload writes the log after the checkpoint again, without the objects that its records carry. The
// caller has stored these objects elsewhere. A crash leaves each segment as it was or as it is to
// be; the operations and their digests are the same in both.
//
// The log before the checkpoint keeps its bytes, so the offset in a checkpoint or a base stays
// right. A record whose objects are damaged is kept as it is, for fsck to tell of, unless damaged
// is true. On Windows a segment that a reader has open cannot be replaced, and is kept as well.
func (db *DB) Unload(held *lock.Held, v *View, damaged bool) (*View, error) {
	if err := held.Of(db.root); err != nil {
		return nil, err
	}
	if err := db.CheckCarried(v); err != nil {
		return nil, err
	}
	if err := db.mustBeWhole(v); err != nil && !damaged {
		return nil, err
	}
	for n := v.start.segment; n <= v.end.segment; n++ {
		bare, err := db.withoutObjects(n, v.Since, damaged)
		if err == nil && bare != nil {
			err = db.fs.WriteDurable(db.segmentPath(n), bare, 0o600)
		}
		if durable.InUse(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the log without its objects: %w", err)
		}
	}
	next, err := db.Read()
	if err != nil {
		return nil, err
	}
	return next, db.CheckCarried(next)
}

// CheckCarried compares the objects that the log carries with the digests of their records. For
// each record of v.Since that does not fit it sets Damaged, or Mended if the objects are now those
// that the record carried before a byte of it was damaged; look-ups find these from now on.
func (db *DB) CheckCarried(v *View) error {
	var b []byte
	in := uint64(0) // the segment that b holds
	mended := false
	for i := range v.Since {
		r := &v.Since[i]
		if r.Lost != nil || len(r.Op.Objects) == 0 && !r.Damaged {
			continue
		}
		if in != r.Segment {
			var err error
			if b, err = db.bytesOf(r.Segment); err != nil {
				return err
			}
			in = r.Segment
		}
		if r.Offset >= int64(len(b)) {
			return fmt.Errorf("%q has become shorter", db.segmentPath(r.Segment))
		}
		if r.Mended {
			continue
		}
		_, _, _, err := format.DecodeOperation(b[r.Offset:])
		r.Damaged = err != nil
		if was := db.mended(b[r.Offset:], r.Damaged); was != nil {
			if r.Op, _, _, err = format.DecodeOperation(was); err != nil {
				return err
			}
			r.Damaged, r.Mended, mended = false, true, true
		}
	}
	if mended && db.Objects != nil {
		db.Objects.SetLogged(v.Carried())
	}
	db.tell(v)
	return nil
}

// Unsound returns a *CorruptError for the first record of v.Since that is Lost or whose objects are
// damaged: an object that is found nowhere may have been one of these. It returns nil if all are
// sound.
func (db *DB) Unsound(v *View) error {
	if err := db.CheckCarried(v); err != nil {
		return err
	}
	if damage := db.damage(v); damage != nil {
		return damage
	}
	return nil
}

// damage returns what is wrong with the first record of v.Since that is Lost or Damaged; nil if
// there is none.
func (db *DB) damage(v *View) *CorruptError {
	for _, r := range v.Since {
		switch {
		case r.Lost != nil:
			return r.Lost
		case r.Damaged:
			return &CorruptError{Path: db.segmentPath(r.Segment), Offset: r.Offset,
				Why: "the objects that the record carries are damaged"}
		}
	}
	return nil
}

// tell calls OnDamage if there is damage in v.
func (db *DB) tell(v *View) {
	if damage := db.damage(v); damage != nil && db.OnDamage != nil {
		db.OnDamage(damage)
	}
}

// mustBeWhole returns a *CorruptError if records after the checkpoint cannot be read, or the header
// of an entry that they bring: a checkpoint would hide what can be told of it from these records.
func (db *DB) mustBeWhole(v *View) error {
	for _, r := range v.Since {
		if r.Lost != nil {
			return r.Lost
		}
		if !r.Damaged {
			continue
		}
		if lacks, err := db.lacks(r.Op); err != nil || lacks {
			return cmp.Or(err, error(db.damage(v)))
		}
	}
	return nil
}

// lacks reports whether an object is nowhere that an operation names, or that an object names which
// its record carries. Nodes, pages and forests do not count, because they can be made again.
func (db *DB) lacks(op *format.Operation) (bool, error) {
	var todo []format.ID
	for _, u := range op.Refs {
		if !strings.HasPrefix(u.Name, "forests/") && !u.New.ID.IsZero() {
			todo = append(todo, u.New.ID)
		}
	}
	for _, d := range op.Decisions() {
		todo = append(todo, d.ID)
	}
	// What a damaged header seems to be is among these, but nothing names it.
	carried := map[format.ID]format.Object{}
	for _, raw := range op.Objects {
		if _, o, err := format.DecodeObject(raw.Header); err == nil {
			carried[raw.ID()] = o
		}
	}
	for i := 0; i < len(todo); i++ {
		o := carried[todo[i]]
		delete(carried, todo[i])
		if o == nil {
			continue
		}
		for _, l := range o.Links() {
			switch l.Want {
			case format.NodeKind, format.PageKind, format.ForestKind:
				if carried[l.ID] == nil {
					continue
				}
			}
			todo = append(todo, l.ID)
		}
	}
	missing, err := db.Objects.HasAll(todo)
	return len(missing) > 0, err
}

// withoutObjects returns the bytes of segment n without the objects that the given records carry.
// It returns nil if there is nothing to leave out.
func (db *DB) withoutObjects(n uint64, records []Record, damaged bool) ([]byte, error) {
	var b, out []byte
	end := int64(0) // of b: what is copied or left out so far
	for _, r := range records {
		if r.Segment != n || len(r.Op.Objects) == 0 && !r.Damaged && !r.Mended ||
			r.Damaged && !damaged {
			continue
		}
		if b == nil {
			var err error
			if b, err = db.bytesOf(n); err != nil {
				return nil, err
			}
		}
		if r.Offset+int64(r.Size) > int64(len(b)) {
			return nil, fmt.Errorf("%q has become shorter", db.segmentPath(n))
		}
		bare := *r.Op
		bare.Objects = nil
		record, _, err := bare.Encode()
		if err != nil {
			return nil, err
		}
		out = append(append(out, b[end:r.Offset]...), record...)
		end = r.Offset + int64(r.Size)
	}
	if out == nil {
		return nil, nil
	}
	return append(out, b[end:]...), nil
}

// mustNotCarry returns an error if the log carries an object that is nowhere else: a checkpoint
// would hide it. What a damaged record carries was stored elsewhere as far as it is sound.
func (db *DB) mustNotCarry(v *View) error {
	for _, r := range v.Since {
		if r.Damaged {
			continue
		}
		for _, raw := range r.Op.Objects {
			there, err := db.Objects.Elsewhere(raw.ID())
			if err != nil {
				return err
			}
			if !there {
				return fmt.Errorf("operation %d carries object %v, which is nowhere else",
					r.Op.Number, raw.ID())
			}
		}
	}
	return nil
}

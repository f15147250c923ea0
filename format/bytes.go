package format

import (
	"errors"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// Place says what an id in an operation names.
type Place int

// The places.
const (
	PlaceBefore Place = iota // the operation before
	PlaceStays               // an object that stays as long as a record names it
	// An object that may go or move: a forest, a pin, what a user's ref names, because that may be a
	// node, and gc moves nodes between kinds of blocks
	PlacePasses
)

// PlaceID codes an id in an operation.
type PlaceID func(c *varint.Code, id *ID, at Place)

// wholeID is the PlaceID of a record.
func wholeID(c *varint.Code, id *ID, _ Place) { c.Fixed(id[:]) }

// CodeOperation codes an operation as the payload of a record has it, behind the form: without the
// objects. id codes each id. What was read has yet to pass Operation.Encode.
func CodeOperation(c *varint.Code, op *Operation, id PlaceID) {
	c.Uint(&op.Number)
	id(c, &op.Before, PlaceBefore)
	codeTime(c, &op.Time)
	c.Word(&op.Verb)
	op.Effects.code(c)
	c.Word(&op.Session)
	c.Uint(&op.About)
	varint.List(c, &op.Refs, func(u *RefUpdate, c *varint.Code) {
		c.Word(&u.Name)
		at := PlaceStays
		if strings.HasPrefix(u.Name, "forests/") || strings.HasPrefix(u.Name, "user/") {
			at = PlacePasses
		}
		u.Old.code(c, id, at)
		u.New.code(c, id, at)
	})
	varint.List(c, &op.Forests, func(f *ForestUpdate, c *varint.Code) {
		c.Word(&f.Name)
		varint.List(c, &f.Decisions, func(d *Decision, c *varint.Code) { d.code(c, id) })
	})
}

func codeTime(c *varint.Code, t *time.Time) {
	ms := uint64(t.UnixMilli())
	if c.Uint(&ms); !c.Writes {
		*t = time.UnixMilli(int64(ms)).UTC()
	}
}

func (e *Effects) code(c *varint.Code) {
	var b [2]byte
	for i, is := range e.flags() {
		if *is {
			b[0] |= 1 << i
		}
	}
	b[1] = byte(e.Undo)
	if c.Fixed(b[:]); c.Writes {
		return
	}
	for i, is := range e.flags() {
		*is = b[0]&(1<<i) != 0
	}
	e.Undo = UndoRule(b[1])
}

func (v *Value) code(c *varint.Code, id PlaceID, at Place) {
	switch varint.Octet(c, &v.Kind); v.Kind {
	case NoValue:
	case ObjectValue:
		id(c, &v.ID, at)
	case SessionValue:
		id(c, &v.ID, at)
		c.Uint(&v.Frontier)
		c.Uint(&v.Through)
		pinned := !v.Pin.IsZero()
		if c.Flag(&pinned); pinned {
			if id(c, &v.Pin, PlacePasses); v.Pin.IsZero() {
				c.Fail(errZeroID)
			}
		}
	case NameValue:
		c.Word(&v.Name)
	default:
		c.Fail(errors.New("unknown kind of value"))
	}
}

func (d *Decision) code(c *varint.Code, id PlaceID) {
	varint.Octet(c, &d.Kind)
	c.Uint(&d.Cluster)
	id(c, &d.ID, PlaceStays)
	switch d.Kind {
	case DecideRetract, DecideRestore:
		c.Uint(&d.Offset)
	case DecideSettle:
		c.Uint(&d.Offset)
		c.Uint(&d.Count)
		c.Flag(&d.Interim)
	}
}

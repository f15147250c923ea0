package format

import (
	"errors"
	"time"

	"github.com/gemini-ctx/ctx/internal/varint"
)

// code codes an operation as the payload of a record has it, behind the form: without the objects.
// What was read has yet to pass check.
func (op *Operation) code(c *varint.Code) {
	c.Uint(&op.Number)
	c.Fixed(op.Before[:])
	codeTime(c, &op.Time)
	c.Word(&op.Verb)
	op.Effects.code(c)
	c.Word(&op.Session)
	c.Uint(&op.About)
	varint.List(c, &op.Refs, func(u *RefUpdate, c *varint.Code) {
		c.Word(&u.Name)
		u.Old.code(c)
		u.New.code(c)
	})
	varint.List(c, &op.Forests, func(f *ForestUpdate, c *varint.Code) {
		c.Word(&f.Name)
		varint.List(c, &f.Decisions, (*Decision).code)
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

func (v *Value) code(c *varint.Code) {
	switch varint.Octet(c, &v.Kind); v.Kind {
	case NoValue:
	case ObjectValue:
		c.Fixed(v.ID[:])
	case SessionValue:
		c.Fixed(v.ID[:])
		c.Uint(&v.Frontier)
		c.Uint(&v.Through)
		pinned := !v.Pin.IsZero()
		if c.Flag(&pinned); pinned {
			if c.Fixed(v.Pin[:]); v.Pin.IsZero() {
				c.Fail(errZeroID)
			}
		}
	case NameValue:
		c.Word(&v.Name)
	default:
		c.Fail(errors.New("unknown kind of value"))
	}
}

func (d *Decision) code(c *varint.Code) {
	varint.Octet(c, &d.Kind)
	c.Uint(&d.Cluster)
	c.Fixed(d.ID[:])
	switch d.Kind {
	case DecideRetract, DecideRestore:
		c.Uint(&d.Offset)
	case DecideSettle:
		c.Uint(&d.Offset)
		c.Uint(&d.Count)
		c.Flag(&d.Interim)
	}
}

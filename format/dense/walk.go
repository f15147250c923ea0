package dense

import (
	"errors"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/varint"
)

const idSize = len(format.ID{})

// place says what an id in a payload names.
type place int

const (
	before place = iota // the operation before
	stays               // an object that stays as long as a record names it
	passes              // an object that may go or move: a forest, a pin, what a user's ref names
)

// walk goes through a payload of form 1. It calls id at each place of an id, and copies the
// bytes between to copied. id takes the id from r where the payload has it. The payload ends where
// the walk ends.
type walk struct {
	r      varint.Reader
	mark   []byte // what is not copied yet begins here
	copied func([]byte)
	id     func(*varint.Reader, place)
}

var errKind = errors.New("an unknown kind of value or decision")

func (w *walk) run() error {
	r := &w.r
	w.mark = r.Rest
	if r.Byte() != formAlone {
		r.Fail(errKind)
	}
	r.Uvarint() // number
	w.at(before)
	r.Uvarint()         // time
	r.Take(r.Uvarint()) // verb
	r.Take(2)           // effects
	r.Take(r.Uvarint()) // session
	r.Uvarint()         // about
	refs := r.Uvarint()
	for ; refs > 0 && r.Err == nil; refs-- {
		name := string(r.Take(r.Uvarint()))
		w.value(name)
		w.value(name)
	}
	forests := r.Uvarint()
	for ; forests > 0 && r.Err == nil; forests-- {
		r.Take(r.Uvarint())
		decisions := r.Uvarint()
		for ; decisions > 0 && r.Err == nil; decisions-- {
			w.decision()
		}
	}
	if r.Err != nil {
		return r.Err
	}
	w.flush()
	return nil
}

// flush copies what was read since the last place of an id.
func (w *walk) flush() { w.copied(w.mark[:len(w.mark)-len(w.r.Rest)]) }

func (w *walk) at(p place) {
	if w.r.Err != nil {
		return
	}
	w.flush()
	w.id(&w.r, p)
	w.mark = w.r.Rest
}

func (w *walk) value(ref string) {
	named := stays
	if strings.HasPrefix(ref, "forests/") || strings.HasPrefix(ref, "user/") {
		named = passes // a user's ref may name a node, and gc moves nodes between kinds of blocks
	}
	r := &w.r
	switch format.ValueKind(r.Byte()) {
	case format.NoValue:
	case format.ObjectValue:
		w.at(named)
	case format.SessionValue:
		w.at(named)
		r.Uvarint() // frontier
		r.Uvarint() // through
		if r.Bool() {
			w.at(passes)
		}
	case format.NameValue:
		r.Take(r.Uvarint())
	default:
		r.Fail(errKind)
	}
}

func (w *walk) decision() {
	r := &w.r
	kind := format.DecisionKind(r.Byte())
	r.Uvarint() // cluster
	w.at(stays)
	switch kind {
	case format.DecideJoin, format.DecideDrop, format.DecideEvict:
	case format.DecideRetract, format.DecideRestore:
		r.Uvarint()
	case format.DecideSettle:
		r.Uvarint()
		r.Uvarint()
		r.Byte()
	default:
		r.Fail(errKind)
	}
}

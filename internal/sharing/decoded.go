package sharing

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
)

// maxDecoded is how many objects of a pull stay decoded, about 300 bytes each.
const maxDecoded = 1 << 19

// decoded are objects that a pull has just checked and stored. Its later steps ask for each of them
// once or twice more, and to find and decode one again takes longer than all else that they do.
type decoded map[format.ID]decodedObject

type decodedObject struct {
	kind format.ObjectKind
	format.Object
}

// keep keeps an object, unless there are many already.
func (d decoded) keep(id format.ID, kind format.ObjectKind, o format.Object) {
	if d != nil && len(d) < maxDecoded {
		d[id] = decodedObject{kind, o}
	}
}

// decode returns an object without its body.
func (x *Sharer) decode(id format.ID) (format.ObjectKind, format.Object, error) {
	if o, ok := x.decoded[id]; ok {
		return o.kind, o.Object, nil
	}
	header, err := x.s.Objects.Header(id)
	if err != nil {
		return 0, nil, err
	}
	return format.DecodeObject(header)
}

// entry returns an entry without its body.
func (x *Sharer) entry(id format.ID) (*format.Entry, error) {
	if e, ok := x.decoded[id].Object.(*format.Entry); ok {
		return e, nil
	}
	return x.s.History.Header(id)
}

// decodedLoader reads the objects of a forest. Objects that it does not find decoded it reads from
// the store.
type decodedLoader struct{ x *Sharer }

func (l decodedLoader) Node(id format.ID) (*format.Node, error) {
	if n, ok := l.x.decoded[id].Object.(*format.Node); ok {
		return n, nil
	}
	return l.x.s.History.Loader().Node(id)
}

func (l decodedLoader) Page(id format.ID) (*format.Page, error) {
	if p, ok := l.x.decoded[id].Object.(*format.Page); ok {
		return p, nil
	}
	return l.x.s.History.Loader().Page(id)
}

func (l decodedLoader) Tombstone(id format.ID) (*format.Tombstone, error) {
	if t, ok := l.x.decoded[id].Object.(*format.Tombstone); ok {
		return t, nil
	}
	return l.x.s.History.Loader().Tombstone(id)
}

// forestOf returns the state that a forest object holds.
func (x *Sharer) forestOf(id format.ID) (*forest.State, error) {
	if f, ok := x.decoded[id].Object.(*format.Forest); ok {
		return forest.From(f, decodedLoader{x}), nil
	}
	return x.s.History.ReadForest(id)
}

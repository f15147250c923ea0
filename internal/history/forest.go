package history

import (
	"fmt"
	"sync"

	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/refs"
)

// loader gives a forest's state its objects.
type loader struct{ s *Reader }

// nodes holds nodes that were read: whoever asks many branches where their messages are in a forest
// reads the same ones.
type nodes struct {
	mu   sync.Mutex
	of   map[format.ID]*format.Node
	held int // children of all of them
}

// mostChildren is how many children the nodes that are held have at most, 32 bytes each.
const mostChildren = 1 << 18

// ByPlace implements forest.Placer.
func (l loader) ByPlace(ids []format.ID) { l.s.Objects.ByPlace(ids) }

func (l loader) Node(id format.ID) (*format.Node, error) {
	k := &l.s.nodes
	k.mu.Lock()
	n := k.of[id]
	k.mu.Unlock()
	if n != nil {
		return n, nil
	}
	n, err := Decoded(l.s.Objects, id, format.DecodeNode)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held += len(n.Children); k.of == nil || k.held > mostChildren {
		k.of, k.held = map[format.ID]*format.Node{}, len(n.Children)
	}
	k.of[id] = n
	return n, nil
}

func (l loader) Page(id format.ID) (*format.Page, error) {
	return Decoded(l.s.Objects, id, format.DecodePage)
}

func (l loader) Tombstone(id format.ID) (*format.Tombstone, error) {
	return Decoded(l.s.Objects, id, format.DecodeTombstone)
}

// Loader returns what reads a forest's objects from this store.
func (s *Reader) Loader() forest.Loader { return loader{s} }

// Forest returns the main forest as of view: the object that its ref names, with the decisions
// since.
func (s *Reader) Forest(view *refs.View) (*forest.State, error) {
	return s.ForestOf(view, MainForest)
}

// ForestOf is Forest for the forest of a name.
func (s *Reader) ForestOf(view *refs.View, name string) (*forest.State, error) {
	st := forest.New(name, s.Loader())
	if id := view.Get(ForestRefOf(name)).ID; !id.IsZero() {
		var err error
		if st, err = s.ReadForest(id); err != nil {
			return nil, err
		}
	}
	if err := st.ApplyAll(view.Pending(name, 0)); err != nil {
		return nil, err
	}
	return st, nil
}

// ReadForest returns the state that a forest object holds; the zero ID is the empty forest.
func (s *Reader) ReadForest(id format.ID) (*forest.State, error) {
	if id.IsZero() {
		return forest.New(MainForest, s.Loader()), nil
	}
	f, err := Decoded(s.Objects, id, format.DecodeForest)
	if err != nil {
		return nil, fmt.Errorf("cannot read forest: %w", err)
	}
	return forest.From(f, s.Loader()), nil
}

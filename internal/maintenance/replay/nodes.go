package replay

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/store"
)

// memory gives a replayed forest the nodes and pages that the replay has made so far, so that the
// store need not have them. It loads everything else from the store: what is below the forest where
// the kept log begins, and what was made and is there anyway.
type memory struct {
	forest.Loader
	s      *store.Opened
	nodes  map[format.ID]*format.Node // of live clusters
	stones map[format.ID]*format.Node // of evicted clusters
	pages  map[format.ID]*format.Page
	inUse  int // nodes of live clusters that were in use when they were last looked through
}

func newMemory(s *store.Opened) *memory {
	return &memory{
		Loader: s.History.Loader(), s: s,
		nodes: map[format.ID]*format.Node{}, stones: map[format.ID]*format.Node{},
		pages: map[format.ID]*format.Page{},
	}
}

func (m *memory) Node(id format.ID) (*format.Node, error) {
	if n := m.kept(id); n != nil {
		return n, nil
	}
	return m.Loader.Node(id)
}

func (m *memory) Page(id format.ID) (*format.Page, error) {
	if p := m.pages[id]; p != nil {
		return p, nil
	}
	return m.Loader.Page(id)
}

// runObjects makes the nodes over a run of entries as objects, the topmost last.
func runObjects(run []format.ID) ([]format.Raw, []*format.Node, error) {
	nodes, err := format.Nodes(run)
	if err != nil {
		return nil, nil, err
	}
	raws := make([]format.Raw, 0, len(nodes))
	for _, n := range nodes {
		header, err := n.Encode()
		if err != nil {
			return nil, nil, err
		}
		raws = append(raws, format.Raw{Header: header})
	}
	return raws, nodes, nil
}

// kept returns a node that is kept, and nil otherwise.
func (m *memory) kept(id format.ID) *format.Node {
	if n := m.nodes[id]; n != nil {
		return n
	}
	return m.stones[id]
}

// keep keeps an object of a forest that was written.
func (m *memory) keep(raw format.Raw) error {
	_, made, err := format.DecodeObject(raw.Header)
	if err != nil {
		return err
	}
	switch o := made.(type) {
	case *format.Node:
		m.nodes[raw.ID()] = o
	case *format.Page:
		m.pages[raw.ID()] = o
	}
	return nil
}

// trim drops the nodes that no live cluster of a forest uses any more, once they are many. Each
// written forest leaves some behind. It is for a forest that was just written and is the only one.
func (m *memory) trim(st *forest.State) error {
	if len(m.nodes) < 2*m.inUse+4096 {
		return nil
	}
	used := map[format.ID]*format.Node{}
	for _, c := range st.Live() {
		node, err := st.Node(c)
		if err != nil {
			return err
		}
		m.use(used, node)
	}
	m.nodes, m.inUse = used, len(used)
	return nil
}

// use adds the kept nodes below id, and the node id itself, to used.
func (m *memory) use(used map[format.ID]*format.Node, id format.ID) {
	stack := []format.ID{id}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := m.nodes[top]
		if n == nil || used[top] != nil {
			continue
		}
		used[top] = n
		if n.Level > 0 {
			stack = append(stack, n.Children...)
		}
	}
}

// Below returns a forest's nodes and pages as objects, the forest last.
func (m *memory) Below(f *format.Forest) ([]format.Raw, error) {
	var raws []format.Raw
	add := func(encode func() ([]byte, error)) error {
		header, err := encode()
		if err == nil {
			raws = append(raws, format.Raw{Header: header})
		}
		return err
	}
	var stack []format.ID
	for _, c := range f.Clusters {
		stack = append(stack, c.Node)
	}
	for len(stack) > 0 {
		n, err := m.Node(stack[len(stack)-1])
		if err != nil {
			return nil, err
		}
		stack = stack[:len(stack)-1]
		if err := add(n.Encode); err != nil {
			return nil, err
		}
		if n.Level > 0 {
			stack = append(stack, n.Children...)
		}
	}
	if !f.Tombs.IsZero() {
		stack = append(stack, f.Tombs)
	}
	for len(stack) > 0 {
		p, err := m.Page(stack[len(stack)-1])
		if err != nil {
			return nil, err
		}
		stack = stack[:len(stack)-1]
		if err := add(p.Encode); err != nil {
			return nil, err
		}
		for _, slot := range p.Slots {
			if p.Level > 0 {
				stack = append(stack, slot.ID)
			}
		}
	}
	return raws, add(f.Encode)
}

package replay

import (
	"github.com/gemini-ctx/ctx/forest"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/session"
)

// memory gives a replayed forest the nodes and pages that the replay has made so far, so that the
// store need not have them. It loads everything else, which is below the forest where the kept
// log begins, from the store.
type memory struct {
	forest.Loader
	s     *session.Store
	nodes map[format.ID]*format.Node
	pages map[format.ID]*format.Page
	inUse int // nodes that were in use when they were last looked through
}

func newMemory(s *session.Store) *memory {
	return &memory{Loader: s.History.Loader(), s: s, nodes: map[format.ID]*format.Node{}, pages: map[format.ID]*format.Page{}}
}

func (m *memory) Node(id format.ID) (*format.Node, error) {
	if n := m.nodes[id]; n != nil {
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

// keepRun is runObjects for nodes that the replay needs again.
func (m *memory) keepRun(run []format.ID) ([]format.Raw, error) {
	raws, nodes, err := runObjects(run)
	for i, raw := range raws {
		m.nodes[raw.ID()] = nodes[i]
	}
	return raws, err
}

// keepWritten keeps the nodes and pages of a forest that was written, and returns its value.
func (m *memory) keepWritten(w *forest.Written) (*format.Forest, error) {
	for _, raw := range w.Objects {
		_, made, err := format.DecodeObject(raw.Header)
		if err != nil {
			return nil, err
		}
		switch o := made.(type) {
		case *format.Node:
			m.nodes[raw.ID()] = o
		case *format.Page:
			m.pages[raw.ID()] = o
		}
	}
	return format.DecodeForest(w.Objects[len(w.Objects)-1].Header)
}

// trim drops the nodes that no state uses any more, once they are many. Each written forest
// leaves some behind.
func (m *memory) trim(states map[string]*forest.State, forests map[string]*format.Forest) error {
	if len(m.nodes) < 2*m.inUse+4096 {
		return nil
	}
	used := map[format.ID]*format.Node{}
	for name, f := range forests {
		for _, c := range f.Clusters {
			m.use(used, c.Node)
		}
		evicted, err := states[name].Evicted()
		if err != nil {
			return err
		}
		for _, e := range evicted {
			stone, err := m.Tombstone(e.Tombstone)
			if err != nil {
				return err
			}
			m.use(used, stone.Node)
		}
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

// Below returns a forest's nodes and pages as objects, the forest last: those that are here, or
// where all is set every one.
func (m *memory) Below(f *format.Forest, all bool) ([]format.Raw, error) {
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
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n := m.nodes[id]
		if n == nil && all {
			var err error
			if n, err = m.Node(id); err != nil {
				return nil, err
			}
		}
		if n == nil {
			continue
		}
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

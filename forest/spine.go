package forest

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// spine is the right edge of the tree over a run of entries. It is all that is needed to make the
// run longer, and its size grows only with the depth of the tree. rows[0] holds the members of the
// last leaf; rows[n] holds the finished nodes of level n-1 in the last node of level n.
type spine struct {
	rows [][]format.ID
}

// spineOf reads the right edge of a stored tree, one node per level.
func spineOf(load Loader, root format.ID) (*spine, error) {
	n, err := load.Node(root)
	if err != nil {
		return nil, err
	}
	sp := &spine{rows: make([][]format.ID, n.Level+1)}
	for {
		last := len(n.Children) - 1
		if n.Level == 0 {
			sp.rows[0] = append([]format.ID(nil), n.Children...)
			return sp, nil
		}
		sp.rows[n.Level] = append([]format.ID(nil), n.Children[:last]...)
		below, err := load.Node(n.Children[last])
		if err != nil {
			return nil, err
		}
		if below.Level != n.Level-1 {
			return nil, fmt.Errorf("node %v has level %d under one of level %d", n.Children[last],
				below.Level, n.Level)
		}
		n = below
	}
}

// add adds an entry to the run and returns the nodes that this finishes, children first.
func (sp *spine) add(id format.ID) ([]*format.Node, error) {
	var finished []*format.Node
	for level := 0; len(sp.rows[level]) == format.FanOut; level++ {
		n := &format.Node{Level: level, Count: fullBelow(level + 1), Children: sp.rows[level]}
		made, err := idOf(n)
		if err != nil {
			return nil, err
		}
		finished = append(finished, n)
		sp.rows[level] = nil
		if level+1 == len(sp.rows) {
			sp.rows = append(sp.rows, nil)
		}
		sp.rows[level+1] = append(sp.rows[level+1], made)
	}
	sp.rows[0] = append(sp.rows[0], id)
	return finished, nil
}

// top returns the unfinished nodes of the edge, children first and the root last, and the root's
// id.
func (sp *spine) top() (nodes []*format.Node, root format.ID, err error) {
	n := &format.Node{Count: uint64(len(sp.rows[0])), Children: sp.rows[0]}
	for level := 1; ; level++ {
		if root, err = idOf(n); err != nil {
			return nil, root, err
		}
		nodes = append(nodes, n)
		if level >= len(sp.rows) {
			return nodes, root, nil
		}
		children := append(append([]format.ID(nil), sp.rows[level]...), root)
		n = &format.Node{Level: level,
			Count: n.Count + uint64(len(sp.rows[level]))*fullBelow(level), Children: children}
	}
}

// fullBelow returns the number of entries in a finished node of level-1.
func fullBelow(level int) uint64 {
	n := uint64(1)
	for ; level > 0; level-- {
		n *= format.FanOut
	}
	return n
}

func idOf(n *format.Node) (format.ID, error) {
	header, err := n.Encode()
	return format.Sum(header), err
}

// SizeOf returns the smallest size, larger than after, at which the growing run of members had a
// node that wanted accepts. It returns 0 if there is none.
func SizeOf(members []format.ID, after int, wanted func(format.ID) bool) (int, error) {
	sp := &spine{rows: make([][]format.ID, 1)}
	for i, m := range members {
		if _, err := sp.add(m); err != nil {
			return 0, err
		}
		if i < after {
			continue
		}
		_, root, err := sp.top()
		if err != nil {
			return 0, err
		}
		if wanted(root) {
			return i + 1, nil
		}
	}
	return 0, nil
}

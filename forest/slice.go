package forest

import (
	"fmt"

	"github.com/gemini-ctx/ctx/format"
)

// Slice returns the members of a cluster from start up to, but not including, end. It reads only
// the nodes that hold them. The caller must not change the slice, which may belong to the state.
func (s *State) Slice(c *Cluster, start, end uint64) ([]format.ID, error) {
	if start > end || end > c.Count() {
		return nil,
			fmt.Errorf("cluster %d: members %d to %d of %d", c.Number, start, end, c.Count())
	}
	if c.loaded {
		return c.members[start:end], nil
	}
	var out []format.ID
	if start < c.written {
		stored, err := Slice(s.load, c.node, start, min(end, c.written))
		if err != nil {
			return nil, err
		}
		out = stored
	}
	if end > c.written {
		out = append(out, c.members[max(start, c.written)-c.written:end-c.written]...)
	}
	return out, nil
}

// Slice returns the entries below a node from start up to, but not including, end. The shape of the
// tree is known, so it reads only the nodes that hold them.
func Slice(load Loader, node format.ID, start, end uint64) ([]format.ID, error) {
	type part struct {
		node  format.ID
		first uint64 // number of the first entry below it, counted from the root
	}
	var out []format.ID
	stack := []part{{node: node}}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n, err := load.Node(top.node)
		if err != nil {
			return nil, err
		}
		each := fullBelow(n.Level)
		for i := len(n.Children) - 1; i >= 0; i-- {
			first := top.first + uint64(i)*each
			if n.Level > 0 && first < end && first+each > start {
				stack = append(stack, part{n.Children[i], first})
			}
		}
		if n.Level == 0 {
			from, to := max(start, top.first)-top.first,
				min(end-min(end, top.first), uint64(len(n.Children)))
			if from < to {
				out = append(out, n.Children[from:to]...)
			}
		}
	}
	if uint64(len(out)) != end-start {
		return nil, fmt.Errorf("node %v: %d entries from %d to %d", node, len(out), start, end)
	}
	return out, nil
}

package format

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gemini-ctx/ctx/internal/lists"
)

// FanOut is the largest number of children of a node, and of lines of a page of tombstones. With
// 256, a node stays under 20 KiB, and a cluster of 16 million members is three levels deep.
const FanOut = 256

// Node is a run of a cluster's members, in the order in which they arrived. Its children are
// entries, or nodes of the level below. The id of a node proves the whole run.
//
// There is exactly one tree for a run, the one that Nodes builds: all leaves have level 0, all
// nodes of a level but the last are full, and a root that is not a leaf has at least two children.
// docs/format/node.md describes the header.
type Node struct {
	Level    int    // 0: children are entries; n: children are nodes of level n-1
	Count    uint64 // number of entries below
	Children []ID
}

const nodeVersion = 1

// Encode returns the node's header.
func (n *Node) Encode() ([]byte, error) {
	return encode("node", nodeVersion, n)
}

// DecodeNode reads a node's header.
func DecodeNode(b []byte) (*Node, error) { return decode(b, "node", nodeVersion, &Node{}) }

func (n *Node) lines(c *Lines) {
	c.Must("level").level(&n.Level)
	c.Must("count").Number(&n.Count)
	Each(c, childKey(n.Level), &n.Children, (*Lines).ID)
}

// level codes the level of a node, or of a page.
func (c *Lines) level(level *int) {
	n := uint64(*level)
	if c.Number(&n); n > maxLevel {
		c.Fail(fmt.Errorf("level %d, %d is the most", n, maxLevel))
	} else if !c.writes {
		*level = int(n)
	}
}

// maxLevel allows for 256^6 members.
const maxLevel = 5

func childKey(level int) string {
	if level == 0 {
		return "entry"
	}
	return "node"
}

func (n *Node) check() error {
	switch {
	case n.Level < 0 || n.Level > maxLevel:
		return fmt.Errorf("level %d, %d is the most", n.Level, maxLevel)
	case len(n.Children) == 0 || len(n.Children) > FanOut:
		return fmt.Errorf("%d children, not 1 to %d", len(n.Children), FanOut)
	case n.Level == 0 && n.Count != uint64(len(n.Children)):
		return errors.New("count is not the number of entries")
	case n.Level > 0 && (n.Count <= full(n.Level-1)*uint64(len(n.Children)-1) ||
		n.Count > full(n.Level-1)*uint64(len(n.Children))):
		return errors.New("count does not fit the number of nodes: all but the last are full")
	}
	return nil
}

// full returns the number of entries below a full node of the given level.
func full(level int) uint64 {
	n := uint64(FanOut)
	for ; level > 0; level-- {
		n *= FanOut
	}
	return n
}

// Nodes builds the tree over a run of entries. It returns the nodes with children before parents
// and the root last. It returns nothing for an empty run.
func Nodes(run []ID) ([]*Node, error) {
	if len(run) == 0 {
		return nil, nil
	}
	var all, row []*Node
	for start := 0; start < len(run); start += FanOut {
		part := run[start:min(start+FanOut, len(run))]
		row = append(row, &Node{Count: uint64(len(part)), Children: slices.Clone(part)})
	}
	for {
		all = append(all, row...)
		if len(row) == 1 {
			return all, nil
		}
		above, err := rowAbove(row)
		if err != nil {
			return nil, err
		}
		row = above
	}
}

func rowAbove(row []*Node) ([]*Node, error) {
	var above []*Node
	for start := 0; start < len(row); start += FanOut {
		n := &Node{Level: row[start].Level + 1}
		for _, c := range row[start:min(start+FanOut, len(row))] {
			b, err := c.Encode()
			if err != nil {
				return nil, err
			}
			n.Children = append(n.Children, Sum(b))
			n.Count += c.Count
		}
		above = append(above, n)
	}
	return above, nil
}

// NodeOf returns the id of the root node over a run of entries. It returns the zero ID for an empty
// run.
func NodeOf(run []ID) (ID, error) {
	nodes, err := Nodes(run)
	if err != nil || len(nodes) == 0 {
		return ID{}, err
	}
	b, err := nodes[len(nodes)-1].Encode()
	return Sum(b), err
}

// Links returns the children: entries at level 0, nodes above.
func (n *Node) Links() []Link {
	want := NodeKind
	if n.Level == 0 {
		want = EntryKind
	}
	return links(lists.Map(n.Children, func(id ID) Link { return Link{id, want} })...)
}

package format_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// members returns n different ids, the same ones in every run.
func members(n int) []format.ID {
	run := make([]format.ID, n)
	for i := range run {
		run[i] = format.Sum(binary.BigEndian.AppendUint32(nil, uint32(i)))
	}
	return run
}

// rootByHand builds the tree over a run from the top, as docs/format/node.md describes it, and
// returns the id of its root. It shares no code with the package.
func rootByHand(run []format.ID, level int) format.ID {
	below := 1 // members below a child of this level
	for range level {
		below *= 256
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "node 1\nlevel %d\ncount %d\n", level, len(run))
	for start := 0; start < len(run); start += below {
		part := run[start:min(start+below, len(run))]
		if level == 0 {
			fmt.Fprintf(&b, "entry %x\n", part[0][:])
		} else {
			id := rootByHand(part, level-1)
			fmt.Fprintf(&b, "node %x\n", id[:])
		}
	}
	return format.Sum(b.Bytes())
}

func TestNodes(t *testing.T) {
	tests := []struct {
		members int
		rows    []int // number of nodes of each level, leaves first
	}{
		{0, nil}, {1, []int{1}}, {2, []int{1}}, {255, []int{1}}, {256, []int{1}},
		{257, []int{2, 1}}, {512, []int{2, 1}}, {513, []int{3, 1}}, {65536, []int{256, 1}},
		{65537, []int{257, 2, 1}},
		{65536 + 256, []int{257, 2, 1}}, {65536 + 257, []int{258, 2, 1}},
	}
	for _, tt := range tests {
		run := members(tt.members)
		nodes, err := format.Nodes(run)
		if err != nil {
			t.Errorf("%d members: %v", tt.members, err)
			continue
		}
		var rows []int
		for _, n := range nodes {
			for n.Level >= len(rows) {
				rows = append(rows, 0)
			}
			rows[n.Level]++
			b, err := n.Encode()
			if err != nil {
				t.Fatalf("%d members: level %d: %v", tt.members, n.Level, err)
			}
			if again, err := againNode(b); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%d members: level %d: error %v", tt.members, n.Level, err)
			}
		}
		if !slices.Equal(rows, tt.rows) {
			t.Errorf("%d members: got rows %v, want %v", tt.members, rows, tt.rows)
		}
		id, err := format.NodeOf(run)
		if err != nil {
			t.Fatal(err)
		}
		if tt.members == 0 {
			if !id.IsZero() {
				t.Errorf("no members: got %s", id)
			}
			continue
		}
		root := nodes[len(nodes)-1]
		if root.Count != uint64(tt.members) || root.Level != len(tt.rows)-1 {
			t.Errorf("%d members: the root has level %d, count %d", tt.members,
				root.Level, root.Count)
		}
		if want := rootByHand(run, len(tt.rows)-1); id != want {
			t.Errorf("%d members: got %s, by hand %s", tt.members, id, want)
		}
		if got := entriesBelow(t, nodes); !slices.Equal(got, run) {
			t.Errorf("%d members: the tree holds another run", tt.members)
		}
	}
}

// entriesBelow returns the entries below the last node. It finds nodes by their ids.
func entriesBelow(t *testing.T, nodes []*format.Node) []format.ID {
	t.Helper()
	byID := map[format.ID]*format.Node{}
	for _, n := range nodes {
		byID[idOf(n.Encode())] = n
	}
	var out []format.ID
	var down func(n *format.Node)
	down = func(n *format.Node) {
		if n.Level == 0 {
			out = append(out, n.Children...)
			return
		}
		for _, c := range n.Children {
			down(byID[c])
		}
	}
	down(nodes[len(nodes)-1])
	return out
}

// TestNodesShareFullLeaves checks that a run that grew by one member keeps the full leaves that it
// had.
func TestNodesShareFullLeaves(t *testing.T) {
	for _, n := range []int{256, 300, 1024, 1100} {
		run := members(n + 1)
		before, after := leafIDs(t, run[:n]), leafIDs(t, run)
		full := n / format.FanOut
		if !slices.Equal(before[:full], after[:full]) {
			t.Errorf("%d members: a full leaf changed when the run grew", n)
		}
		if after[len(after)-1] == before[len(before)-1] {
			t.Errorf("%d members: the last leaf did not change when the run grew", n)
		}
	}
}

func leafIDs(t *testing.T, run []format.ID) []format.ID {
	t.Helper()
	nodes, err := format.Nodes(run)
	if err != nil {
		t.Fatal(err)
	}
	var ids []format.ID
	for _, n := range nodes {
		if n.Level == 0 {
			ids = append(ids, idOf(n.Encode()))
		}
	}
	return ids
}

// TestNodesDoNotAlias checks that later changes to the run do not change the nodes.
func TestNodesDoNotAlias(t *testing.T) {
	run := members(2)
	nodes, err := format.Nodes(run)
	if err != nil {
		t.Fatal(err)
	}
	before := idOf(nodes[0].Encode())
	run[0] = format.Sum([]byte("another"))
	if idOf(nodes[0].Encode()) != before {
		t.Error("a node changed with the run it was made of")
	}
}

func TestNodesRefuseZero(t *testing.T) {
	for _, n := range []int{1, 257} {
		run := members(n)
		run[0] = format.ID{}
		if id, err := format.NodeOf(run); err == nil {
			t.Errorf("%d members: got %s", n, id)
		}
	}
}

package forestfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/format"
)

// check checks what the parts of a document say of each other. Encode and Decode both call it.
func (d *Document) check() error {
	switch {
	case !format.IsStoreID(d.Store):
		return fmt.Errorf("store: not 32 hexadecimal digits: %.40q", d.Store)
	case (d.Operation == 0) != d.Time.IsZero():
		return errors.New("operation and time: one is there without the other")
	case len(d.Nodes) > MaxNodes:
		return fmt.Errorf("%d nodes, %d are the most", len(d.Nodes), MaxNodes)
	}
	d.byRoot, d.byID = map[int]int{}, map[format.ID]int{}
	if err := format.CheckName(d.Forest); err != nil {
		return fmt.Errorf("forest: %w", err)
	}
	roots, err := d.roots()
	if err != nil {
		return err
	}
	c := &checker{Document: d, roots: roots, offset: make([]int, len(d.Nodes)),
		cluster: make([]int, len(d.Nodes))}
	return firstOf(c.nodes, c.clusters, c.lineage, c.covers)
}

func firstOf(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// roots returns the root that the parents of each node lead to. It visits each node a few times at
// most, because it remembers the roots that it has found.
func (d *Document) roots() ([]int, error) {
	const unknown, under = -1, -2
	roots := slices.Repeat([]int{unknown}, len(d.Nodes))
	var way []int
	for i := range d.Nodes {
		way = way[:0]
		at := i
		for roots[at] == unknown {
			roots[at] = under
			way = append(way, at)
			next := d.Nodes[at].Parent
			if next < 0 || next >= len(d.Nodes) {
				return nil,
					fmt.Errorf("nodes[%d]: parent %d is no node: there are %d", at,
						next, len(d.Nodes))
			}
			if next == at {
				roots[at] = at
				break
			}
			at = next
		}
		if roots[at] == under {
			return nil, fmt.Errorf("nodes[%d]: its parents lead in a circle", at)
		}
		for _, n := range way {
			roots[n] = roots[at]
		}
	}
	return roots, nil
}

type checker struct {
	*Document
	roots   []int
	cluster []int // of a node
	offset  []int // of a node among the members of its cluster
}

func (c *checker) nodes() error {
	stable := make(map[format.ID]int, len(c.Nodes))
	for i := range c.Nodes {
		n := &c.Nodes[i]
		if err := n.check(i); err != nil {
			return fmt.Errorf("nodes[%d]: %w", i, err)
		}
		if other, there := stable[n.Stable]; there {
			return fmt.Errorf("nodes[%d]: stable id %v is that of nodes[%d] too", i,
				n.Stable, other)
		}
		stable[n.Stable] = i
	}
	return nil
}

func (n *Node) check(i int) error {
	text, said := n.Said(), 0
	for _, there := range []bool{n.Text != nil, n.Parts != nil, n.Gone != ""} {
		if there {
			said++
		}
	}
	switch {
	case n.ID != i:
		return fmt.Errorf("id %d: ids count from 0, without gaps", n.ID)
	case n.Stable.IsZero():
		return errors.New("no stable id")
	case !format.IsRole(n.Role):
		return fmt.Errorf("unknown role: %.40q", n.Role)
	case n.Seq == 0:
		return errors.New("seq counts from 1")
	case said != 1:
		return errors.New("text: one of text, parts and gone belongs there")
	case n.Parts != nil && !bytes.HasPrefix(n.Parts, []byte("[")):
		return errors.New("parts: not an array")
	case len(text) > MaxText || len(n.Parts) > MaxText:
		return fmt.Errorf("text of %d bytes, %d are the most", max(len(text), len(n.Parts)),
			MaxText)
	case n.Time.IsZero():
		return errors.New("no time")
	}
	if err := checkTime(n.Time); err != nil {
		return err
	}
	names := []string{n.Session}
	for _, more := range [][]string{{n.Author, n.Invocation, n.Gone}, n.Results} {
		names = append(names, more...)
	}
	for _, call := range n.Calls {
		names = append(names, call.ID, call.Tool)
	}
	if n.Source != nil {
		names = append(names, n.Source.Agent, n.Source.Session, n.Source.Message)
	}
	return checkNames(names...)
}

// checkNames checks that a header can hold the names; "" is a name that is not there.
func checkNames(names ...string) error {
	for _, name := range names {
		if name == "" {
			continue
		}
		if _, err := format.EncodeName(name); err != nil {
			return err
		}
	}
	return nil
}

func checkTime(t Time) error {
	if _, err := format.ParseTime(format.FormatTime(t.Time)); err != nil ||
		t.Nanosecond()%int(time.Millisecond) != 0 {
		return errors.New("time: not a whole millisecond of the years 0 to 9999")
	}
	return nil
}

func (m Moment) checkMoment() error {
	if (m.Operation == 0) != m.Time.IsZero() {
		return errors.New("operation and time: one is there without the other")
	}
	return checkTime(m.Time)
}

// clusters checks that every node is a member of the one cluster that its parents lead to.
func (c *checker) clusters() error {
	for i := range c.cluster {
		c.cluster[i] = -1
	}
	members := 0
	for i := range c.Clusters {
		k := &c.Clusters[i]
		switch {
		case len(k.Members) == 0:
			return fmt.Errorf("clusters[%d]: no members", i)
		case k.Stable.IsZero():
			return fmt.Errorf("clusters[%d]: no stable id", i)
		case k.Arrival == 0:
			return fmt.Errorf("clusters[%d]: arrival counts from 1", i)
		case i > 0 && k.Number <= c.Clusters[i-1].Number:
			return fmt.Errorf("clusters[%d]: number %d does not come after %d", i, k.Number,
				c.Clusters[i-1].Number)
		case k.Root < 0 || k.Root >= len(c.Nodes) || c.roots[k.Root] != k.Root:
			return fmt.Errorf("clusters[%d]: %d is no root", i, k.Root)
		case k.Covers == nil:
			return fmt.Errorf("clusters[%d]: covers: not an array", i)
		}
		if other, there := c.byRoot[k.Root]; there {
			return fmt.Errorf("clusters[%d]: root %d is that of clusters[%d] too", i, k.Root, other)
		}
		c.byRoot[k.Root] = i
		for at, n := range k.Members {
			switch {
			case n < 0 || n >= len(c.Nodes):
				return fmt.Errorf("clusters[%d]: member %d is no node: there are %d", i,
					n, len(c.Nodes))
			case c.cluster[n] >= 0:
				return fmt.Errorf("clusters[%d]: node %d is a member twice", i, n)
			case c.roots[n] != k.Root:
				return fmt.Errorf("clusters[%d]: the parents of member %d lead to %d", i,
					n, c.roots[n])
			}
			c.cluster[n], c.offset[n] = i, at
		}
		members += len(k.Members)
	}
	if members != len(c.Nodes) {
		return fmt.Errorf("%d of %d nodes are in no cluster", len(c.Nodes)-members, len(c.Nodes))
	}
	return nil
}

func (c *checker) lineage() error {
	of := make([]int, len(c.Clusters))
	for i := range c.Lineage {
		s := &c.Lineage[i]
		if err := c.summary(s); err != nil {
			return fmt.Errorf("lineage[%d]: %w", i, err)
		}
		if _, twice := c.byID[s.Stable]; twice {
			return fmt.Errorf("lineage[%d]: stable id %v is there twice", i, s.Stable)
		}
		c.byID[s.Stable] = i
		at := c.byRoot[s.Root]
		if of[at]++; of[at] > MaxSums {
			return fmt.Errorf("lineage[%d]: more than %d summaries of one cluster", i, MaxSums)
		}
	}
	return nil
}

func (c *checker) summary(s *Summary) error {
	cluster, there := c.byRoot[s.Root]
	switch {
	case s.Stable.IsZero():
		return errors.New("no stable id")
	case !there:
		return fmt.Errorf("root: %d is no root of a cluster", s.Root)
	case len(s.Members) == 0:
		return errors.New("stands for no members")
	case s.Generation == 0:
		return errors.New("generation counts from 1")
	case s.Parents == nil:
		return errors.New("parents: not an array")
	case (s.Text == nil) == (s.Gone == ""):
		return errors.New("text: one of text and gone belongs there")
	case len(s.Said()) > MaxText:
		return fmt.Errorf("text of %d bytes, %d are the most", len(*s.Text), MaxText)
	case s.Summarizer == "" || s.Version == "":
		return errors.New("no summarizer, or no version of it")
	}
	if err := firstOf(func() error { return checkNames(s.Summarizer, s.Version, s.Gone) },
		s.checkMoment); err != nil {
		return err
	}
	for at, n := range s.Members {
		if n < 0 || n >= len(c.Nodes) {
			return fmt.Errorf("member %d is no node: there are %d", n, len(c.Nodes))
		}
		if c.cluster[n] != cluster || c.offset[n] != c.offset[s.Members[0]]+at {
			return fmt.Errorf("member %d does not follow those before it in the cluster", n)
		}
	}
	for _, id := range s.Parents {
		at, there := c.byID[id]
		switch {
		case !there:
			return fmt.Errorf("parents: %v does not stand before it", id)
		case !c.within(&c.Lineage[at], s):
			return fmt.Errorf("stands for less than its parent %v", id)
		case c.Lineage[at].Generation >= s.Generation:
			return fmt.Errorf("generation %d is not after that of its parent %v", s.Generation, id)
		}
	}
	return nil
}

// within reports whether whole stands for all members that part stands for.
func (c *checker) within(part, whole *Summary) bool {
	first, start := c.offset[part.Members[0]], c.offset[whole.Members[0]]
	return part.Root == whole.Root && first >= start &&
		first+len(part.Members) <= start+len(whole.Members)
}

func (c *checker) covers() error {
	for i := range c.Clusters {
		k := &c.Clusters[i]
		end := 0
		for _, id := range k.Covers {
			at, there := c.byID[id]
			if !there {
				return fmt.Errorf("clusters[%d]: covers: %v is not in the lineage", i, id)
			}
			s := &c.Lineage[at]
			if s.Root != k.Root {
				return fmt.Errorf("clusters[%d]: a cover is no summary of it", i)
			}
			if c.offset[s.Members[0]] < end {
				return fmt.Errorf("clusters[%d]: covers overlap, or are not in order", i)
			}
			end = c.offset[s.Members[0]] + len(s.Members)
		}
		if k.Tombstone == nil {
			continue
		}
		if err := c.tombstone(k); err != nil {
			return fmt.Errorf("clusters[%d]: tombstone: %w", i, err)
		}
	}
	return nil
}

func (c *checker) tombstone(k *Cluster) error {
	t := k.Tombstone
	switch {
	case t.Stable.IsZero():
		return errors.New("no stable id")
	case c.dirty(k):
		return errors.New("of a cluster that has no summary over all of its members")
	case len(t.Line) > MaxLine || !utf8.ValidString(t.Line) || strings.ContainsAny(t.Line, "\r\n"):
		return fmt.Errorf("line: not one line of at most %d bytes", MaxLine)
	}
	return t.checkMoment()
}

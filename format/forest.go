package format

import (
	"errors"
	"fmt"
)

// Forest is the state of a union-find forest after some operation: its live clusters with their
// covers, and its tombstones. docs/format/forest.md describes its header.
type Forest struct {
	Name     string
	Opened   uint64 // number of clusters ever opened, and so the number of the next one
	Arrivals uint64 // number of graduations so far
	Evicted  uint64 // number of evictions so far
	Clusters []Cluster
	// Tombs is the topmost page of tombstones; it is zero if there are none. TombCount is the
	// number of tombstones.
	Tombs     ID
	TombCount uint64
}

// Cluster is a live root: a run of members that grows at its end, and the covers over parts of it.
type Cluster struct {
	Number  uint64
	Node    ID
	Count   uint64
	Arrival uint64  // of its newest member; eviction picks the cluster with the lowest
	Covers  []Cover // sorted by Offset, not overlapping
}

// Cover says that a summary stands for Count members, beginning with member number Offset.
type Cover struct {
	Summary ID
	Offset  uint64
	Count   uint64
	Interim bool
}

const forestVersion = 1

// Encode returns the forest's header.
func (f *Forest) Encode() ([]byte, error) {
	return encode("forest", forestVersion, f)
}

// DecodeForest reads a forest's header.
func DecodeForest(b []byte) (*Forest, error) {
	return decode(b, "forest", forestVersion, &Forest{})
}

func (f *Forest) lines(c *Lines) {
	c.Must("name").Name(&f.Name)
	c.Must("opened").Number(&f.Opened)
	c.Must("arrivals").Number(&f.Arrivals)
	c.Must("evicted").Number(&f.Evicted)
	Each(c, "cluster", &f.Clusters, func(c *Lines, one *Cluster) *Lines {
		c.Number(&one.Number).ID(&one.Node).Number(&one.Count).Number(&one.Arrival)
		Each(c, "cover", &one.Covers, func(c *Lines, v *Cover) *Lines {
			return c.Either(&v.Interim, "interim", "summary").ID(&v.Summary).Number(&v.Offset).
				Number(&v.Count)
		})
		return c
	})
	c.Opt("tombstones", f.TombCount > 0).ID(&f.Tombs).Positive(&f.TombCount)
}

func (f *Forest) check() error {
	if err := CheckName(f.Name); err != nil {
		return err
	}
	for i, c := range f.Clusters {
		switch {
		case i > 0 && c.Number <= f.Clusters[i-1].Number:
			return errors.New("clusters are not in ascending order")
		case c.Number >= f.Opened:
			return fmt.Errorf("cluster %d was never opened", c.Number)
		case c.Count == 0 || c.Arrival == 0 || c.Arrival > f.Arrivals:
			return fmt.Errorf("cluster %d: bad count or arrival", c.Number)
		}
		end := uint64(0)
		for _, v := range c.Covers {
			if v.Count == 0 || v.Count > c.Count || v.Offset < end || v.Offset > c.Count-v.Count {
				return fmt.Errorf("cluster %d: a cover overlaps another or ends outside", c.Number)
			}
			end = v.Offset + v.Count
		}
	}
	if (f.TombCount == 0) != f.Tombs.IsZero() || f.TombCount > f.Evicted {
		return errors.New("tombstones and evictions do not agree")
	}
	return nil
}

// Links returns the node and the summaries of each live cluster, then the pages of tombstones.
func (f *Forest) Links() []Link {
	n := len(f.Clusters) + 1
	for _, c := range f.Clusters {
		n += len(c.Covers)
	}
	list := make([]Link, 0, n)
	for _, c := range f.Clusters {
		list = append(list, Link{c.Node, NodeKind})
		for _, v := range c.Covers {
			list = append(list, Link{v.Summary, SummaryKind})
		}
	}
	return links(append(list, Link{f.Tombs, PageKind})...)
}

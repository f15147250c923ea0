package format

import (
	"bytes"
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
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("forest: %w", err)
	}
	w := newHeader("forest", forestVersion)
	w.buf.Grow(len(f.Clusters) * clusterRoom)
	w.name("name", f.Name)
	w.number("opened", f.Opened)
	w.number("arrivals", f.Arrivals)
	w.number("evicted", f.Evicted)
	for _, c := range f.Clusters {
		w.line("cluster", fmt.Sprint(c.Number), w.id(c.Node), fmt.Sprint(c.Count),
			fmt.Sprint(c.Arrival))
		for _, v := range c.Covers {
			w.line("cover", coverKind(v.Interim), w.id(v.Summary), fmt.Sprint(v.Offset),
				fmt.Sprint(v.Count))
		}
	}
	if f.TombCount > 0 {
		w.line("tombstones", f.Tombs.String(), fmt.Sprint(f.TombCount))
	}
	return w.bytes()
}

// clusterRoom is more than the line of most clusters without a cover has, in bytes.
const clusterRoom = 96

func coverKind(interim bool) string {
	if interim {
		return "interim"
	}
	return "summary"
}

// DecodeForest reads a forest's header.
func DecodeForest(b []byte) (*Forest, error) {
	r, err := readHeader(b, "forest", forestVersion)
	if err != nil {
		return nil, fmt.Errorf("forest: %w", err)
	}
	f := &Forest{}
	f.Name = r.name(r.must("name", 1)[0])
	f.Opened = r.uint(r.must("opened", 1)[0])
	f.Arrivals = r.uint(r.must("arrivals", 1)[0])
	f.Evicted = r.uint(r.must("evicted", 1)[0])
	if n := bytes.Count(b, []byte("\ncluster ")); n > 0 {
		f.Clusters = make([]Cluster, 0, n)
	}
	for {
		line, ok := r.take("cluster", 4)
		if !ok {
			break
		}
		c := Cluster{Number: r.uint(line[0]), Node: r.id(line[1]), Count: r.uint(line[2]),
			Arrival: r.uint(line[3])}
		c.Covers = readCovers(&r)
		f.Clusters = append(f.Clusters, c)
	}
	if line, ok := r.take("tombstones", 2); ok {
		f.Tombs, f.TombCount = r.id(line[0]), r.uint(line[1])
		if r.err == nil && f.TombCount == 0 {
			r.fail(errors.New("tombstones: 0 is written by leaving the line out"))
		}
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("forest: %w", err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("forest: %w", err)
	}
	return f, nil
}

func readCovers(r *headerReader) []Cover {
	var covers []Cover
	for {
		f, ok := r.take("cover", 4)
		if !ok {
			return covers
		}
		if f[0] != "interim" && f[0] != "summary" {
			r.fail(fmt.Errorf("cover: unknown kind: %.40q", f[0]))
		}
		c := Cover{Interim: f[0] == "interim", Summary: r.id(f[1]), Offset: r.uint(f[2]),
			Count: r.uint(f[3])}
		covers = append(covers, c)
	}
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

package format

import (
	"errors"
	"fmt"
)

// Tombstone stands for an evicted cluster, which rendered contexts no longer show. The body is one
// line of text. docs/format/tombstone.md describes the header.
type Tombstone struct {
	Cluster uint64 // the cluster's number in its forest
	Node    ID
	Count   uint64
	Arrival uint64 // of the cluster's newest member
	Summary ID     // a summary of the whole node
	Body    Body
}

const tombstoneVersion = 1

// Encode returns the tombstone's header.
func (t *Tombstone) Encode() ([]byte, error) {
	if t.Count == 0 || t.Node.IsZero() || t.Summary.IsZero() {
		return nil, errors.New("tombstone: no members, or no summary")
	}
	w := newHeader("tombstone", tombstoneVersion)
	w.number("cluster", t.Cluster)
	w.line("node", t.Node.String(), fmt.Sprint(t.Count))
	w.number("arrival", t.Arrival)
	w.line("summary", t.Summary.String())
	w.body(t.Body)
	return w.bytes()
}

// DecodeTombstone reads a tombstone's header.
func DecodeTombstone(b []byte) (*Tombstone, error) {
	r, err := readHeader(b, "tombstone", tombstoneVersion)
	if err != nil {
		return nil, fmt.Errorf("tombstone: %w", err)
	}
	t := &Tombstone{}
	t.Cluster = r.uint(r.must("cluster", 1)[0])
	node := r.must("node", 2)
	t.Node, t.Count = r.id(node[0]), r.uint(node[1])
	t.Arrival = r.uint(r.must("arrival", 1)[0])
	t.Summary = r.id(r.must("summary", 1)[0])
	t.Body = r.mustNonceBody()
	if r.err == nil && (t.Count == 0 || t.Node.IsZero() || t.Summary.IsZero()) {
		r.fail(errors.New("no members, or no summary"))
	}
	if err := r.done(); err != nil {
		return nil, fmt.Errorf("tombstone: %w", err)
	}
	return t, nil
}

// Links returns the node of the evicted cluster and its summary.
func (t *Tombstone) Links() []Link {
	return links(Link{t.Node, NodeKind}, Link{t.Summary, SummaryKind})
}

// Over returns the node over the entries that the tombstone stands for.
func (t *Tombstone) Over() ID { return t.Node }

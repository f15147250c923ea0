package format

import "errors"

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
	return encode("tombstone", tombstoneVersion, t)
}

// DecodeTombstone reads a tombstone's header.
func DecodeTombstone(b []byte) (*Tombstone, error) {
	return decode(b, "tombstone", tombstoneVersion, &Tombstone{})
}

func (t *Tombstone) lines(c *Lines) {
	c.Must("cluster").Number(&t.Cluster)
	c.Must("node").ID(&t.Node).Number(&t.Count)
	c.Must("arrival").Number(&t.Arrival)
	c.Must("summary").ID(&t.Summary)
	c.body(&t.Body, true)
}

func (t *Tombstone) check() error {
	if t.Count == 0 || t.Node.IsZero() || t.Summary.IsZero() {
		return errors.New("no members, or no summary")
	}
	return nil
}

// Links returns the node of the evicted cluster and its summary.
func (t *Tombstone) Links() []Link {
	return links(Link{t.Node, NodeKind}, Link{t.Summary, SummaryKind})
}

// Over returns the node over the entries that the tombstone stands for.
func (t *Tombstone) Over() ID { return t.Node }

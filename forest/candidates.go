package forest

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/gemini-ctx/ctx/forest/terms"
)

// The bounds that keep the cost of a graduation independent of how long the history is.
const (
	MaxCandidates = 64  // clusters a unit is compared with: those touched most lately
	MaxBagTerms   = 256 // terms a candidate keeps, its most frequent ones
)

// Candidates are the clusters that a unit may join, the one touched last first, with the terms of their members. They are a cache: what was
// decided with them is recorded, so that another order or another bag changes later decisions only.
type Candidates struct{ list []Candidate }

// Candidate is a cluster and its terms.
type Candidate struct {
	Cluster uint64
	Bag     terms.Bag
}

// Choose returns the cluster whose terms are most like those of the unit, and how alike they are. ok is false if none reaches the
// threshold. Among equals the one touched last wins.
func (c *Candidates) Choose(unit terms.Bag, threshold float64) (cluster uint64, score float64, ok bool) {
	bags := make([]terms.Bag, len(c.list))
	for i := range c.list {
		bags[i] = c.list[i].Bag
	}
	best := -1
	for i, s := range terms.Weigh(bags).Scores(unit) {
		if s >= threshold && (best < 0 || s > score) {
			best, score = i, s
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	return c.list[best].Cluster, score, true
}

// Touch adds a unit's terms to a cluster and moves it to the front; the one touched longest ago goes when there are too many.
func (c *Candidates) Touch(cluster uint64, unit terms.Bag) {
	var old terms.Bag
	if i := c.index(cluster); i >= 0 {
		old = c.list[i].Bag
		c.list = slices.Delete(c.list, i, i+1)
	}
	c.list = slices.Insert(c.list, 0, Candidate{Cluster: cluster, Bag: terms.Add(old, unit, MaxBagTerms)})
	c.list = c.list[:min(len(c.list), MaxCandidates)]
}

// Has reports whether a cluster is among the candidates.
func (c *Candidates) Has(cluster uint64) bool { return c.index(cluster) >= 0 }

func (c *Candidates) index(cluster uint64) int {
	return slices.IndexFunc(c.list, func(d Candidate) bool { return d.Cluster == cluster })
}

// Append adds the candidates as bytes to dst.
func (c *Candidates) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(c.list)))
	for _, d := range c.list {
		dst = binary.AppendUvarint(dst, d.Cluster)
		dst = terms.AppendBag(dst, d.Bag)
	}
	return dst
}

var errCandidates = errors.New("candidates: damaged")

// DecodeCandidates reads what Append wrote.
func DecodeCandidates(b []byte) (*Candidates, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > MaxCandidates {
		return nil, errCandidates
	}
	b = b[size:]
	c := &Candidates{}
	for range n {
		cluster, size := binary.Uvarint(b)
		if size <= 0 {
			return nil, errCandidates
		}
		bag, rest, err := terms.DecodeBag(b[size:])
		if err != nil {
			return nil, err
		}
		c.list, b = append(c.list, Candidate{Cluster: cluster, Bag: bag}), rest
	}
	if len(b) > 0 {
		return nil, errCandidates
	}
	return c, nil
}

package view

import "slices"

const (
	// maxTombstones are shown, the newest; all others are one line, so that the block does not grow with the history.
	maxTombstones = 20

	// Without a budget the sentences of ranked summaries share this many tokens: enough for a paragraph a cluster, and an end
	// to it. Plain summaries were written to be read whole and are.
	sentencesBase       = 200
	sentencesPerCluster = 150
	sentencesMost       = 4000

	// Headings are given to all clusters beforehand when they take no more than this part of the prefix; otherwise they are
	// paid for with a cluster's first sentence. Tombstones are sure of their part and may take what is left at the end.
	headingShare   = 4
	tombstoneShare = 8
)

// chooser fills a block within a room. A piece that does not fit is passed over, and smaller ones after it may still fit.
type chooser struct {
	p      printer
	left   room
	head   []bool // sections whose heading is paid for
	block  block
	drops  dropList
	listed int // of the tombstones
}

// choose decides what the prefix says; older is how many tombstones there are that are not among those given. It returns nil when there is nothing to say, or no room for the frame.
func choose(sections []section, tombstones []Tombstone, older int, p printer, r room) (*block, []Drop) {
	if len(sections)+len(tombstones) == 0 {
		return nil, nil
	}
	frame := cost(p.prefix(&block{})) + p.unlistedCost(len(sections)+len(tombstones)+older)
	if !r.holds(frame) {
		return nil, nothingPrinted(sections, tombstones, nil)
	}
	c := &chooser{p: p, left: r, head: make([]bool, len(sections)), block: block{sections: sections}}
	c.pay(frame)
	whole := c.left
	c.headings(whole / headingShare)
	c.quotes()
	c.bury(tombstones, whole/tombstoneShare)
	c.summaries()
	c.bareHeadings()
	c.bury(tombstones, c.left)
	c.finish(tombstones)
	c.block.moreTombstones += older
	return &c.block, c.drops
}

// pay spends n, if it is there.
func (c *chooser) pay(n int) bool {
	switch {
	case c.left == endless:
		return true
	case !c.left.holds(n):
		return false
	}
	c.left -= room(n)
	return true
}

// payIn spends n for a piece of section i, and what its heading costs if that is still due.
func (c *chooser) payIn(i, n int) bool {
	if !c.head[i] {
		n += c.p.headingCost(c.block.sections[i])
	}
	if !c.pay(n) {
		return false
	}
	c.head[i] = true
	return true
}

// headings pays for all headings if they cost no more than most.
func (c *chooser) headings(most room) {
	total := 0
	for _, s := range c.block.sections {
		total += c.p.headingCost(s)
	}
	if !most.holds(total) || !c.pay(total) {
		return
	}
	for i := range c.head {
		c.head[i] = true
	}
}

// bareHeadings gives what is left to clusters that have none, the newest first.
func (c *chooser) bareHeadings() {
	for i := range slices.Backward(c.head) {
		c.payIn(i, 0)
	}
}

// quotes takes the messages of expanded clusters, the newest cluster first. Within one they are cut from the old end.
func (c *chooser) quotes() {
	for i := range slices.Backward(c.block.sections) {
		s := &c.block.sections[i]
		first := len(s.quoted)
		for first > 0 && c.payIn(i, c.p.quotedCost(s.quoted[first-1])) {
			first--
		}
		for _, m := range s.quoted[:first] {
			c.drops.add(DropMessage, 1, m.ID)
		}
		s.quoted = s.quoted[first:]
	}
}

// bury lists further tombstones, newest first, for no more than most.
func (c *chooser) bury(tombstones []Tombstone, most room) {
	for c.listed < min(len(tombstones), maxTombstones) {
		n := c.p.tombstoneCost(tombstones[c.listed])
		if !most.holds(n) || !c.pay(n) {
			return
		}
		if most != endless {
			most -= room(n)
		}
		c.listed++
	}
}

// finish takes out the clusters that got no heading and says what is not listed.
func (c *chooser) finish(tombstones []Tombstone) {
	kept := c.block.sections[:0:0]
	for i, s := range c.block.sections {
		if c.head[i] {
			kept = append(kept, s)
			continue
		}
		c.block.moreClusters++
		c.drops.add(DropCluster, 1, s.ID)
	}
	c.block.sections = kept
	c.block.tombstones = tombstones[:c.listed]
	c.block.moreTombstones = len(tombstones) - c.listed
	for _, t := range tombstones[c.listed:max(c.listed, min(len(tombstones), maxTombstones))] {
		c.drops.add(DropTombstone, 1, t.ID)
	}
}

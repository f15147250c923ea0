package view

import (
	"cmp"
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
)

const (
	// maxTombstones is the number of tombstones that are printed, the newest. One line counts all
	// others, so that the block does not grow with the history.
	maxTombstones = 20

	// Without a budget the sentences of ranked summaries share this many tokens: enough for a
	// paragraph for each cluster, up to a limit. The summaries of models are printed whole.
	sentencesBase       = 200
	sentencesPerCluster = 150
	maxSentenceTokens   = 4000

	// Under a budget tombstones get this part if no evicted cluster offers anything else, and
	// otherwise what is left at the end.
	tombstoneShare = 8

	// Under a budget headings in text take at most this part of the prefix. The clusters with most
	// lines get them, and the lines of all other clusters follow together. An id for every sentence
	// would cost a sixth of the facts in chat.
	headingShare = 96
)

// chooser fills a block within a room. It skips a piece that does not fit; smaller pieces after it
// may still fit.
type chooser struct {
	p      printer
	in     Input
	how    brief.Options
	left   room
	head   []bool // sections whose heading is paid for
	loose  bool   // lines may stand without the heading of their cluster
	block  block
	drops  dropList
	listed int // the number of tombstones in the block
}

// choose decides what the block says. It returns nil if there is nothing to say, or no room for the
// frame.
// how says for whom lines about an agent's work are chosen.
func choose(
	sections []section, tombstones []Tombstone, in Input, p printer, r room, how brief.Options,
) (*block, []Drop) {
	older := in.OlderTombstones
	if len(sections)+len(tombstones) == 0 && !in.Work.hasFacts() {
		return nil, nil
	}
	frame := cost(p.prefix(&block{})) + p.unlistedCost(len(sections)+len(tombstones)+older)
	if r != endless && p.looseLines() {
		frame += p.headingCost(section{loose: true})
	}
	if !r.holds(frame) {
		return nil, nothingPrinted(sections, tombstones, nil)
	}
	c := &chooser{p: p, in: in, how: how, left: r, head: make([]bool, len(sections))}
	c.block.sections = sections
	c.pay(frame)
	c.loose = c.left != endless && p.looseLines()
	if c.left == endless {
		c.head = slices.Repeat([]bool{true}, len(sections)) // all have headings
	}
	whole := c.left
	c.expansions()
	if !slices.ContainsFunc(sections, func(s section) bool { return s.evicted }) {
		c.listTombstones(tombstones, whole/tombstoneShare)
	}
	if c.loose {
		headings := c.left / headingShare
		c.left -= headings
		c.answers()
		c.fillPast()
		c.left += headings
		c.largestHeadings()
	} else {
		c.answers()
		c.fillPast()
		c.bareHeadings()
	}
	all := len(tombstones) + older
	tombstones, shown := c.unshown(tombstones)
	c.listTombstones(tombstones, c.left)
	c.finish(tombstones)
	c.block.moreTombstones = all - shown - c.listed
	return &c.block, c.drops
}

// fillPast takes the lines about the past: those of an agent's work, or those of the summaries.
func (c *chooser) fillPast() {
	if c.in.Work == nil {
		c.summaries()
	} else {
		c.work()
	}
	for i := range c.block.sections {
		slices.SortStableFunc(c.block.sections[i].lines,
			func(a, b line) int { return a.order.compare(b.order) })
	}
}

// pay spends n, and reports whether there was enough room.
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

// payLine spends n for a sentence of section i. If lines may stand without a heading, the heading
// is chosen later.
func (c *chooser) payLine(i, n int) bool {
	if c.loose {
		return c.pay(n)
	}
	return c.payIn(i, n)
}

// payIn spends n for a piece of section i, and the cost of its heading if it is not paid for.
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

// bareHeadings spends the rest of the room on headings of live clusters that have none, newest
// first.
func (c *chooser) bareHeadings() {
	for i := range slices.Backward(c.head) {
		if !c.block.sections[i].evicted {
			c.payIn(i, 0)
		}
	}
}

// largestHeadings gives headings to the clusters with most text while there is room.
func (c *chooser) largestHeadings() {
	size := make([]int, len(c.block.sections))
	var order []int
	for i, s := range c.block.sections {
		for _, l := range s.lines {
			size[i] += len(l.text)
		}
		if !c.head[i] && len(s.lines) > 1 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	for _, i := range order {
		c.payIn(i, 0)
	}
}

// unshown returns the tombstones of clusters of which nothing else is printed, and the number of
// evicted clusters that are printed.
func (c *chooser) unshown(tombstones []Tombstone) ([]Tombstone, int) {
	shown := map[format.ID]bool{}
	for i, s := range c.block.sections {
		if s.evicted && c.head[i] {
			shown[s.ID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(tombstones),
		func(t Tombstone) bool { return shown[t.ID] }), len(shown)
}

// expansions takes the messages of expanded clusters, newest cluster first. Within a cluster it
// drops the oldest messages.
func (c *chooser) expansions() {
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

// listTombstones lists further tombstones, newest first, for at most most.
func (c *chooser) listTombstones(tombstones []Tombstone, most room) {
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

// finish removes the clusters that got no heading, collects their lines at the end of the block,
// and counts what is not listed.
func (c *chooser) finish(tombstones []Tombstone) {
	kept := []section{{loose: true, brief: true}}
	for i, s := range c.block.sections {
		if c.head[i] && !s.loose {
			kept = append(kept, s)
			continue
		}
		kept[0].lines = append(kept[0].lines, s.lines...)
		if !s.evicted && !s.loose {
			c.block.moreClusters++
			if len(s.lines) == 0 {
				c.drops.add(DropCluster, 1, s.ID)
			}
		}
	}
	slices.SortStableFunc(kept[0].lines,
		func(a, b line) int { return a.order.compareSaid(b.order) })
	if kept = append(kept[1:], kept[0]); len(kept[len(kept)-1].lines) == 0 {
		kept = kept[:len(kept)-1]
	}
	c.block.sections = kept
	c.block.tombstones = tombstones[:c.listed]
	for _, t := range tombstones[c.listed:max(c.listed, min(len(tombstones), maxTombstones))] {
		c.drops.add(DropTombstone, 1, t.ID)
	}
}

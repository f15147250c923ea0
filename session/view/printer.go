package view

import (
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
)

// printer knows one format. Whatever it costs or prints of the past takes no look at the tail.
type printer interface {
	base() string         // the prefix when nothing is said of the past
	prefix(*block) string // the prefix that says b
	rest(rest) string     // everything after the prefix

	// What a piece of the block adds to the cost of the prefix, at most.
	headingCost(section) int
	lineCost(line) int
	quotedCost(said) int
	briefCost(brief.Line) int
	tombstoneCost(Tombstone) int
	unlistedCost(n int) int

	looseLines() bool // lines can be printed without the heading of their cluster
	digests() bool    // sentences of messages can be printed without the messages
	acts() bool       // calls and results can be printed as what was done
}

// rest is what a printer needs to print what comes after the prefix.
type rest struct {
	prefix string
	bare   bool // the prefix is base: there is no block
	tail   []said
	drops  tally
}

// block is what is said of the past.
type block struct {
	brief      []brief.Line // what an agent's work is about, and where it stands
	sections   []section
	tombstones []Tombstone
	// What is not listed, and is said to be so in one line.
	moreClusters   int
	moreTombstones int
	quotes         []quote // passages that answer the question, which stand among the lines
}

// answers returns the passages that answer the question; none where there is no block.
func (b *block) answers() []quote {
	if b == nil {
		return nil
	}
	return b.quotes
}

// section is a cluster and what is shown of it: lines in reading order, or its messages.
type section struct {
	Cluster
	expanded bool
	evicted  bool // it may be shown, and is named by its tombstone if it is not
	brief    bool // its heading is the id alone
	loose    bool // it is no cluster, but lines of several
	quoted   []said
	lines    []line
}

// line is a sentence of a ranked summary, or the text of a plain one.
type line struct {
	sentence bool
	from     format.ID
	text     string
	order    lineOrder
}

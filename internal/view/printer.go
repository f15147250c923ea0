package view

import (
	"strings"

	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// printer prints one format. The prefix and its costs do not depend on the tail.
type printer interface {
	base() string         // the prefix without a block
	prefix(*block) string // the prefix with a block
	suffix(suffix) string // everything after the prefix

	// The largest cost that a piece of the block adds to the prefix.
	headingCost(section) int
	lineCost(line) int
	quotedCost(messageItems) int
	briefCost(brief.Line) int
	tombstoneCost(Tombstone) int
	unlistedCost(n int) int

	looseLines() bool     // lines can be printed without the heading of their cluster
	digests() bool        // sentences of messages can be printed without the messages
	describesCalls() bool // calls and results can be described in text
}

// suffix is what a printer needs to print everything after the prefix.
type suffix struct {
	prefix string
	bare   bool // the prefix is base: there is no block
	tail   []messageItems
	drops  tally
}

// newPrinter returns the printer of a known format.
func newPrinter(in Input, o Options) printer {
	block := epochText(in.Epoch)
	switch o.Format {
	case JSON:
		return documentPrinter{in}
	case Gemini:
		return newProviderPrinter(geminiDialect(block), o.Budget > 0)
	case OpenAI:
		return newProviderPrinter(openAIDialect(block), o.Budget > 0)
	case Anthropic:
		return newProviderPrinter(anthropicDialect(block), o.Budget > 0)
	}
	return newTextPrinter(block, o.Budget > 0)
}

// epochText is the initial block as one text.
func epochText(parts []EpochPart) string {
	return strings.Join(lists.Map(parts, func(p EpochPart) string { return p.Text }), "\n\n")
}

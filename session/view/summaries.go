package view

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/format"
)

// lineOrder is where a line stands in its cluster: parts in order, in a part the order in which it was said.
type lineOrder struct {
	part  int
	seq   uint64
	entry format.ID // tells sessions apart
	pos   int
	rank  int // in the summary; tells apart what stands in the same place
}

func (a lineOrder) compare(b lineOrder) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.seq, b.seq), a.entry.Compare(b.entry),
		cmp.Compare(a.pos, b.pos), cmp.Compare(a.rank, b.rank))
}

// offer is a line that asks to be printed.
type offer struct {
	section int
	weight  int64 // by token
	cost    int   // in the format
	size    int   // of the words alone, with a newline
	line    line
}

// summaries takes what it can of all summaries. Plain texts have no ranking: where not all fits, each is cut to its share.
// Sentences of all clusters compete in one ranking, so that the clusters together say no less than one flat list would.
func (c *chooser) summaries() {
	sentences, texts := c.offers()
	if c.left == endless {
		n := min(sentencesMost, sentencesBase+sentencesPerCluster*len(c.block.sections))
		c.takeTexts(texts, 0)
		c.takeSentences(sentences, room(perToken*n))
	} else {
		total := 0
		for _, o := range slices.Concat(sentences, texts) {
			total += o.cost
		}
		c.takeTexts(texts, total)
		c.takeSentences(sentences, endless)
	}
	for i := range c.block.sections {
		slices.SortStableFunc(c.block.sections[i].lines, func(a, b line) int { return a.order.compare(b.order) })
	}
}

// offers lists the lines of all sections that are not expanded, in order.
func (c *chooser) offers() (sentences, texts []offer) {
	for i, s := range c.block.sections {
		if s.expanded {
			continue
		}
		for j, part := range s.Parts {
			for k, sent := range part.Sentences {
				at := lineOrder{j, sent.Seq, sent.Entry, sent.Pos, k}
				l := line{sentence: true, from: sent.Entry, text: oneLine(sent.Text), order: at}
				if l.text != "" {
					o := offer{section: i, weight: sent.Weight, cost: c.p.lineCost(l), size: cost(l.text) + 1, line: l}
					sentences = append(sentences, o)
				}
			}
			l := line{from: part.Summary, text: strings.TrimSpace(part.Text), order: lineOrder{part: j}}
			if l.text != "" {
				texts = append(texts, offer{section: i, cost: c.p.lineCost(l), line: l})
			}
		}
	}
	return sentences, texts
}

// takeTexts takes plain texts. If all that is offered, which costs total, is more than there is, each gets its part of it.
func (c *chooser) takeTexts(texts []offer, total int) {
	whole := c.left
	for _, o := range texts {
		full := o.line.text
		if whole != endless && !whole.holds(total) {
			hi, lo := bits.Mul64(uint64(whole), uint64(o.cost))
			share, _ := bits.Div64(hi, lo, uint64(total))
			o.line.text = c.cutTo(o, int(share))
		}
		taken := o.line.text != "" && c.payIn(o.section, c.p.lineCost(o.line))
		if taken {
			c.take(o)
		}
		if !taken || o.line.text != full {
			c.drops.add(DropShortened, 1, c.block.sections[o.section].ID)
		}
	}
}

// cutTo returns as much of o's text as costs no more than most.
func (c *chooser) cutTo(o offer, most int) string {
	return cutEnd(o.line.text, func(s string) bool {
		l := o.line
		l.text = s
		return c.p.lineCost(l) <= most
	})
}

// takeSentences takes sentences, best first, while their words fit into purse. A weight is what a sentence is worth for each
// token already, so weights compare as they are; equals come in order. A sentence that is printed once is not printed again,
// and not missing.
func (c *chooser) takeSentences(sentences []offer, purse room) {
	slices.SortStableFunc(sentences, func(a, b offer) int { return cmp.Compare(b.weight, a.weight) })
	printed := map[string]bool{}
	var passed []offer
	for _, o := range sentences {
		switch {
		case printed[o.line.text]:
		case !purse.holds(o.size) || !c.payIn(o.section, o.cost):
			passed = append(passed, o)
		default:
			printed[o.line.text] = true
			c.take(o)
			if purse != endless {
				purse -= room(o.size)
			}
		}
	}
	slices.SortStableFunc(passed, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.section, b.section), a.line.order.compare(b.line.order))
	})
	for _, o := range passed {
		if !printed[o.line.text] {
			c.drops.add(DropSentence, 1, c.block.sections[o.section].ID)
		}
	}
}

func (c *chooser) take(o offer) {
	s := &c.block.sections[o.section]
	s.lines = append(s.lines, o.line)
}

// oneLine makes a sentence one line, so that what the lines of the block are is ours to say.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

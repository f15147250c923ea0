package view

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
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

func (a lineOrder) compare(b lineOrder) int { return cmp.Or(cmp.Compare(a.part, b.part), a.said(b)) }

// said orders lines of several clusters by when they were said.
func (a lineOrder) said(b lineOrder) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), a.entry.Compare(b.entry), cmp.Compare(a.pos, b.pos), cmp.Compare(a.rank, b.rank))
}

// offer is a line that asks to be printed.
type offer struct {
	section int
	weight  int64 // by token
	cost    int   // in the format
	size    int   // of the words alone, with a newline
	line    line
}

// summaries takes what it can of all summaries. Without a budget plain texts are printed whole and sentences up to a limit, by the
// weights that they were stored with. Under a budget the sentences of all clusters compete in one ranking that is made for the
// occasion, so that the clusters together say no less than one flat list would.
func (c *chooser) summaries() {
	if c.left == endless {
		n := min(sentencesMost, sentencesBase+sentencesPerCluster*len(c.block.sections))
		c.takeTexts(c.texts(), 0)
		c.takeSentences(c.offers(), room(perToken*n))
	} else {
		texts := c.texts()
		total := c.demand()
		for _, o := range texts {
			total += o.cost
		}
		c.takeTexts(texts, total)
		c.rank()
	}
	for i := range c.block.sections {
		slices.SortStableFunc(c.block.sections[i].lines, func(a, b line) int { return a.order.compare(b.order) })
	}
}

// texts lists the plain summaries of all sections that are not expanded, in order.
func (c *chooser) texts() []offer {
	var texts []offer
	for i, s := range c.block.sections {
		if s.expanded {
			continue
		}
		for j, part := range s.Parts {
			l := line{from: part.Summary, text: strings.TrimSpace(part.Text), order: lineOrder{part: j}}
			if l.text != "" {
				texts = append(texts, offer{section: i, cost: c.p.lineCost(l), line: l})
			}
		}
	}
	return texts
}

// offers lists the sentences of all sections that are not expanded, in order.
func (c *chooser) offers() []offer {
	var sentences []offer
	for i, s := range c.block.sections {
		if s.expanded {
			continue
		}
		for j, part := range s.Parts {
			for k := range part.Sentences {
				if l := sentenceLine(part.Sentences, j, k); l.text != "" {
					o := offer{section: i, weight: part.Sentences[k].Weight, cost: c.p.lineCost(l), size: cost(l.text) + 1, line: l}
					sentences = append(sentences, o)
				}
			}
		}
	}
	return sentences
}

// sentenceLine is sentence k of a summary that is part j of its cluster, as a line.
func sentenceLine(list []summarize.Sentence, j, k int) line {
	s := list[k]
	return line{sentence: true, from: s.Entry, text: oneLine(s.Text), order: lineOrder{j, s.Seq, s.Entry, s.Pos, k}}
}

// takeTexts takes plain texts. If all that is offered, which costs total, is more than there is, each gets its part of it.
func (c *chooser) takeTexts(texts []offer, total int) {
	for _, o := range texts {
		c.payIn(o.section, 0)
	}
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
	for _, o := range sentences {
		if c.quoted(o.line.from, o.line.text) {
			printed[o.line.text] = true
		}
		if printed[o.line.text] || !purse.holds(o.size) || !c.payIn(o.section, o.cost) {
			continue
		}
		printed[o.line.text] = true
		c.take(o)
		purse -= room(o.size)
	}
	c.missing(printed)
}

// missing counts the sentences of live clusters that are not printed, neither there nor elsewhere.
func (c *chooser) missing(printed map[string]bool) {
	for _, s := range c.block.sections {
		if s.expanded || s.evicted {
			continue
		}
		for _, part := range s.Parts {
			if part.Unread > 0 {
				c.drops.add(DropSentence, part.Unread, s.ID)
			}
			for _, sent := range part.Sentences {
				if text := oneLine(sent.Text); text != "" && !printed[text] {
					c.drops.add(DropSentence, 1, s.ID)
				}
			}
		}
	}
}

func (c *chooser) take(o offer) {
	s := &c.block.sections[o.section]
	s.lines = append(s.lines, o.line)
}

// oneLine makes a sentence one line, so that what the lines of the block are is ours to say.
func oneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isOneLine knows most of what oneLine would leave as it is.
func isOneLine(s string) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || c < ' ' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space
}

package view

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
)

// work takes the summaries of models, and then the lines of a brief of the facts.
func (c *chooser) work() {
	texts := c.texts()
	total := 0
	for _, o := range texts {
		total += o.cost
	}
	said := c.quotedTexts()
	if len(texts) > 0 {
		whole := c.left
		if c.left != endless {
			c.left /= 2
		}
		spent := c.left
		c.takeTexts(texts, total)
		if whole != endless {
			c.left = whole - (spent - c.left)
		}
		for _, o := range texts {
			said = append(said, o.line.text)
		}
	}
	at := map[format.ID]int{}
	for i, s := range c.block.sections {
		at[s.ID] = i
	}
	free := c.left
	if free == endless {
		free = perToken * maxSentenceTokens
	}
	how := c.how
	how.Room, how.Cost, how.Said = int(free), c.workCost, said
	how.Root = c.in.Work.Root
	lines := brief.Choose(c.in.Work.Facts, how)
	for i, l := range lines {
		if l.Section != brief.Story {
			if c.pay(c.p.briefCost(l)) {
				c.block.brief = append(c.block.brief, l)
			}
			continue
		}
		c.story(l, i, at)
	}
	for i := range c.block.sections {
		slices.SortStableFunc(c.block.sections[i].lines,
			func(a, b line) int { return a.order.compare(b.order) })
	}
}

// story takes a line of the story: under the heading of its cluster if it has one, else among the
// loose lines, or among the lines of the brief in a format without loose lines.
func (c *chooser) story(l brief.Line, rank int, at map[format.ID]int) {
	i, ok := at[c.in.Work.Places[l.Entry]]
	if !ok && !c.p.looseLines() {
		if c.pay(c.p.briefCost(l)) {
			c.block.brief = append(c.block.brief, l)
		}
		return
	}
	if !ok {
		i = c.looseSection()
	}
	text := line{sentence: true, from: l.Entry, text: oneLine(l.Text),
		order: lineOrder{seq: l.Seq, entry: l.Entry, pos: l.Pos, rank: rank}}
	if c.payLine(i, c.p.lineCost(text)) {
		c.take(offer{section: i, line: text})
	}
}

// workCost returns the largest cost of a line of a brief.
func (c *chooser) workCost(l brief.Line) int {
	if l.Section != brief.Story || !c.p.looseLines() {
		return c.p.briefCost(l)
	}
	return c.p.lineCost(line{sentence: true, from: l.Entry, text: l.Text})
}

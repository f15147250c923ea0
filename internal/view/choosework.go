package view

import "github.com/gemini-ctx/ctx/internal/brief"

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
	free := c.left
	if free == endless {
		free = perToken * maxSentenceTokens
	}
	how := c.how
	how.Room, how.Cost, how.Said = int(free), c.p.briefCost, said
	how.Root = c.in.Work.Root
	for _, l := range brief.Choose(c.in.Work.Facts, how) {
		if c.pay(c.p.briefCost(l)) {
			c.block.brief = append(c.block.brief, l)
		}
	}
}

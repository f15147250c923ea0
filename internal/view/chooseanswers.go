package view

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// answerShare is the part of the prefix, in sevenths, for passages that answer the question. The
// prefix is seven eighths of the budget, so this is half of the budget.
const answerShare = 4

// agentAnswerShare is answerShare for a prefix made of facts. The words around an answer matter
// there, so passages get more room, and longer messages are quoted whole. 2,000 tokens then hold
// four of five answers; with the values for other conversations, seven of ten.
const agentAnswerShare = 6

var quoteWork = summarize.Quoting{Best: 1, Long: 320, Short: 160, Fading: 40}

// maxAnswerTokens is the largest number of tokens of such passages without a budget: a few pages.
const maxAnswerTokens = 2000

// quote is a printed passage.
type quote struct {
	entry format.ID
	text  string
}

// answers takes the passages that answer the question, best first.
func (c *chooser) answers() {
	if len(c.in.Matches) == 0 {
		return
	}
	at := map[format.ID]int{}
	for i, s := range c.block.sections {
		at[s.ID] = i
	}
	var found []summarize.Found
	var from []Match
	for _, m := range c.in.Matches {
		if i, ok := at[m.Cluster]; !m.Gone && !(ok && c.block.sections[i].expanded) {
			found = append(found,
				summarize.Found{Entry: m.ID, Role: m.Role, Text: m.Text, Score: m.Score})
			from = append(from, m)
		}
	}
	share, how := room(answerShare), summarize.QuoteTalk
	if c.in.Work != nil {
		share, how = agentAnswerShare, quoteWork
	}
	purse := room(perToken * maxAnswerTokens)
	if c.left != endless {
		purse = c.left * share / 7
	}
	said := map[string]bool{}
	for _, p := range summarize.Passages(c.in.Query, found, how) {
		m := from[p.Found]
		i, ok := at[m.Cluster]
		if !ok && !c.p.looseLines() {
			continue
		}
		if !ok {
			i = c.looseSection()
		}
		l := line{sentence: true, from: m.ID, text: tidy(p.Text), byTool: m.Role == "tool",
			order: lineOrder{seq: m.Seq, entry: m.ID, pos: p.Pos}}
		n := c.p.lineCost(l)
		if l.text == "" || said[l.text] || !purse.holds(n) || !c.payLine(i, n) {
			continue
		}
		purse -= room(n)
		said[l.text] = true
		c.block.quotes = append(c.block.quotes, quote{m.ID, oneLine(l.text)})
		c.take(offer{section: i, line: l})
	}
}

// looseSection returns the index of the section for lines of messages without a known cluster. It
// has no heading.
func (c *chooser) looseSection() int {
	n := len(c.block.sections)
	if n == 0 || !c.block.sections[n-1].loose {
		c.block.sections = append(c.block.sections, section{loose: true, brief: true})
		c.head = append(c.head, true)
	}
	return len(c.block.sections) - 1
}

// quoted reports whether a sentence of an entry is part of a printed answer.
func (c *chooser) quoted(entry format.ID, text string) bool {
	return slices.ContainsFunc(c.block.quotes, func(q quote) bool {
		return q.entry == entry && strings.Contains(q.text, text)
	})
}

// tailMatches is the number of messages of the tail that are printed first because they answer the
// question, in formats that cannot print single sentences.
const tailMatches = 4

// matched returns the best messages of the tail that answer the question.
func matched(in Input) map[format.ID]bool {
	tail := lists.Set(lists.Map(in.Tail, func(m Message) format.ID { return m.ID }))
	best := map[format.ID]bool{}
	for _, m := range in.Matches {
		if tail[m.ID] && len(best) < tailMatches {
			best[m.ID] = true
		}
	}
	return best
}

// quotedTexts returns the printed answers.
func (c *chooser) quotedTexts() []string {
	return lists.Map(c.block.quotes, func(q quote) string { return q.text })
}

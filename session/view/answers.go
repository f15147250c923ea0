package view

import (
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
)

// answerShare is the part of the prefix, in sevenths, that may go to passages which answer the question: with the prefix at seven eighths
// of the budget that is half of it.
const answerShare = 4

// Where an agent worked, the words around an answer are what tells: more room, and longer messages
// whole. With these, 2,000 tokens hold four of five answers; with those of talk, seven of ten.
const agentAnswerShare = 6

var quoteWork = summarize.Quoting{Best: 1, Long: 320, Short: 160, Fading: 40}

// answersMost is how many tokens of such passages are printed where there is no budget: a few pages, so that what answers the question is not
// lost in them.
const answersMost = 2000

// quote is a passage that is printed.
type quote struct {
	entry format.ID
	text  string
}

// answers takes the passages that answer the question, the best first.
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
			found = append(found, summarize.Found{Entry: m.ID, Role: m.Role, Text: m.Text, Score: m.Score})
			from = append(from, m)
		}
	}
	share, how := room(answerShare), summarize.QuoteTalk
	if c.in.Work != nil {
		share, how = agentAnswerShare, quoteWork
	}
	purse := room(perToken * answersMost)
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
			i = c.stray()
		}
		l := line{sentence: true, from: m.ID, text: tidy(p.Text), order: lineOrder{seq: m.Seq, entry: m.ID, pos: p.Pos}}
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

// stray returns the section of messages that are in no cluster that is known here; it has no heading.
func (c *chooser) stray() int {
	n := len(c.block.sections)
	if n == 0 || !c.block.sections[n-1].loose {
		c.block.sections = append(c.block.sections, section{loose: true, brief: true})
		c.head = append(c.head, true)
	}
	return len(c.block.sections) - 1
}

// quoted reports whether a sentence of an entry is part of what was taken as an answer.
func (c *chooser) quoted(entry format.ID, text string) bool {
	for _, q := range c.block.quotes {
		if q.entry == entry && strings.Contains(q.text, text) {
			return true
		}
	}
	return false
}

// tidy takes blank lines and spaces at the ends of lines away: the lines of the block are ours to arrange, the words are not.
func tidy(s string) string {
	var lines []string
	for l := range strings.SplitSeq(s, "\n") {
		if l = strings.TrimRight(l, " \t\r"); strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}

// tailMatches is how many messages of the tail are printed before others because they answer the question, where no sentences can be printed
// without their messages.
const tailMatches = 4

// matched returns the best messages of the tail that answer the question.
func matched(in Input) map[format.ID]bool {
	tail := map[format.ID]bool{}
	for _, m := range in.Tail {
		tail[m.ID] = true
	}
	best := map[format.ID]bool{}
	for _, m := range in.Matches {
		if tail[m.ID] && len(best) < tailMatches {
			best[m.ID] = true
		}
	}
	return best
}

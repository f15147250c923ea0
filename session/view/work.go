package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/forest/summarize"
	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// Work is what an agent did on a branch. Where a branch has it, the prefix says this, and not what the
// extracts of its clusters say; the summaries of a model stay.
type Work struct {
	Facts []digest.Fact // of the history before the tail, oldest first
	Tail  []digest.Fact // of the tail, oldest first
	// Earlier are the newest messages that Facts speak of. They are printed where there is room left
	// once all facts are.
	Earlier []Message
	// Places are the nodes of the clusters that messages are members of.
	Places map[format.ID]format.ID
	// Others are lines about other sessions of the project, the best first.
	Others []OtherLine
}

// OtherLine is a line about another session.
type OtherLine struct {
	Session string
	Entry   format.ID
	Text    string
}

// Size is about how many bytes the facts take when all of them are printed.
func (w *Work) Size() int {
	const heading = 16
	n := 0
	for _, f := range w.Facts {
		n += len(f.Text) + heading
	}
	return n
}

func (w *Work) hasFacts() bool { return w != nil && len(w.Facts) > 0 }

// work takes the lines of a brief: of the plain summaries there are, then of the facts.
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
		free = perToken * sentencesMost
	}
	lines := brief.Choose(c.in.Work.Facts, brief.Options{Room: int(free), Cost: c.workCost, Said: said})
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
		slices.SortStableFunc(c.block.sections[i].lines, func(a, b line) int { return a.order.compare(b.order) })
	}
}

// story takes a line of the story: under the heading of its cluster where it has one, else among the
// loose lines, and in a format without such among the brief's.
func (c *chooser) story(l brief.Line, rank int, at map[format.ID]int) {
	i, ok := at[c.in.Work.Places[l.Entry]]
	if !ok && !c.p.looseLines() {
		if c.pay(c.p.briefCost(l)) {
			c.block.brief = append(c.block.brief, l)
		}
		return
	}
	if !ok {
		i = c.stray()
	}
	text := line{sentence: true, from: l.Entry, text: oneLine(l.Text), order: lineOrder{seq: l.Seq, entry: l.Entry, pos: l.Pos, rank: rank}}
	if c.payLine(i, c.p.lineCost(text)) {
		c.take(offer{section: i, line: text})
	}
}

// workCost is what a line of a brief costs at most.
func (c *chooser) workCost(l brief.Line) int {
	if l.Section != brief.Story || !c.p.looseLines() {
		return c.p.briefCost(l)
	}
	return c.p.lineCost(line{sentence: true, from: l.Entry, text: l.Text})
}

// quotedTexts are the answers to a question that are printed.
func (c *chooser) quotedTexts() []string {
	var texts []string
	for _, q := range c.block.quotes {
		texts = append(texts, q.text)
	}
	return texts
}

// tailPart is the part of the budget, as a divisor, that the newest messages may take of a prefix made
// of facts.
const tailPart = 5

// Sizes to which the results and arguments of the newest messages are cut, in bytes, until they fit:
// the largest first.
var actSizes = [...]struct{ result, argument int }{
	{1 << 20, 1 << 20}, {16000, 16000}, {8000, 8000}, {4000, 8000}, {2500, 6000}, {1500, 4000}, {1000, 3000}, {600, 2000}, {300, 1500}, {0, 1000},
}

// compact returns messages with what was called as what was done, and what tools answered cut short.
// Messages that say nothing then are left out. It takes as much as fits into the room.
func (w *Work) compact(all []said, r room) []said {
	facts := map[format.ID][]digest.Fact{}
	for _, f := range w.Tail {
		facts[f.Entry] = append(facts[f.Entry], f)
	}
	root := brief.Root(w.Facts)
	if root == "" {
		root = brief.Root(w.Tail)
	}
	var out []said
	for _, size := range actSizes {
		out = out[:0]
		total := 0
		for _, m := range all {
			if m = m.acted(facts[m.ID], root, size.result, size.argument); len(m.items) > 0 {
				out = append(out, m)
				total += cost(messageText(m, true))
			}
		}
		if r.holds(total) {
			break
		}
	}
	for i := range out {
		out[i].start = i
	}
	return out
}

// withEarlier puts messages before the tail that it has room for: the newest that fit.
func (w *Work) withEarlier(tail []said, r room) []said {
	for _, m := range tail {
		r -= room(cost(messageText(m, true)))
	}
	earlier := w.compact(readAll(w.Earlier), r)
	first := len(earlier)
	for first > 0 {
		n := cost(messageText(earlier[first-1], true))
		if !r.holds(n) {
			break
		}
		r -= room(n)
		first--
	}
	all := slices.Concat(earlier[first:], tail)
	for i := range all {
		all[i].start = i
	}
	return all
}

// acted is a message with its calls and results in words.
func (m said) acted(facts []digest.Fact, root string, result, argument int) said {
	if m.Update || len(m.Replaced) > 0 || m.isReplacement() {
		return m
	}
	m.acts = true
	var items []item
	for _, it := range m.items {
		switch it.kind {
		case callItem:
			if text := callText(it, facts, root, argument); text != "" {
				items = append(items, textOf(text))
			}
		case resultItem:
			if text := resultText(it, facts, result); text != "" {
				items = append(items, textOf(text))
			}
		default:
			if strings.TrimSpace(it.text) != "" {
				items = append(items, it)
			}
		}
	}
	m.cut = m.cut || len(items) < len(m.items)
	m.items = items
	return m
}

// callText says what a call did, and of an edit what was written, up to most bytes.
func callText(it item, facts []digest.Fact, root string, most int) string {
	var lines []string
	for _, f := range facts {
		switch f.Kind {
		case digest.Edit, digest.Read, digest.Search, digest.Command, digest.Commit, digest.Act, digest.Question:
			lines = append(lines, f.Text)
		case digest.Todo:
			lines = append(lines, string(f.State)+": "+f.Text)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if root != "" {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], root+"/", "")
		}
	}
	if passed := passedOn(it, facts, lines); passed != "" {
		lines = append(lines, cutLine(passed, most))
	}
	return strings.Join(slices.Compact(lines), "\n")
}

// passedOn is the text that a call passed on, where the lines about it do not have all of it: what an
// edit wrote, a script that was cut, what a subagent was asked.
func passedOn(it item, facts []digest.Fact, lines []string) string {
	edits := slices.ContainsFunc(facts, func(f digest.Fact) bool { return f.Kind == digest.Edit })
	passed := oneLine(digest.TextOf(it.args))
	if edits || len(passed) > len(strings.Join(lines, " ")) {
		return passed
	}
	return ""
}

// resultText is what a tool answered: its facts, or the beginning of its words without numbered lines.
func resultText(it item, facts []digest.Fact, most int) string {
	var lines []string
	for _, f := range facts {
		switch f.Kind {
		case digest.Failure, digest.Decision, digest.Branch, digest.Output:
			lines = append(lines, f.Text)
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	if most == 0 {
		return ""
	}
	return cutLine(digest.Plain(withNotes(it)), most)
}

// cutLine cuts a text to most bytes and makes it one line.
func cutLine(s string, most int) string {
	s = oneLine(s)
	if len(s) <= most {
		return s
	}
	return s[:runeStart(s, most)] + " …"
}

// workDigest returns the best lines of what messages did, as far as they fit beside kept.
func (f fitter) workDigest(messages, kept []said, left room) []summarize.Sentence {
	in := map[format.ID]bool{}
	for _, m := range messages {
		in[m.ID] = true
	}
	var facts []digest.Fact
	for _, fact := range f.work.Tail {
		if in[fact.Entry] {
			facts = append(facts, fact)
		}
	}
	lines := brief.Choose(facts, brief.Options{Room: int(left) - cost(digestLead), Cost: func(l brief.Line) int { return cost(l.Text) + 1 }})
	slices.SortStableFunc(lines, func(a, b brief.Line) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Pos, b.Pos))
	})
	var list []summarize.Sentence
	for _, l := range lines {
		list = append(list, summarize.Sentence{Entry: l.Entry, Seq: l.Seq, Pos: l.Pos, Text: oneLine(l.Text)})
	}
	fits := func() bool {
		return f.fits(append([]said{digestOf(list)}, kept...), len(messages), len(messages))
	}
	for len(list) > 0 && !fits() {
		list = list[1+len(list)/8:]
	}
	return list
}

// othersPart is the part of the budget, as a divisor, that lines about other sessions may take.
const othersPart = 5

// OthersRoom is what lines about other sessions may cost under a budget, in quarters of a token.
func OthersRoom(budget int) int { return BriefRoom(budget) / othersPart }

// othersLeft is the part of what the prefix leaves, as a divisor, that they may take: the newest
// messages come first.
const othersLeft = 3

// othersLead stands over lines about other sessions.
const othersLead = "[from other sessions of this project]\n"

// others returns what is said of other sessions, for no more than most.
func (w *Work) others(p printer, most room) []said {
	if w == nil || len(w.Others) == 0 || !p.digests() {
		return nil
	}
	text := ""
	for _, l := range w.Others {
		next := text + "[" + l.Entry.Short(briefID) + "] " + oneLine(l.Text) + "\n"
		if !most.holds(cost(othersLead + next)) {
			continue
		}
		text = next
	}
	if text == "" {
		return nil
	}
	return []said{{Message: Message{Role: "user"}, digest: true, items: []item{textOf(othersLead + strings.TrimSuffix(text, "\n"))}}}
}

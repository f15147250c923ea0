package brief

import (
	"slices"
	"strings"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/pasted"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// turn is a prompt and what came of it. Its lines enter a brief together: a prompt without its
// answer, and an answer without its prompt, are understood by nobody.
type turn struct {
	first       int    // item; the others of the turn follow
	asked, came []int  // items of the prompt, and of the answer or else of the commits
	lines       []Line // one of each, as long as they may be
	covers      []int  // the items whose text the lines have
	terms       []int32
	cost        int
	taken       bool
	acts        bool   // it changed files
	edited      uint64 // the seq of the newest edit of a file
	again       bool   // a later turn, by changes or after a choice, tells the answer again
	settled     bool   // likewise, after a choice
	refuted     bool   // a later turn says that what was found is not so, or is gone
	objection   string // how a later turn says that the answer is not so, "" if none does
	more        int    // lines that were taken beside them
}

// The costs of the texts of a turn's lines: in a brief each turn that is not there is missed, and
// in a rendering, which has more room, the end of a prompt.
const (
	maxAsked = 140
	maxCame  = 160

	maxAskedInOrder = 240

	newestCame = 700 // more of the answer before the newest, and half of it of the one before
)

// forgotten is the text of a prompt whose words are gone. It has a line only before what came of
// it, which is not to count for the prompt before.
const forgotten = "[forgotten]"

// setTurns sets the turns of a brief, and to which one each item belongs. What comes before the
// first prompt is a turn without one.
func (c *chooser) setTurns() {
	c.turnOf = make([]int, len(c.items))
	asked := uint64(0)
	for i := range c.items {
		f := c.items[i].fact
		isHead := isAsked(f) && !digest.IsForClient(f.Text)
		if len(c.turns) == 0 || isHead && f.Seq != asked {
			c.turns = append(c.turns, turn{first: i})
		}
		c.turnOf[i] = len(c.turns) - 1
		t := &c.turns[c.turnOf[i]]
		if f.Key == digest.Plan { // what the turn is about, though nobody typed it
			c.plan, t.asked = f.Seq, append(t.asked, i)
		}
		t.acts = t.acts || f.Kind == digest.Edit || f.Kind == digest.Commit
		if f.Kind == digest.Edit {
			t.edited = f.Seq
		}
		if isHead {
			asked, c.plan = f.Seq, 0
			t.asked = append(t.asked, i)
		} else if c.concludes(t, f) {
			if len(t.came) > 0 && c.items[t.came[0]].fact.Seq != f.Seq {
				if isWord(f) && isWord(c.items[t.came[0]].fact) && c.isThin(i) {
					continue // "Done." says nothing beside what came before it
				}
				t.came = nil
			}
			t.came = append(t.came, i)
		}
	}
	for i := range c.items {
		switch l := &c.items[i].line; l.Section {
		case Story, Decided, Recap, Tool: // all others are about the whole
			l.Turn = len(c.turns) - 1 - c.turnOf[i]
		}
	}
	c.setPicked()
	c.setOver()
	c.setLists()
	c.setRefuted()
	for t := range c.turns {
		c.setLines(&c.turns[t], c.asked, c.cameOf(t))
	}
}

// cameOf returns the cost of the text of a turn's answer: in a rendering the newest turns say most.
// An answer that later words doubt is told in short.
func (c *chooser) cameOf(t int) int {
	age := len(c.turns) - 1 - t
	if c.asked == maxAsked && !c.short && age >= oldTurn || c.turns[t].objection != "" {
		return maxCame / 2
	}
	if c.asked == maxAsked || age == 0 || c.turns[t].refuted {
		return maxCame
	}
	return maxCame + newestCame/age
}

// setRefuted marks the turns of which only the prompt and the answer are worth a line: the next
// prompt doubts the answer, a later one asks the same again, or a later sentence says that what it
// is about was removed. Each line of an answer that was objected to says so.
func (c *chooser) setRefuted() {
	of := make([][]int32, len(c.turns))    // the terms of the answers
	asked := make([][]int32, len(c.turns)) // and of the prompts
	for t := range c.turns {
		of[t], asked[t] = c.termsOf(c.turns[t].came), c.termsOf(c.turns[t].asked)
		if t+1 < len(c.turns) {
			c.object(&c.turns[t], &c.turns[t+1])
		}
	}
	for t := range c.turns {
		chosen := slices.ContainsFunc(c.turns[t].came, c.isQuestion)
		for u := t + 1; u < len(c.turns); u++ {
			if n := len(of[t]); u < t+oldTurn && n >= minAgain && shared(of[t], of[u]) >= n/5 &&
				(c.turns[u].acts || chosen && u == t+1) {
				c.turns[t].again = true
				c.turns[t].settled = c.turns[t].settled || chosen && u == t+1
			}
			if n := len(asked[u]); n > 1 && shared(asked[u], asked[t]) == n &&
				c.turns[t].objection == "" { // it has no other terms
				c.turns[t].refuted, c.turns[t].objection = true,
					"asked again in "+c.items[c.turns[u].asked[0]].fact.Entry.Short(shortID)
			}
		}
	}
	for i := range c.items {
		it := &c.items[i]
		if t := c.turnAt(i); t.objection != "" && it.fact.Kind == digest.Answer {
			it.line.Mark = "(" + t.objection + ") "
			it.line.Text = it.line.Mark + it.line.Text
		}
		if it.fact.Kind != digest.Answer || !prose.Removes(it.fact.Text) {
			continue
		}
		for t := range c.turnOf[i] {
			c.turns[t].refuted = c.turns[t].refuted || shared(c.items[i].terms, of[t]) >= minGone
		}
	}
}

// object marks a turn with the objection of the next one to its answer: the prompt doubts it, or
// the first words of the model concede that it is not so.
func (c *chooser) object(t, next *turn) {
	if len(next.asked) == 0 {
		return
	}
	first := uint64(0)
	for i := next.first; i < len(c.items) && c.turnAt(i) == next; i++ {
		f := c.items[i].fact
		if isWord(f) && first == 0 {
			first = f.Seq
		}
		switch {
		case isAsked(f) && prose.Doubts(f.Text):
			t.refuted, t.objection = true, "doubted in "+f.Entry.Short(shortID)
		case isWord(f) && f.Seq == first && prose.Concedes(f.Text):
			t.objection = "overturned in " + f.Entry.Short(shortID)
		}
	}
}

const (
	// minGone is the number of terms that a sentence of a removal shares with the answer whose
	// subject is gone, and minAgain that of an answer which a later one may tell again.
	minGone  = 3
	minAgain = 8

	// oldTurn is the number of turns after which an answer is told in half, and is not told again.
	oldTurn = 4
)

// isAnswered reports whether a turn ended with an answer that tells something.
func (c *chooser) isAnswered(t *turn) bool {
	return len(t.came) > 0 && c.items[t.came[0]].fact.Kind == digest.Answer && !c.isThin(t.came[0])
}

// isWord reports whether a fact has words of the model.
func isWord(f *digest.Fact) bool { return f.Kind == digest.Answer || f.Kind == digest.Said }

// concludes reports whether a fact says what came of a turn: the answer, or else the newest commit.
func (c *chooser) concludes(t *turn, f *digest.Fact) bool {
	if f.Kind == digest.Commit && f.State == digest.Passed {
		return len(t.came) == 0 || c.items[t.came[0]].fact.Kind == digest.Commit
	}
	return f.Kind == digest.Answer && !f.Slight
}

// isAsked reports whether a fact has words of a prompt. What a user says to a call that is refused
// belongs to the turn of the call.
func isAsked(f *digest.Fact) bool { return f.Kind == digest.Prompt && f.Key != digest.Refused }

// setLines sets the lines of a turn, with texts of at most so much.
func (c *chooser) setLines(t *turn, asked, came int) {
	t.lines, t.covers, t.cost = nil, nil, 0
	c.addLine(t, Wanted, t.asked, asked)
	tells := func(i int) bool { return !prose.Acknowledges(c.items[i].fact.Text) }
	if slices.ContainsFunc(t.came, tells) || slices.ContainsFunc(t.asked, c.isQuestion) {
		c.addLine(t, Concluded, t.came, came)
	} else {
		t.covers = append(t.covers, t.came...) // "Understood."
	}
	if len(t.lines) == 1 && t.lines[0].Section == Wanted && c.isThin(t.covers[0]) &&
		(t.lines[0].Turn > 0 && !c.goesOn(c.turnOf[t.covers[0]]) ||
			c.items[t.covers[0]].fact.Text == forgotten) &&
		!slices.ContainsFunc(t.covers, func(i int) bool { return !c.isThin(i) }) {
		t.lines = nil // "Commit.": what came of it stands elsewhere
	}
	for _, l := range t.lines {
		t.cost += c.cost(l)
	}
	t.terms = c.termsOf(t.covers)
}

// termsOf returns the terms of items, sorted.
func (c *chooser) termsOf(items []int) (terms []int32) {
	for _, i := range items {
		terms = append(terms, c.items[i].terms...)
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// addLine adds a line with the first sentences of items that tell something, and with the last one
// if it asks something, or ends the newest answer: there stands what is next.
func (c *chooser) addLine(t *turn, section Section, items []int, most int) {
	isOver := func(i int) bool { return c.items[i].over }
	isAsking := func(i int) bool {
		return prose.HoldsUntil(c.items[i].fact.Text) == prose.Answered
	}
	if left := slices.DeleteFunc(slices.Clone(items), isOver); len(left) > 0 {
		items = left
	} else if left = slices.DeleteFunc(slices.Clone(items), isAsking); section == Concluded {
		items = left[:min(len(left), 1)] // what it was about, and no question that has its answer
		if len(items) > 0 && (prose.HoldsUntil(c.items[items[0]].fact.Text) == prose.Settled ||
			!slices.ContainsFunc(t.asked, c.isQuestion) &&
				prose.IsLack(c.items[items[0]].fact.Text)) {
			items = nil
		}
	}
	list := items
	switch section {
	case Concluded:
		list = c.fromConclusion(items)
	case Wanted: // the aim comes before what was pasted
		isPasted := func(i int) bool { return pasted.IsMark(c.items[i].fact.Text) }
		isTyped := func(i int) bool { return !isPasted(i) }
		list = slices.Concat(slices.DeleteFunc(slices.Clone(items), isPasted),
			slices.DeleteFunc(slices.Clone(items), isTyped))
	}
	if len(list) == 0 || c.shown[c.items[list[0]].fact.Entry] {
		return
	}
	isNew := func(i int) bool { return !c.items[i].heeded }
	if section == Wanted && !slices.ContainsFunc(list, isNew) {
		most = leastCut // the words stand above, as what to heed
	}
	last := list[len(list)-1]
	question := ""
	newest := section == Concluded && c.turnOf[last] == len(c.turns)-1
	if len(list) > 1 && (newest || c.isQuestion(last)) {
		question = c.items[last].fact.Text
	}
	l := c.items[list[0]].line
	l.Turn = len(c.turns) - 1 - c.turnOf[list[0]]
	if l.Section = section; c.items[list[0]].fact.Kind == digest.Commit ||
		section == Concluded && l.Turn > 0 && c.overtaken() {
		l.Section = Story
	}
	l.Text = ""
	if section == Wanted && isAsked(c.items[list[0]].fact) { // not the title of a plan
		l.Text = "> "
	} else if t.objection != "" {
		l.Text = "(" + t.objection + ") "
	}
	most += len(l.Text)
	before := 0 // the number of the item of a list before
	for n, i := range list {
		text := c.items[i].fact.Text
		if at := c.items[i].line; at.of > 0 && at.number > before+1 {
			text = at.numbered(text)
		}
		before = max(before, c.items[i].line.number)
		if head := c.items[i].line.Heading; section == Concluded &&
			!strings.Contains(l.Text, strings.TrimRight(head, ": ")) {
			text = head + text
		}
		if n > 0 && (strings.Contains(text, " | ") || c.items[i].heeded ||
			section == Concluded && digest.Leads(c.items[i].fact)) {
			continue // a row of a table, or a rule that stands above
		}
		if n > 0 {
			text = between(l.Text) + text
		}
		if left := most - len(l.Text) - len(question); n > 0 && len(text) > left {
			if section == Concluded && left > leastCut &&
				(strings.HasSuffix(l.Text, ":") || prose.IsThin(l.Text)) {
				l.Text += prose.Cut(text, left-len(gap)) // as much of the list as fits
			}
			break
		}
		l.Text += text
		t.covers = append(t.covers, i)
	}
	covered := t.covers[len(t.covers)-1]
	if question != "" && covered != last && len(question) < most/2 {
		question = gap + c.root.Shorten(question)
		t.covers = append(t.covers, last)
	} else {
		question = ""
	}
	if section == Concluded {
		most += c.addPicked(t, items, &l)
	}
	if section == Concluded && strings.HasSuffix(l.Text, ":") && question == "" {
		if prose.IsBare(strings.TrimSuffix(l.Text, ":")) {
			return // it leads to a list, and says nothing without it
		}
		l.Text += " …"
	}
	l.Text = c.root.Shorten(l.Text)
	if section == Concluded && l.Turn == 0 {
		most -= len(question) // word for word: it waits for an answer
	} else {
		if question != "" {
			l.Text = strings.TrimSuffix(l.Text, " …")
		}
		l.Text, question = l.Text+question, ""
	}
	if len(l.Text) > most {
		cut := withoutAside
		if section == Concluded {
			cut = prose.Cut
		}
		l.Text = cut(l.Text, most)
	}
	if question != "" {
		l.Text = strings.TrimSuffix(l.Text, strings.TrimRight(gap, " ")) + question
	}
	if !c.isKnown(l) {
		t.lines = append(t.lines, l)
	}
}

// fromConclusion returns the items of an answer from the sentence on with which it may begin, or
// from the beginning of the list that it is in.
func (c *chooser) fromConclusion(items []int) []int {
	opens := func(i int) bool {
		return digest.Opens(c.items[i].fact) && !prose.LeavesOut(c.items[i].fact.Heading)
	}
	isItem := func(i int) bool { return c.items[i].fact.Key == digest.Item }
	first := max(0, slices.IndexFunc(items, opens))
	for first > 0 && isItem(items[first]) && (isItem(items[first-1]) ||
		strings.HasSuffix(c.items[items[first-1]].fact.Text, ":")) {
		first--
	}
	return items[first:]
}

// between returns what stands between a text and the next line of the same message: a sentence ends
// by itself, a heading or an item of a list does not.
func between(text string) string {
	if text != "" && strings.ContainsAny(text[len(text)-1:], ".!?:;,") {
		return " "
	}
	return dot
}

// dot stands between lines that do not end like sentences.
const dot = "; "

// gap stands for the sentences between the first ones of a line and its question.
const gap = " … "

// isQuestion reports whether an item ends with a question mark.
func (c *chooser) isQuestion(i int) bool { return strings.HasSuffix(c.items[i].fact.Text, "?") }

// overtaken reports whether the newest turn ended with a commit and no answer: then no answer of
// before says where the work stands.
func (c *chooser) overtaken() bool {
	came := c.turns[len(c.turns)-1].came
	return len(came) > 0 && c.items[came[0]].fact.Kind == digest.Commit
}

// isThin reports whether an item is understood only with what stands before it, or says nothing.
func (c *chooser) isThin(i int) bool {
	return prose.IsThin(c.items[i].fact.Text) || c.items[i].fact.Text == forgotten
}

// takeTurn takes the lines of a turn. It returns none if the turn is already taken or does not fit.
func (c *chooser) takeTurn(t *turn) []Line {
	if t.taken || t.cost > c.left {
		return nil
	}
	t.taken = true
	c.left -= t.cost
	for _, i := range t.covers {
		c.items[i].taken = true
	}
	c.say(t.terms)
	return t.lines
}

// now takes the newest turns: the newest prompt, what it follows if it says little by itself, and
// the newest answer.
func (c *chooser) now(purse int) []Line {
	var out []Line
	told, answered := false, false
	for n := len(c.turns) - 1; n >= 0 && n >= len(c.turns)-maxRequests; n-- {
		if told && answered && !c.goesOn(n) {
			break
		}
		t := &c.turns[n]
		asked, came := purse/3, purse/2
		if told {
			asked = min(asked, c.asked)
		}
		if answered || t.objection != "" {
			came = min(came, maxCame)
		}
		c.setLines(t, max(asked, c.asked), max(came, c.cameOf(n)))
		lines := c.takeTurn(t)
		if lines == nil {
			c.setLines(t, leastCut, leastCut)
			lines = c.takeTurn(t)
		}
		out = append(out, lines...)
		tells := func(i int) bool { return !c.isThin(i) }
		answered = answered || slices.ContainsFunc(t.came, tells)
		told = told || slices.ContainsFunc(t.asked, tells)
	}
	return out
}

// goesOn reports whether the newest prompt goes on with a turn: nothing came of it before, as the
// user refused a call, or stopped the model.
func (c *chooser) goesOn(t int) bool {
	return t == len(c.turns)-2 && len(c.turns[t].came) == 0
}

// isSame reports whether two sentences are about the same: one has more than half of the telling
// terms of the other, and at least two.
func isSame(a, b []int32) bool {
	n := shared(a, b)
	return n >= 2 && 2*n > min(len(a), len(b))
}

// shared counts the terms of one list that another has, too.
func shared(a, b []int32) (n int) {
	for _, t := range a {
		if _, ok := slices.BinarySearch(b, t); ok {
			n++
		}
	}
	return n
}

package brief

import (
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// overhead is added to the cost of a line before its value is divided by the cost. Without it, two
// words that happen to be rare would beat every sentence. If costs are quarters of a token, 30 are
// about seven tokens. A larger overhead makes lines longer and fewer.
const overhead = 30

// again is the share of its value that a term keeps after a chosen line has it. With 0, lines are
// chosen for odd words; with a quarter, half of the room repeats one thing.
const again = 0.15

// chooser takes the lines that add most value for their cost.
type chooser struct {
	items []item
	root  Root
	worth []float64 // by number of a term
	seen  []bool    // by number of a term: a chosen line has it
	terms *vocabulary
	least int // smallest number of telling terms of a line
	short bool
	rules bool               // alone
	keep  bool               // what a summary must not lose, alone
	knows *known             // what the reader knows; nil for nothing
	typed bool               // what a person typed, alone, with what came of it
	shown map[format.ID]bool // messages that are printed beside the lines
	asked int                // the largest cost of the text of a prompt
	left  int
	trail []int // items of what was done last, the newest first
	spare int   // room for it
	// grouped says that one line has all changed files
	grouped bool
	plan    uint64 // the seq of the plan that is carried out, 0 once somebody asked for anything
	cost    func(Line) int
	fill    bool            // the lines that tell something alone are taken
	ample   bool            // likewise what a later turn tells again, and what was doubted
	queue   lists.Heap[bid] // the densest item comes first; at equal density, the newest one
	turns   []turn
	// turnOf is the turn of each item, -1 for none; nil if the unit is the line.
	turnOf   []int
	answered uint64 // the seq of the newest answer
	carried  uint64 // the seq of the newest edit before an answer
	restored uint64 // the seq at which files were put back last
	// planned is the seq of the list that the model wrote last, in a turn that goes on; 0 for none.
	planned uint64
	// sentences is the number of sentences of each prompt, by seq.
	sentences map[uint64]int
}

// minShared is the smallest number of terms that a line shares with About: a single one may be
// chance.
const minShared = 2

func newChooser(items []item, root Root, o Options) *chooser {
	v := weigh(items, o.About)
	c := &chooser{
		items: items, root: root, terms: v, worth: v.worth, seen: make([]bool, len(v.worth)),
		left: o.Room, cost: o.Cost, short: o.Short, rules: o.Rules, keep: o.Keep,
		asked: maxAsked, shown: o.Printed,
		sentences: map[uint64]int{}, queue: lists.Heap[bid]{Before: bid.before},
	}
	edited, listed := uint64(0), uint64(0)
	for i := range items {
		switch f := items[i].fact; f.Kind {
		case digest.Edit:
			edited = f.Seq
		case digest.Prompt:
			c.sentences[f.Seq]++
			c.planned = 0
		case digest.Answer:
			c.answered, c.carried, c.planned = f.Seq, edited, 0
		case digest.Said:
			if f.Key == digest.Item {
				if listed == f.Seq { // two items are a list
					c.planned = f.Seq
				}
				listed = f.Seq
			}
		}
	}
	if o.InOrder && !o.Short {
		c.asked = maxAskedInOrder
	}
	if o.About != nil {
		c.least = minShared
	}
	if o.About == nil {
		c.setTurns()
	}
	for _, text := range o.Said {
		c.say(v.known(text))
	}
	return c
}

// say marks terms as said.
func (c *chooser) say(terms []int32) {
	for _, t := range terms {
		c.seen[t] = true
	}
}

// take takes item i and subtracts its cost. It returns false if the item is already taken or does
// not fit.
func (c *chooser) take(i int) (Line, bool) {
	it := &c.items[i]
	n := c.cost(it.line)
	if it.taken || n > c.left {
		return Line{}, false
	}
	it.taken = true
	c.left -= n
	if t := c.turnAt(i); t != nil {
		t.more++
	}
	c.say(it.terms)
	return it.line, true
}

// best takes what tells something to a reader who sees few lines, and, where a short session leaves
// room, what tells something beside the others.
func (c *chooser) best() []Line {
	least := c.least
	out := append(c.densest(), c.steps()...)
	if c.turnOf != nil && !c.keep {
		c.fill, c.least, c.queue.List = true, leastBeside, nil
		out = append(out, c.densest()...)
		c.ample, c.queue.List = true, nil
		out = append(out, c.densest()...)
		c.fill, c.ample, c.least = false, false, least
	}
	return out
}

// leastBeside is the smallest number of telling terms of a line that stands beside others.
const leastBeside = 3

// densest takes items by value per cost until nothing fits. The value of an item only falls when
// others are taken, so the queue is corrected only at its top.
func (c *chooser) densest() []Line {
	var out []Line
	for i := range c.items {
		if c.mayFit(i) && c.enters(i) {
			c.queue.List = append(c.queue.List, bid{c.density(i), i})
		}
	}
	for t := range c.turns {
		if !c.keep {
			c.queue.List = append(c.queue.List, bid{c.turnDensity(&c.turns[t]), -1 - t})
		}
	}
	c.queue.Init()
	for len(c.queue.List) > 0 {
		top := c.queue.List[0]
		if !c.mayFit(top.index) {
			c.queue.Take()
			continue
		}
		if now := c.bidOf(top.index); now != top.density {
			c.queue.List[0].density = now
			c.queue.Settle()
			continue
		}
		c.queue.Take()
		if top.density <= 0 {
			break
		}
		if t := c.turnAt(top.index); t != nil && !t.taken && len(t.lines) > 0 && !c.keep {
			lines := c.takeTurn(t)
			if lines == nil {
				c.setLines(t, c.asked/2, maxCame/2)
				lines = c.takeTurn(t)
			}
			if lines == nil {
				continue
			}
			out = append(out, lines...)
			for i := t.first; i < len(c.items) && c.turnAt(i) == t; i++ { // the rest costs less now
				if c.enters(i) {
					c.queue.Add(bid{c.density(i), i})
				}
			}
		}
		if top.index < 0 {
			continue
		}
		out = append(out, c.takeWithLead(top.index)...)
	}
	return out
}

// mayFit reports whether there may be room for what a bid is for, now or later in a pass.
func (c *chooser) mayFit(index int) bool {
	if t := c.turnAt(index); t != nil && !t.taken && len(t.lines) > 0 && !c.keep {
		return t.cost <= 2*c.left // the lines can be cut
	}
	return index < 0 || c.costOf(index) <= c.left
}

// enters reports whether an item may be chosen by its value.
func (c *chooser) enters(i int) bool {
	if c.keep && !mustKeep(c.items[i].line.Section) ||
		c.typed && c.items[i].fact.Kind != digest.Prompt {
		return false
	}
	least := c.least
	if c.completes(&c.items[i]) {
		least = 1
	}
	return !c.items[i].taken && !c.idle(i) && c.telling(i) >= least
}

// turnAt returns the turn of a bid, or nil.
func (c *chooser) turnAt(index int) *turn {
	t := -1 - index
	if index >= 0 {
		if c.turnOf == nil {
			return nil
		}
		t = c.turnOf[index]
	}
	if t < 0 {
		return nil
	}
	return &c.turns[t]
}

// bidOf returns the value for its cost of what a bid is for.
func (c *chooser) bidOf(index int) float64 {
	if index < 0 {
		return c.turnDensity(&c.turns[-1-index])
	}
	return c.density(index)
}

// turnDensity returns the value that the lines of a turn add for each unit of their cost.
func (c *chooser) turnDensity(t *turn) float64 {
	if t.taken || len(t.came) == 0 && (len(t.asked) == 0 || c.isThin(t.asked[0])) {
		return 0
	}
	return float64(c.worthOf(t.terms)*turnFactor) / float64(t.cost+overhead)
}

// turnFactor is the factor of the lines of a turn, as factorOf.
const turnFactor = 2.2

// moreFactor is by how much of its value a line of an older turn is worth less for each line of the
// turn that was taken: one long turn would be all that a brief says.
const moreFactor = 0.1

// idle reports whether an item is no line of a story: it tells nothing by itself, or its message is
// printed beside the lines.
func (c *chooser) idle(i int) bool {
	it := &c.items[i]
	f := it.fact
	if f.Slight || it.over || c.shown[f.Entry] ||
		isWord(f) && f.Key == digest.Title && !c.tellsBeside(f) {
		return true
	}
	if t := c.turnAt(i); t != nil && (t.refuted && isWord(f) && !(c.ample && it.line.Mark != "") ||
		t.again && f.Kind == digest.Answer && (t.settled || !c.ample) ||
		f.Kind == digest.Said && f.Seq < t.edited && c.isAnswered(t)) { // it says what came of that
		return true
	}
	return c.turnOf != nil && !c.tellsAlone(i) && !c.tellsBeside(f) && !c.completes(it)
}

// completes reports whether an item is one of a numbered list, or of what an older summary says,
// and there is room for all of it.
func (c *chooser) completes(it *item) bool {
	return c.ample && (it.line.of > 0 || it.fact.Kind == digest.Recap)
}

// tellsBeside reports whether there is room for a fact that tells something to a reader who knows
// the work: what a prompt, an answer or an older summary lists, what was written into files, and
// what the plan names that is carried out. Other lines of code alone do not.
func (c *chooser) tellsBeside(f *digest.Fact) bool {
	switch f.Kind {
	case digest.Prompt, digest.Answer, digest.Report, digest.Returned, digest.Written, digest.Recap:
		return c.fill && f.Key != digest.Title
	case digest.Said, digest.Code:
		return c.fill && f.Seq == c.plan && (f.Kind == digest.Code || prose.HasName(f.Text))
	}
	return false
}

// isBare is prose.IsBare for the line of an item, which is asked for again and again.
func (c *chooser) isBare(i int) bool {
	it := &c.items[i]
	if !it.judged {
		it.judged, it.bare = true, prose.IsBare(it.fact.Text)
	}
	return it.bare
}

// tellsAlone reports whether the line of an item tells something to a reader who sees few others.
func (c *chooser) tellsAlone(i int) bool {
	switch f := c.items[i].fact; f.Kind {
	case digest.Commit:
		return !f.Undone()
	case digest.Decision: // a refusal tells nothing without the user's reason, which is a prompt
		return !strings.HasPrefix(f.Text, digest.Refused)
	case digest.Question:
		return true
	case digest.Said, digest.Report: // what the work did with a step of a plan says more
		return !c.isBare(i) && !prose.IsStep(f.Text)
	case digest.Prompt, digest.Answer, digest.Returned:
		return !c.isBare(i)
	}
	return false
}

// telling returns the number of terms of an item that have a value.
func (c *chooser) telling(i int) int {
	n := 0
	for _, t := range c.items[i].terms {
		if c.worth[t] > 0 {
			n++
		}
	}
	return n
}

// costOf returns the cost of the line of an item.
func (c *chooser) costOf(i int) int {
	it := &c.items[i]
	if it.cost == 0 {
		it.cost = c.cost(it.line)
	}
	return it.cost
}

// density returns the value that an item adds for each unit of its cost.
func (c *chooser) density(i int) float64 {
	it := &c.items[i]
	worth, n := c.worthOf(it.terms), c.costOf(i)+overhead
	if c.turnOf == nil {
		return float64(worth*factorOf(it.fact)) / float64(n)
	}
	worth *= c.turnFactorOf(it.fact)
	if t := c.turnAt(i); t != nil {
		if it.line.Turn > 0 {
			worth /= 1 + moreFactor*float64(t.more)
		}
		if !t.taken {
			worth += float64(c.worthOf(t.terms) * turnFactor)
			n += t.cost
		}
	}
	return worth / float64(n)
}

// worthOf returns what terms add to those that were said.
func (c *chooser) worthOf(terms []int32) float64 {
	worth := 0.0
	for _, t := range terms {
		if c.seen[t] {
			worth += float64(c.worth[t] * again)
		} else {
			worth += c.worth[t]
		}
	}
	return worth
}

// factorOf returns the factor of a kind of fact. The words of the user count most, records of tools
// less than words. The factors were measured on agent sessions with half of each held back: the
// figures of docs/compaction.md move by less than a point when one factor changes by a fifth.
func factorOf(f *digest.Fact) float64 {
	switch f.Kind {
	case digest.Prompt, digest.Decision, digest.Question:
		return 2.4
	case digest.Answer:
		return 1.1
	case digest.Written:
		return 0.9
	case digest.Report, digest.Task, digest.Returned, digest.Failure, digest.Code:
		return 0.8
	case digest.Search, digest.Read:
		return 0.7
	case digest.Output:
		return 0.3
	}
	return 1
}

// turnFactorOf is factorOf in a brief of turns: what was said and committed counts more. Of a long
// prompt, which a user pastes, a sentence beside its aim says less than any other line.
func (c *chooser) turnFactorOf(f *digest.Fact) float64 {
	switch f.Kind {
	case digest.Prompt:
		if c.sentences[f.Seq] > typedPrompt {
			return 0.6
		}
		if c.knows != nil {
			return 3 // a summary has the model's words, and not the person's
		}
		return 1.5
	case digest.Commit:
		return 1.5
	case digest.Said:
		return 1.2
	}
	return factorOf(f)
}

// typedPrompt is the largest number of sentences of a prompt that a user types.
const typedPrompt = 5

type bid struct {
	density float64
	index   int
}

func (b bid) before(other bid) bool {
	return b.density > other.density || b.density == other.density && b.index > other.index
}

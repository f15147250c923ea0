package view

import (
	"slices"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/brief"
	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// A stable rendering is made of what was said up to a leave, in one half of the budget. What was
// said since then grows behind it, in the other half, and no byte before changes. When the second
// half is full, the next leave comes: the only step at which a prompt cache misses. Where leaves
// are depends on the messages alone, so that nothing has to be kept.

// Growth is what was said since a leave.
type Growth struct {
	Messages []Message     // oldest first
	Facts    []digest.Fact // of these, and perhaps of others
}

// growthRoom returns the room for what grows behind a leave.
func growthRoom(budget int) room { return budgetRoom(budget / 2) }

// growthPart is the divisor of the budget for the bytes of a result that grows, or of what a call
// has passed on.
const growthPart = 4

// pending follows calls and their results.
type pending struct {
	waits    map[string]bool // the newest calls, without results yet
	first    int             // index of the oldest of them
	answered bool            // one of the newest calls has its result
}

// read takes in message i.
func (p *pending) read(i int, m *Message) {
	if len(m.Calls) > 0 && p.answered || m.Role == "user" && len(m.Results) == 0 {
		clear(p.waits) // results of earlier calls come late, or never
	}
	if len(m.Calls) > 0 && len(p.waits) == 0 {
		p.first = i
	}
	for _, call := range m.Calls {
		p.waits[call.ID], p.answered = true, false
	}
	for _, id := range m.Results {
		delete(p.waits, id)
		p.answered = true
	}
}

// Answered returns how many of the messages stand still: those before the newest calls, if not all
// of these have their results yet. What is said of a call changes with its result.
func Answered(messages []Message) int {
	p := pending{waits: map[string]bool{}}
	for i := range messages {
		p.read(i, &messages[i])
	}
	if len(p.waits) == 0 || p.first == 0 {
		return len(messages)
	}
	return p.first
}

// Leave returns the index in messages at which the newest leave is: the rendering is made up to it.
// They are all that the rendering is made of, facts are of them, and may says where a leave can be;
// the first and the last one count as such. Without any message it returns -1.
func Leave(messages []Message, facts []digest.Fact, o Options, may func(format.ID) bool) int {
	p := newPrinter(Input{}, o)
	g := Growth{messages, facts}
	all := g.described(p, readAll(messages), brief.Root{}, o.Budget)
	fits := growthSizes(p, all, growthRoom(o.Budget))
	at, calls := min(0, len(messages)-1), pending{waits: map[string]bool{}}
	for i := range all {
		calls.read(i, &messages[i])
		ends := i+1 == len(all) || may(all[i].ID) && len(calls.waits) == 0
		if ends && !fits(at+1, i+1) {
			at = i
		}
	}
	return at
}

// growthSizes returns what reports whether messages from one index to before another fit into a
// room. Where calls are described, a message costs the same in any company.
func growthSizes(p printer, all []messageItems, most room) func(from, to int) bool {
	bare := cost(p.suffix(suffix{}))
	size := func(list []messageItems) int { return cost(p.suffix(suffix{tail: list})) - bare }
	if !p.describesCalls() {
		return func(from, to int) bool { return most.holds(size(all[from:to])) }
	}
	sums := make([]int, len(all)+1)
	for i := range all {
		if sums[i+1] = sums[i]; len(all[i].items) > 0 {
			sums[i+1] += size(all[i:i+1]) + 1 // and a line between
		}
	}
	return func(from, to int) bool { return most.holds(sums[to] - sums[from]) }
}

// described returns messages as they are printed behind a leave: calls and results are described
// where the format can, in a size that the budget gives. One that says nothing has no items.
func (g *Growth) described(
	p printer, list []messageItems, root brief.Root, budget int,
) []messageItems {
	if !p.describesCalls() {
		return list
	}
	facts := map[format.ID][]digest.Fact{}
	for _, f := range g.Facts {
		facts[f.Entry] = append(facts[f.Entry], f)
	}
	return lists.Map(list, func(m messageItems) messageItems {
		return m.describeCalls(facts[m.ID], root, budget/growthPart, budget/growthPart, nil)
	})
}

// grown returns what is printed behind the rest of a stable rendering.
func (in *Input) grown(p printer, list []messageItems, budget int) []messageItems {
	root := brief.Root{}
	if in.Work != nil {
		root = in.Work.Root.Of(in.Work.Whole)
	}
	return slices.DeleteFunc(in.Growth.described(p, list, root, budget),
		func(m messageItems) bool { return len(m.items) == 0 })
}

package claudecode

import (
	"slices"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
)

// position is where an entry stands in the tree of a conversation. Indexes are those of plan.list.
type position struct {
	thread *thread
	pred   int32 // the entry that it is said after
	depth  int32
	jump   int32 // an entry further up, for isAbove
	path   int32 // the line of first children that it is on
	active int32 // the nearest entry that is not passive: itself, or one before it
	run    int32 // of an active entry: the first block of the answer that it is a block of
	named  int32 // the nearest entry before it that has a uuid
	cut    int32 // the nearest compaction: itself, or one before it
	group  int32 // the orphan that its parents lead to, unless that is the first entry; else none
	parent int32 // the entry that it follows by its record: an index, root or orphan

	number int32 // in the order of the thread
	// The first entry that is said after it, its next sibling, its last child
	child, next, last int32
}

// put gives an entry its position. up is the entry that it follows.
func (p *plan) put(i, up int32) {
	e := &p.list[i]
	th := p.threadOf(i, up)
	e.thread, e.parent = th, up
	if up == orphan && e.chained {
		p.orphans++
	}
	at := th.tip
	same := up >= 0 && p.list[up].thread == th
	stays := false // the transcript goes on elsewhere
	switch {
	case th.tip == none:
	case same:
		end := th.tip
		if !p.isAbove(up, end) {
			end = p.ends[p.list[up].path]
			stays = !e.chained
		}
		if at = end; e.chained && !p.joins(e, up, end) {
			at = up
		}
	case up == root && e.chained && e.opens && p.mayRestart(&p.list[th.tip]) &&
		e.of == p.list[th.tip].of:
		at = none
	}
	switch {
	case up == orphan && th.tip != none:
		e.group = i
	case same:
		e.group = p.list[up].group
	case at != none:
		e.group = p.list[at].group
	}
	p.attach(i, at)
	if !stays {
		th.tip = i
	}
	for _, call := range e.calls {
		p.calls[call] = true
	}
	for _, call := range e.results {
		p.answers[call] = i
	}
}

// mayRestart reports whether a prompt after a tip that begins the conversation anew leaves what was
// said. Notes and results at the end follow what was said, but a compaction has its own beginning.
func (p *plan) mayRestart(tip *entry) bool {
	return tip.active != none && (!tip.passive || tip.cut == none)
}

// threadOf returns the conversation that an entry belongs to: that of the subagent which it names,
// or else that of the entry which it follows, or else a new one.
func (p *plan) threadOf(i, up int32) *thread {
	e := &p.list[i]
	name := ""
	switch {
	case !e.sidechain:
	case e.agent != "":
		name = e.agent
	case up >= 0 && p.list[up].thread.name != "":
		name = p.list[up].thread.name
	default:
		name = transcript.Fit(e.id)
	}
	th := p.threads[name]
	if th == nil {
		th = &thread{name: name, tip: none, first: none, last: none}
		p.threads[name] = th
	}
	return th
}

// enlist puts an entry at the end of a list of siblings.
func (p *plan) enlist(first, last *int32, i int32) {
	if *first == none {
		*first = i
	} else {
		p.list[*last].next = i
	}
	*last = i
}

// attach puts an entry after another one.
func (p *plan) attach(i, at int32) {
	e := &p.list[i]
	e.pred = at
	if e.compacts {
		e.cut = i
	}
	th := e.thread
	if at == none {
		e.path = int32(len(p.ends))
		p.ends = append(p.ends, i)
		p.enlist(&th.first, &th.last, i)
	} else {
		up := &p.list[at]
		e.depth, e.jump, e.active, e.named = up.depth+1, p.jumpOf(at), up.active, up.named
		if !up.unnamed {
			e.named = at
		}
		if !e.compacts {
			e.cut = up.cut
		}
		if p.ends[up.path] == at {
			e.path = up.path
			p.ends[e.path] = i
		} else {
			e.path = int32(len(p.ends))
			p.ends = append(p.ends, i)
		}
		p.enlist(&up.child, &up.last, i)
	}
	if e.passive {
		return
	}
	e.run = i
	if up := e.active; up != none && e.answer != "" && p.list[up].answer == e.answer {
		e.run = p.list[up].run
	}
	e.active = i
}

// jumpOf returns the jump of an entry that is said after at. The jumps are those of a skew-binary
// ancestor list: isAbove takes a number of steps that grows with the logarithm of the depth.
func (p *plan) jumpOf(at int32) int32 {
	up := &p.list[at]
	if up.jump == none {
		return at
	}
	j := &p.list[up.jump]
	if j.jump != none && up.depth-j.depth == j.depth-p.list[j.jump].depth {
		return j.jump
	}
	return at
}

// isAbove reports whether entry a is on the line that ends at end.
func (p *plan) isAbove(a, end int32) bool {
	depth := p.list[a].depth
	for end != none && p.list[end].depth > depth {
		if e := &p.list[end]; e.jump != none && p.list[e.jump].depth >= depth {
			end = e.jump
		} else {
			end = e.pred
		}
	}
	return end == a
}

// joins reports whether an entry that follows up may be said at the end of a line, although others
// were said after up: results of calls made at once, blocks of one answer, and what comes after
// nothing but notes and results. So may the first entry after a compaction: a client that compacts
// a second time names a record before its first compaction as the parent of what is said next.
func (p *plan) joins(e *entry, up, end int32) bool {
	if end == up || p.compacted(up, end) {
		return true
	}
	for _, call := range e.results {
		if by, answered := p.answers[call]; p.calls[call] &&
			(!answered || p.list[by].thread != e.thread || !p.isAbove(by, end)) {
			return true
		}
	}
	after := func(a int32) bool { return a != none && p.list[a].depth > p.list[up].depth }
	a := p.activeOf(p.list[end].active, p.list[up].group, after)
	for e.of == p.list[up].of && after(a) && p.list[a].of != e.of {
		a = p.activeBefore(a) // two sessions that take turns in one file
	}
	if after(a) && e.answer != "" && p.list[a].answer == e.answer {
		a = p.activeOf(p.activeBefore(p.list[a].run), p.list[up].group, after)
	}
	return !after(a)
}

// compacted reports whether the line that ends at end was compacted after up, and nothing was said
// since.
func (p *plan) compacted(up, end int32) bool {
	cut, said := p.list[end].cut, p.list[end].active
	return cut != none && p.list[cut].depth > p.list[up].depth &&
		(said == none || p.list[said].depth < p.list[cut].depth)
}

// activeOf returns the nearest active entry of a group, from a on upwards, as long as after holds.
// The entries that follow an orphan may have been written before the record that the orphan
// follows, so entries of other groups pass over them.
func (p *plan) activeOf(a, group int32, after func(int32) bool) int32 {
	for after(a) && p.list[a].group != group && p.list[a].group != none {
		a = p.activeBefore(p.list[a].group)
	}
	return a
}

// activeBefore returns the nearest active entry before an entry.
func (p *plan) activeBefore(i int32) int32 {
	if at := p.list[i].pred; at != none {
		return p.list[at].active
	}
	return none
}

// walk numbers the entries of a thread in the order in which they are said: line after line. The
// line that the transcript is on at its end comes last.
func (p *plan) walk(th *thread) {
	main := map[int32]bool{}
	for at := th.tip; at != none; at = p.list[at].pred {
		main[at], p.list[at].until = true, none
	}
	todo := p.push(nil, th.first, main)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		p.list[at].number = int32(len(th.order))
		th.order = append(th.order, at)
		todo = p.push(todo, p.list[at].child, main)
	}
}

// push puts siblings on a stack, so that they come off in order. The one on the main line comes off
// last.
func (p *plan) push(todo []int32, first int32, main map[int32]bool) []int32 {
	start := len(todo)
	last := none
	for at := first; at != none; at = p.list[at].next {
		if main[at] {
			last = at
			continue
		}
		todo = append(todo, at)
	}
	slices.Reverse(todo[start:])
	if last != none {
		todo = slices.Insert(todo, start, last)
	}
	return todo
}

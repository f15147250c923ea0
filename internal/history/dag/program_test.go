package dag

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// program is a composition of agents: a name that says something, or others in sequence, in
// parallel, or twice over.
type program struct {
	kind  string // "say", "seq", "par", "loop"
	name  string
	parts []*program
	times int
	fails bool // as a child of par: it stops halfway and is not joined
}

// parse reads such as Seq[Par[A,B],Loop2[C]].
func parse(text string) *program {
	p, rest := parseOne(text)
	if rest != "" {
		panic("left over: " + rest)
	}
	return p
}

func parseOne(text string) (*program, string) {
	end := strings.IndexAny(text, "[],")
	if end < 0 {
		end = len(text)
	}
	word, rest := text[:end], text[end:]
	if !strings.HasPrefix(rest, "[") {
		return &program{kind: "say", name: word}, rest
	}
	p := &program{kind: strings.ToLower(word)}
	if strings.HasPrefix(p.kind, "loop") {
		if _, err := fmt.Sscan(p.kind[len("loop"):], &p.times); err != nil {
			panic(err) // a program of ours says how often
		}
		p.kind = "loop"
	}
	for !strings.HasPrefix(rest, "]") {
		var part *program
		part, rest = parseOne(rest[1:])
		p.parts = append(p.parts, part)
	}
	return p, rest[1:]
}

// stage is where a program is run: a session, or what token sets say of it. Branches are numbered
// by who runs the program.
type stage interface {
	say(branch int, name string)
	fork(branch int, children []int)
	join(branch int, children []int)
}

// run runs a program on a branch, a step at a time: what it yields between steps is that others may
// have their turn.
type run struct {
	on     []stage
	next   *int            // the number of the next branch
	choose func(n int) int // which of n children goes on
	turns  map[string]int  // how often a name has spoken
}

func (r *run) exec(p *program, branch int) iter.Seq[bool] {
	return func(yield func(bool) bool) { r.step(p, branch, func() bool { return yield(true) }) }
}

// step runs p and returns false where it was stopped.
func (r *run) step(p *program, branch int, pause func() bool) bool {
	switch p.kind {
	case "say":
		name := p.name + strings.Repeat("'", r.turns[p.name])
		r.turns[p.name]++
		for _, s := range r.on {
			s.say(branch, name)
		}
		return pause()
	case "par":
		return r.parallel(p, branch, pause)
	}
	for range max(1, p.times) {
		for _, part := range p.parts {
			if !r.step(part, branch, pause) {
				return false
			}
		}
	}
	return true
}

func (r *run) parallel(p *program, branch int, pause func() bool) bool {
	var children, joined []int
	for range p.parts {
		children = append(children, *r.next)
		*r.next++
	}
	for _, s := range r.on {
		s.fork(branch, children)
	}
	type child struct {
		place, steps int
		next         func() (bool, bool)
	}
	var live []*child
	for i, part := range p.parts {
		next, stop := iter.Pull(r.exec(part, children[i]))
		defer stop()
		live = append(live, &child{place: i, next: next})
	}
	failed := map[int]bool{}
	for len(live) > 0 {
		i := r.choose(len(live))
		c := live[i]
		if _, ok := c.next(); ok {
			if c.steps++; p.parts[c.place].fails && c.steps == 2 {
				failed[c.place] = true
				live = slices.Delete(live, i, i+1)
			}
			if !pause() {
				return false
			}
			continue
		}
		failed[c.place] = failed[c.place] || p.parts[c.place].fails
		live = slices.Delete(live, i, i+1)
	}
	for i, c := range children {
		if !failed[i] {
			joined = append(joined, c)
		}
	}
	if len(joined) > 0 {
		for _, s := range r.on {
			s.join(branch, joined)
		}
	}
	return true
}

// inOrder runs each child to its end before the next.
func inOrder(int) int { return 0 }

// stand is a program's stage in a session.
type stand struct {
	*memory
	invocation string
	branch     map[int]string
	said       map[string]format.ID
	order      []string
	// whether what an agent says in a child is the prompt of another; nil for no
	prompts func() bool
}

func (s *stand) say(branch int, name string) {
	role, line, invocation := "model", s.branch[branch], s.invocation
	if strings.HasPrefix(line, "b") && s.prompts != nil && s.prompts() {
		role = "user"
		if invocation == "" {
			invocation = s.said["user"].String() // as who writes it down has to
		}
	}
	s.said[name] = s.memory.say(line, role, invocation)
	s.order = append(s.order, name)
}

func (s *stand) fork(branch int, children []int) {
	s.memory.fork(s.branch[branch], s.invocation, s.named(children)...)
}

func (s *stand) join(branch int, children []int) {
	s.memory.join(s.branch[branch], s.invocation, s.named(children)...)
}

func (s *stand) named(children []int) []string {
	var names []string
	for _, c := range children {
		s.branch[c] = fmt.Sprint("b", c)
		names = append(names, s.branch[c])
	}
	return names
}

// play runs a program that a user's message on main begins, its children one after the other, and
// returns the session and what was said.
func play(t *testing.T, text string) *stand {
	t.Helper()
	s := &stand{memory: newMemory(), branch: map[int]string{0: "main"},
		said: map[string]format.ID{}}
	s.said["user"] = s.memory.say("main", "user", "")
	next := 1
	r := &run{on: []stage{s}, next: &next, choose: inOrder, turns: map[string]int{}}
	for range r.exec(parse(text), 0) {
	}
	return s
}

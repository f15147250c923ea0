package dag

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/storetest/thirds"
)

// Visibility by ancestry is that by token sets, on programs of every nesting, with joins that are
// missing since a child failed, children that take turns in any order, and several invocations, one
// after the other or at once. Besides, every entry has the very tokens that a counter of its
// invocation gave. CTX_NESTINGS=n runs that many programs.
func TestAncestryIsTheTokenRule(t *testing.T) {
	n, whole := 10_000, testing.Short()
	if given, err := strconv.Atoi(os.Getenv("CTX_NESTINGS")); err == nil {
		n, whole = given, true
	}
	if testing.Short() {
		n = min(n, 1000)
	}
	const seed = 41
	var sum nestings
	for i := range n {
		if !whole && !thirds.Mine(t, i) {
			continue
		}
		var one nestings
		one.play(t, rand.New(rand.NewPCG(seed, uint64(i))))
		if t.Failed() {
			t.Fatalf("program %d of seed %d: %s", i, seed, one.programs)
		}
		sum.add(one)
	}
	t.Logf(
		"seed %d, %d sessions, %d invocations, %d messages, %d pairs: %d visible by ancestry, %d "+
			"by invocation; %d forks, %d children not joined; 0 differences",
		seed, n, sum.invocations, sum.events, sum.visible+sum.across+sum.hidden, sum.visible,
		sum.across, sum.forks, sum.failures)
	if sum.visible == 0 || sum.across == 0 || sum.hidden == 0 || sum.failures == 0 ||
		sum.deepest < 5 {
		t.Errorf("too tame: %+v", sum)
	}
}

// nestings counts what random programs went through.
type nestings struct {
	programs                             string
	invocations, events, forks, failures int
	visible, across, hidden, deepest     int
}

func (n *nestings) add(o nestings) {
	n.invocations += o.invocations
	n.events += o.events
	n.forks += o.forks
	n.failures += o.failures
	n.visible += o.visible
	n.across += o.across
	n.hidden += o.hidden
	n.deepest = max(n.deepest, o.deepest)
}

// random makes a program of some depth.
func random(r *rand.Rand, depth int, serial *int) *program {
	if depth == 0 && r.IntN(8) == 0 {
		return &program{kind: "seq"} // says nothing
	}
	if depth == 0 || r.IntN(5) == 0 {
		*serial++
		return &program{kind: "say", name: fmt.Sprint("a", *serial)}
	}
	p := &program{kind: []string{"seq", "par", "par", "loop"}[r.IntN(4)]}
	if p.kind == "loop" {
		p.times = 1 + r.IntN(3)
	}
	for range 1 + r.IntN(3) {
		part := random(r, depth-1, serial)
		part.fails = p.kind == "par" && r.IntN(6) == 0
		p.parts = append(p.parts, part)
	}
	return p
}

func (p *program) String() string {
	if p.kind == "say" {
		return p.name
	}
	return fmt.Sprint(p.kind, p.times, p.parts)
}

func (p *program) depth() int {
	deepest := 0
	for _, part := range p.parts {
		deepest = max(deepest, part.depth())
	}
	return deepest + 1
}

// ledger is what token sets say of a run, after the rule as the frameworks have it: a counter an
// invocation, a fork that gives each child the parent's set and a number, a join that adds the
// children's last sets. It knows of no entries.
type ledger struct {
	name    string
	counter int
	sets    map[int]map[int]bool
	said    *[]saying
	count   *nestings
}

// saying is a message as a token set knows it.
type saying struct {
	invocation string
	name       string
	tokens     map[int]bool
}

func with(sets ...map[int]bool) map[int]bool {
	sum := map[int]bool{}
	for _, set := range sets {
		for n := range set {
			sum[n] = true
		}
	}
	return sum
}

func (l *ledger) say(branch int, name string) {
	*l.said = append(*l.said, saying{l.name, name, with(l.sets[branch])})
}

func (l *ledger) fork(branch int, children []int) {
	l.count.forks++
	l.count.failures += len(children)
	for _, c := range children {
		l.counter++
		l.sets[c] = with(l.sets[branch], map[int]bool{l.counter: true})
	}
}

func (l *ledger) join(branch int, children []int) {
	l.count.failures -= len(children)
	for _, c := range children {
		l.sets[branch] = with(l.sets[branch], l.sets[c])
	}
}

// sees is the rule.
func (s saying) sees(of saying) bool {
	if s.invocation != of.invocation {
		return true
	}
	for n := range of.tokens {
		if !s.tokens[n] {
			return false
		}
	}
	return true
}

// play runs some invocations in one session, and compares what everybody sees when they speak.
func (n *nestings) play(t *testing.T, r *rand.Rand) {
	t.Helper()
	m := newMemory()
	var said []saying
	var ids []format.ID
	// what all lines stand on is nobody's
	m.on("main", &format.Entry{Kind: format.KindNote, Role: "system"})
	branch, next := map[int]string{}, 0
	type turn struct {
		step func() (bool, bool)
		stop func()
	}
	var running []turn
	begin := func(line string) {
		n.invocations++
		name := fmt.Sprint("i", n.invocations)
		explicit := name
		if len(m.tips) == 1 && r.IntN(2) == 0 {
			explicit = "" // nothing is open: the prompt begins one, under its own id
		}
		serial := 0
		p := random(r, 1+r.IntN(4), &serial)
		n.deepest = max(n.deepest, p.depth())
		n.programs += fmt.Sprintf("%s on %s: %v; ", name, line, p)
		number := next
		next++
		branch[number] = line
		s := &watched{
			&stand{memory: m, invocation: explicit, branch: branch, said: map[string]format.ID{},
				prompts: func() bool { return r.IntN(4) == 0 }}, &ids,
		}
		l := &ledger{name: name, sets: map[int]map[int]bool{number: {}}, said: &said, count: n}
		s.said["user"] = m.say(line, "user", explicit)
		ids = append(ids, s.said["user"])
		l.say(number, "user")
		run := &run{on: []stage{s, l}, next: &next, choose: r.IntN, turns: map[string]int{}}
		step, stop := iter.Pull(run.exec(p, number))
		running = append(running, turn{step, stop})
	}
	sequel, parallel := r.IntN(3), r.IntN(3)
	for i := range parallel {
		line := fmt.Sprint("line", i)
		m.tips[line] = m.tips["main"] // an alternate line, which stands on what is there
		begin(line)
	}
	begin("main")
	for len(running) > 0 {
		i := r.IntN(len(running))
		if _, ok := running[i].step(); ok {
			continue
		}
		running[i].stop()
		running = slices.Delete(running, i, i+1)
		if len(running) == 0 && sequel > 0 {
			sequel--
			begin("main")
		}
	}
	n.compare(t, m, said, ids)
}

// compare asks of every two messages whether the one saw the other.
func (n *nestings) compare(t *testing.T, m *memory, said []saying, ids []format.ID) {
	t.Helper()
	d, err := Read(m, m.list()...)
	if err != nil {
		t.Fatal(err)
	}
	n.events += len(ids)
	visible := map[format.ID]bool{}
	for i, reader := range said {
		reads := Viewpoint{Tip: ids[i], Point: m.arrived[ids[i]]}
		all, err := d.All(reads)
		if err != nil {
			t.Fatal(err)
		}
		clear(visible)
		for _, id := range all {
			visible[id] = true
		}
		var want []format.ID
		for j, other := range said {
			sees := j <= i && reader.sees(other)
			if got := visible[ids[j]]; got != sees {
				t.Errorf("%s/%s, who speaks %d., sees %s/%s, %d.: %v by ancestry, %v by tokens",
					reader.invocation, reader.name, i, other.invocation, other.name, j, got, sees)
			}
			switch {
			case !sees:
				n.hidden++
				continue
			case reader.invocation != other.invocation:
				n.across++
			default:
				n.visible++
			}
			want = append(want, ids[j])
		}
		all = slices.DeleteFunc(all,
			func(id format.ID) bool { return m.entries[id].Kind != format.KindMessage })
		if !slices.Equal(all, want) {
			t.Errorf("%s sees %d, want %d", reader.name, len(all), len(want))
		}
		set, err := d.Tokens(ids[i])
		if err != nil ||
			!slices.EqualFunc(set, numbers(reader.tokens),
				func(a uint64, b int) bool { return a == uint64(b) }) {
			t.Errorf("%s/%s has %v, want %v: %v", reader.invocation, reader.name, set,
				numbers(reader.tokens), err)
		}
	}
}

func numbers(set map[int]bool) []int {
	var list []int
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// watched notes the ids of messages in the order in which they are said.
type watched struct {
	*stand
	ids *[]format.ID
}

func (w *watched) say(branch int, name string) {
	w.stand.say(branch, name)
	*w.ids = append(*w.ids, w.said[name])
}

package oracle

import (
	"fmt"
	"strings"
)

// A story is a few deeds of two stores in an order in which each is about the last one. Chance
// would bring it about seldom. Steps are left out at random, so that each story is many.

// tell does steps in their order, and leaves out some.
func (p *party) tell(steps ...func()) {
	for _, step := range steps {
		if p.Failed() {
			return
		}
		if p.rng.IntN(6) > 0 {
			step()
		}
	}
}

// another returns another store.
func (p *party) another() *party {
	for {
		if o := p.stores[p.rng.IntN(len(p.stores))]; o != p {
			return o
		}
	}
}

// storyOfFork is of a store that goes on with a session of another one, has both their words in one
// cluster, and forgets its own.
func (p *party) storyOfFork() {
	o := p.another()
	p.tell(func() { p.say("work", 6+p.rng.IntN(10)) }, p.push, o.pull, o.goOn, o.compact, o.compact,
		o.evict, o.push, p.pull, o.forget, o.push, p.pull)
}

// storyOfLeaving is of words that no session leads to any more, here or there, and that are then
// forgotten.
func (p *party) storyOfLeaving() {
	o := p.another()
	leave := []func(){
		func() { p.undoOf("work") },
		func() { p.changes("rewind", "-s", "work", "@~2") },
		o.remove,
		func() { p.pushTo(p.places[0]) },
	}[p.rng.IntN(4)]
	p.tell(func() { p.say("work", 3) }, p.push, o.pull, leave, p.push, o.pull, p.forgetOwn, p.push,
		o.pull)
}

// storyOfJoining is of summaries or a session that the one has shared, and that the other has
// collected. Then a message of them is forgotten, and so much is pushed that the files are joined.
func (p *party) storyOfJoining() {
	o := p.another()
	if p.rng.IntN(2) == 0 {
		p.tell(func() { p.say("work", 8) }, func() { p.say("work", 8) }, p.push, o.pull, p.compact,
			p.compact, p.push, o.pull, o.collect, o.collect, p.forgetOwn, p.push, o.pull,
			p.pushOften, o.pull)
		return
	}
	session, at := fmt.Sprintf("left-%d", p.said), p.anywhere()
	push, pull := func() { p.pushTo(at) }, func() { o.pullFrom(at) }
	p.say(session, 3)
	p.tell(push, pull)
	o.removeOne(session + "@" + p.name)
	for range 2 {
		o.world.now = o.world.now.AddDate(0, 0, 2) // the log before it may be dropped
		o.collect()
	}
	p.forgetNewest()
	p.tell(push, pull, p.pushOften, p.wait, p.wait, func() { p.say("often", 1) }, push, pull)
}

// storyOfStopping is of what a push or a pull leaves behind that is stopped, and of words in it
// that are forgotten then.
func (p *party) storyOfStopping() {
	o, at := p.another(), p.anywhere()
	stop := func() {
		by := []*party{p, p, o}[p.rng.IntN(3)]
		verb := []string{"push", "pull"}[p.rng.IntN(2)]
		by.stopped(verb, at.name)
		delete(by.shares, at.name)
	}
	p.tell(func() { p.say("work", 1+p.rng.IntN(3)) }, stop, p.forgetOwn, stop,
		func() { p.pushTo(at) }, stop, func() { o.pullFrom(at) })
}

// storyOfGoingBack is of a branch that was forked and joined, and of changes around it that are
// taken back one after the other.
func (p *party) storyOfGoingBack() {
	s, child := p.mine(), ""
	back := func() { p.undoOf(s) }
	p.tell(func() { p.say(s, 4+p.rng.IntN(8)) },
		func() { child = p.fork(s) },
		func() { p.say(s, 1+p.rng.IntN(6)) },
		func() {
			if child != "" {
				p.changes("branch", "join", "-s", s, "main", child)
			}
		},
		func() { p.say(s, 1+p.rng.IntN(9)) }, back, back,
		func() { p.changes("rewind", "-s", s, fmt.Sprintf("@~%d", 1+p.rng.IntN(10))) }, back,
		func() { p.changes("redo", "-s", s) }, back)
	p.sound()
}

// storyOfDamage is of packs that gc and a forget have written, and that are damaged.
func (p *party) storyOfDamage() {
	p.tell(func() { p.say("work", 12) }, p.compact, p.collect, p.forgetOwn, p.damage, p.damage,
		p.damage)
}

// stopped runs a command that is to stop at one of its steps.
func (p *party) stopped(args ...string) {
	c := p.command(args...)
	c.Look = true
	r := p.stopAt(&c)
	p.logs = r.Logs
	p.judge(r, args)
	p.keeps(strings.Join(args, " "))
}

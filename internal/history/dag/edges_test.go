package dag

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// parallel is a session in which a user's prompt started a and b, which have said something.
func parallel() (m *memory, a, b format.ID) {
	m = newMemory()
	m.say("main", "user", "")
	m.fork("main", "", "a", "b")
	return m, m.say("a", "model", ""), m.say("b", "model", "")
}

func (m *memory) want(t *testing.T, sees bool, reader, id format.ID, why string) {
	t.Helper()
	if m.sees(t, reader, id) != sees {
		t.Errorf("sees: %v, want %v: %s", !sees, sees, why)
	}
}

func TestX01_nextInvocationSeesAll(t *testing.T) {
	m, a, b := parallel()
	m.join("main", "", "a", "b")
	m.fork("main", "", "c", "d")
	c := m.say("c", "model", "next")
	m.want(t, true, c, a, "of the invocation before")
	m.want(t, true, c, b, "of the invocation before")
}

// The reader's point is what cuts off another invocation, whatever the reader's tip.
func TestX01_pointCutsOff(t *testing.T) {
	m, a, _ := parallel()
	before := m.clock
	late := m.say("b", "model", "other")
	d := m.read(t)
	for _, c := range []struct {
		point uint64
		sees  bool
	}{{before, false}, {m.clock, true}} {
		list, err := d.All(Viewpoint{Tip: a, Point: c.point})
		if err != nil || (list[len(list)-1] == late) != c.sees {
			t.Errorf("at %d: %v %v", c.point, list, err)
		}
	}
}

func TestX02_invocationsInterleave(t *testing.T) {
	m := newMemory()
	m.say("main", "user", "one")
	m.tips["other"] = m.tips["main"]
	m.fork("main", "one", "a1", "b1")
	a := m.say("a1", "model", "one")
	m.say("other", "user", "two")
	m.fork("other", "two", "a2", "b2") // here a counter of the process would begin again
	a2 := m.say("a2", "model", "two")
	b := m.say("b1", "model", "one")
	b2 := m.say("b2", "model", "two")
	m.want(t, false, b, a, "siblings")
	m.want(t, false, b2, a2, "siblings")
	m.fork("b1", "one", "c1")
	c := m.say("c1", "model", "one")
	m.want(t, false, c, a, "a sibling's child")
	for id, want := range map[format.ID]string{a: "{1}", b: "{2}", a2: "{1}",
		b2: "{2}", c: "{2,3}"} {
		if got := m.tokens(t, id); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What is asked is asked of what is stored: a process that comes later has nothing to restore.
func TestX03_resumeInSecondParallel(t *testing.T) {
	m, a, b := parallel()
	m.join("main", "", "a", "b")
	m.fork("main", "", "c", "d")
	c := m.say("c", "model", "")
	again := m.say("c", "model", "") // by whom it is resumed
	for _, id := range []format.ID{a, b, c} {
		m.want(t, true, again, id, "the invocation goes on")
	}
	if got := m.tokens(t, again); got != "{1,2,3}" {
		t.Errorf("%s, want {1,2,3}", got)
	}
}

func TestX04_resumeInFirstParallel(t *testing.T) {
	m, a, b := parallel()
	again := m.say("a", "model", "")
	m.want(t, true, again, a, "its own")
	m.want(t, false, again, b, "a sibling's")
	if got := m.tokens(t, again); got != "{1}" {
		t.Errorf("%s, want {1}", got)
	}
}

func TestX05_notJoinedIsHidden(t *testing.T) {
	m, a, b := parallel()
	root := m.say("main", "model", "")
	m.want(t, false, root, a, "it paused before the join")
	m.want(t, false, root, b, "it paused before the join")
	next := m.say("main", "user", "next")
	m.want(t, true, next, a, "another invocation")
}

func TestX06_joinAfterFailure(t *testing.T) {
	m, a, b := parallel()
	m.join("main", "", "a") // b failed
	r := m.say("main", "model", "")
	m.want(t, true, r, a, "joined")
	m.want(t, false, r, b, "failed")
	m.join("main", "", "b") // what it had said is wanted after all
	all := m.say("main", "model", "")
	m.want(t, true, all, b, "joined late")
	if got := m.tokens(t, r) + m.tokens(t, all); got != "{1}{1,2}" {
		t.Errorf("%s, want {1}{1,2}", got)
	}
}

// A child that failed before it said anything is joined with the fork itself as its tip.
func TestX06_childThatSaidNothing(t *testing.T) {
	m := newMemory()
	m.say("main", "user", "")
	m.fork("main", "", "a", "b")
	if set, err := m.read(t).BranchTokens("b"); err != nil || set.String() != "{2}" {
		t.Errorf("a reader in b has %v %v, want {2}", set, err)
	}
	a := m.say("a", "model", "")
	m.join("main", "", "a", "b")
	r := m.say("main", "model", "")
	m.want(t, true, r, a, "joined")
	if got := m.tokens(t, r); got != "{1,2}" {
		t.Errorf("%s, want {1,2}", got)
	}
	if _, err := m.read(t).BranchTokens("b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("b is still there: %v", err)
	}
}

// An entry without any invocation, of before there was a user, is seen by who stands on it.
func TestX07_entryOfNobody(t *testing.T) {
	m := newMemory()
	sys := m.say("main", "system", "")
	user := m.say("main", "user", "")
	m.want(t, true, user, sys, "it stands on it")
	stray := m.say("elsewhere", "system", "")
	m.want(t, false, user, stray, "nobody's, and not below")
	m.want(t, false, stray, user, "a reader of nobody's")
	m.entries[stray].Invocation = "a\xffb"
	m.want(t, false, user, stray, "an invocation that no header can hold")
}

// Two agents of one name in two branches: neither author nor branch is what is asked.
func TestX08_namesSayNothing(t *testing.T) {
	m := newMemory()
	m.say("main", "user", "")
	m.fork("main", "", "agent_1", "agent_10")
	one := m.on("agent_1", &format.Entry{Kind: format.KindMessage, Role: "model", Author: "agent"})
	ten := m.on("agent_10", &format.Entry{Kind: format.KindMessage, Role: "model", Author: "agent"})
	m.want(t, false, one, ten, "a sibling of the same author, under a longer name")
	m.want(t, false, ten, one, "a sibling of the same author, under a shorter name")
}

func TestX09_iterationsDiffer(t *testing.T) {
	m := newMemory()
	m.say("main", "user", "")
	var said []format.ID
	for range 3 {
		m.fork("main", "", "a", "b")
		said = append(said, m.say("a", "model", ""))
		m.say("b", "model", "")
		m.join("main", "", "a", "b")
	}
	for i, want := range []string{"{1}", "{1,2,3}", "{1,2,3,4,5}"} {
		if got := m.tokens(t, said[i]); got != want {
			t.Errorf("iteration %d: %s, want %s", i, got, want)
		}
	}
	m.want(t, true, said[2], said[0], "an earlier iteration")
}

// A branch that begins another invocation joins what its children have said, and they go on: each
// has its token still, once.
func TestX05_joinedAndStillOpen(t *testing.T) {
	m, a, b := parallel()
	tip := m.tips["a"]
	m.join("main", "", "a", "b")
	m.tips["a"], m.tips["b"] = tip, b
	next := m.say("main", "user", "next")
	late := m.say("a", "model", "")
	m.want(t, true, next, a, "of the invocation before")
	m.want(t, false, late, b, "siblings in their own invocation still")
	m.join("main", "next", "a", "b")
	end := m.say("main", "model", "next")
	m.want(t, true, end, late, "joined again")
	if got := m.tokens(t, late) + m.tokens(t, end); got != "{1}{}" {
		t.Errorf("%s, want {1}{}", got)
	}
}

// A call and its result stay together for who reads in the child: what a sibling says in between is
// filtered before anything is looked for.
func TestX10_ownPairsAmongSiblings(t *testing.T) {
	m, _, b := parallel()
	call := m.on("a",
		&format.Entry{Kind: format.KindMessage, Role: "model",
			Calls: []format.Call{{ID: "1", Tool: "ls"}}})
	other := m.say("b", "model", "")
	result := m.on("a",
		&format.Entry{Kind: format.KindMessage, Role: "tool", Results: []string{"1"}})
	list, err := m.read(t).All(Viewpoint{Tip: m.tips["a"], Point: m.clock})
	if err != nil || list[len(list)-2] != call || list[len(list)-1] != result {
		t.Errorf("%v %v", list, err)
	}
	for _, id := range list {
		if id == b || id == other {
			t.Errorf("%v is of a sibling", id)
		}
	}
}

// Another agent that takes over on the same branch is on the same branch.
func TestX11_transfer(t *testing.T) {
	m, a, b := parallel()
	next := m.on("a", &format.Entry{Kind: format.KindMessage, Role: "model", Author: "another"})
	m.want(t, true, next, a, "the same branch")
	m.want(t, false, next, b, "a sibling")
	if m.tokens(t, next) != m.tokens(t, a) {
		t.Errorf("%s and %s", m.tokens(t, next), m.tokens(t, a))
	}
}

// X12 is about state, which belongs to the session and is no entry; X13 is not offered: a sibling's
// answers are not shared before the join, final or not.
func TestX13_answersAreNotShared(t *testing.T) {
	m, a, b := parallel()
	m.want(t, false, a, b, "an answer, before the join")
	m.want(t, false, b, a, "an answer, before the join")
}

func TestX14_oneTextOneSet(t *testing.T) {
	for _, c := range []struct {
		set        Tokens
		text, json string
	}{
		{Tokens{}, "{}", `{"tokens":[]}`},
		{nil, "{}", `{"tokens":[]}`},
		{canonical(Tokens{4, 1, 3, 1}), "{1,3,4}", `{"tokens":[1,3,4]}`},
	} {
		b, err := json.Marshal(c.set)
		if err != nil || string(b) != c.json || c.set.String() != c.text {
			t.Errorf("%s %s %v, want %s %s", c.set, b, err, c.text, c.json)
		}
		var back Tokens
		if err := json.Unmarshal(b, &back); err != nil || back.String() != c.text {
			t.Errorf("%s came back as %s, %v", c.text, back, err)
		}
	}
	var set Tokens
	if err := json.Unmarshal([]byte(`{"tokens":[3,1,3]}`), &set); err != nil ||
		set.String() != "{1,3}" {
		t.Errorf("%v %v", set, err)
	}
	for _, bad := range []string{`{}`, `{"tokens":null}`, `null`, `[1]`, `"{1}"`, `{"tokens":[0]}`,
		`{"tokens":[-1]}`, `{"tokens":[1],"more":1}`, `{"tokens":["1"]}`} {
		if err := json.Unmarshal([]byte(bad), &set); err == nil {
			t.Errorf("%s is taken for %s", bad, set)
		}
	}
}

// What is not known is not shown.
func TestFailsClosed(t *testing.T) {
	m, a, b := parallel()
	join := func() { m.join("main", "", "a", "b") }
	other := m.say("b", "model", "other")
	delete(m.arrived, other)
	m.want(t, false, a, other, "nobody knows when it came")
	m.want(t, true, other, b, "its branch's own")

	d := m.read(t)
	unknown := format.Sum([]byte("unknown"))
	if _, err := d.All(Viewpoint{Tip: unknown}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a reader who is nowhere: %v", err)
	}

	// What was rewound is in no history, and `left` is no ancestry.
	old := m.tips["a"]
	m.tips["a"] = m.put(&format.Entry{Kind: format.KindRewind,
		Parents: m.entries[old].Parents, Left: old})
	m.want(t, false, m.tips["a"], a, "rewound")
	m.want(t, false, m.tips["b"], a, "rewound, and of a sibling")
	if _, err := m.read(t).Tokens(a); !errors.Is(err, ErrNotFound) {
		t.Errorf("tokens of what was rewound: %v", err)
	}
	again := m.say("a", "model", "")
	if got := m.tokens(t, again); got != "{1}" {
		t.Errorf("after a rewind in the child: %s, want {1}", got)
	}
	join()

	// One entry that cannot be read, and nothing is said.
	delete(m.entries, b)
	if _, err := Read(m, m.list()...); !errors.Is(err, errNoEntry) {
		t.Errorf("an entry cannot be read: %v", err)
	}
}

// No header can name itself; a graph that says so is refused, and not walked for ever.
func TestEntryThatStandsOnItself(t *testing.T) {
	m, a, _ := parallel()
	m.entries[a].Parents = []format.ID{a}
	if _, err := Read(m, m.list()...); err == nil {
		t.Error("it was read")
	}
}

func TestInvocation(t *testing.T) {
	m := newMemory()
	sys := m.say("main", "system", "")
	first := m.say("main", "user", "")
	answer := m.say("main", "model", "")
	m.fork("main", "", "a", "b")
	own := m.say("b", "user", "named")
	reply := m.say("b", "model", "")
	m.join("main", "", "a", "b")
	joined := m.say("main", "model", "")
	second := m.say("main", "user", "")
	note := m.on("main", &format.Entry{Kind: format.KindNote, Role: "user"})
	d := m.read(t)
	for _, c := range []struct {
		id   format.ID
		want string
		why  string
	}{
		{sys, "", "nobody has asked yet"},
		{first, first.String(), "a prompt"},
		{answer, first.String(), "its answer"},
		{own, "named", "its header names it"},
		{reply, "named", "the answer to that"},
		{joined, first.String(), "after a join the branch's own line counts"},
		{second, second.String(), "another prompt"},
		{note, second.String(), "a note is no prompt"},
	} {
		if got, err := d.Invocation(c.id); err != nil || got != c.want {
			t.Errorf("%s: %.8q %v, want %.8q", c.why, got, err, c.want)
		}
	}
	if _, err := d.Invocation(format.Sum(nil)); !errors.Is(err, ErrNotFound) {
		t.Errorf("an entry that is nowhere: %v", err)
	}
}

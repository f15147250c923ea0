package dag

import (
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
)

// vector is a program and what is known of it: the token set of each agent's message and of the
// end, and whom of those before it each sees, besides the user and itself. A name that sees is left
// out sees nobody.
type vector struct {
	program string
	tokens  string // "A:1 B:1,2"
	sees    string // "R:A,B"
	final   string
}

func (v vector) test(t *testing.T) {
	t.Helper()
	s := play(t, v.program)
	tokens, sees := pairs(v.tokens), pairs(v.sees)
	if len(tokens) != len(s.order) {
		t.Errorf("%d agents spoke, %d are known", len(s.order), len(tokens))
	}
	for i, reader := range s.order {
		want, ok := tokens[reader]
		if !ok {
			t.Errorf("%s is not known", reader)
		}
		if got := s.tokens(t, s.said[reader]); got != "{"+want+"}" {
			t.Errorf("%s has %s, want {%s}", reader, got, want)
		}
		var seen []string
		for _, other := range s.order {
			if other != reader && s.sees(t, s.said[reader], s.said[other]) {
				seen = append(seen, other)
			}
		}
		if got := strings.Join(seen, ","); got != sees[reader] {
			t.Errorf("%s sees %q, want %q", reader, got, sees[reader])
		}
		for _, own := range []string{reader, "user"} {
			if !s.sees(t, s.said[reader], s.said[own]) {
				t.Errorf("%s does not see %s", reader, own)
			}
		}
		for _, later := range s.order[i+1:] {
			if s.sees(t, s.said[reader], s.said[later]) {
				t.Errorf("%s sees %s, which came later", reader, later)
			}
		}
		if s.sees(t, s.said["user"], s.said[reader]) {
			t.Errorf("the prompt sees %s", reader)
		}
	}
	set, err := s.read(t).BranchTokens("main")
	if err != nil || set.String() != "{"+v.final+"}" {
		t.Errorf("in the end main has %v %v, want {%s}", set, err, v.final)
	}
	all := s.read(t)
	list, err := all.All(Viewpoint{Tip: s.tips["main"], Point: s.clock})
	if err != nil || len(list) != len(s.entries) {
		t.Errorf("in the end main sees %d of %d entries, %v", len(list), len(s.entries), err)
	}
	if !slices.IsSortedFunc(list,
		func(a, b format.ID) int { return int(s.arrived[a]) - int(s.arrived[b]) }) {
		t.Error("what main sees is not in the order in which it came")
	}
}

func pairs(text string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(text) {
		name, value, _ := strings.Cut(f, ":")
		m[name] = value
	}
	return m
}

func TestV01_sequence(t *testing.T) {
	vector{"Seq[A,B]", "A: B:", "B:A", ""}.test(t)
}

func TestV02_parallel(t *testing.T) {
	vector{"Par[A,B]", "A:1 B:2", "", "1,2"}.test(t)
}

func TestV03_reducer(t *testing.T) {
	vector{"Seq[Par[A,B],R]", "A:1 B:2 R:1,2", "R:A,B", "1,2"}.test(t)
}

func TestV04_sequenceOfParallels(t *testing.T) {
	vector{
		"Seq[Par[A,B],Par[C,D],Par[E,F]]",
		"A:1 B:2 C:1,2,3 D:1,2,4 E:1,2,3,4,5 F:1,2,3,4,6",
		"C:A,B D:A,B E:A,B,C,D F:A,B,C,D",
		"1,2,3,4,5,6",
	}.test(t)
}

func TestV05_nestedReducers(t *testing.T) {
	vector{
		"Seq[Par[Seq[Par[A,B,C],R1],Seq[Par[D,E,F],R2]],R3]",
		"A:1,3 B:1,4 C:1,5 R1:1,3,4,5 D:2,6 E:2,7 F:2,8 R2:2,6,7,8 R3:1,2,3,4,5,6,7,8",
		"R1:A,B,C R2:D,E,F R3:A,B,C,R1,D,E,F,R2",
		"1,2,3,4,5,6,7,8",
	}.test(t)
}

func TestV06_parallelInTheMiddle(t *testing.T) {
	vector{"Seq[P,Par[A,B],Q]", "P: A:1 B:2 Q:1,2", "A:P B:P Q:P,A,B", "1,2"}.test(t)
}

func TestV07_parallelSequences(t *testing.T) {
	vector{"Par[Seq[A,B],Seq[C,D]]", "A:1 B:1 C:2 D:2", "B:A D:C", "1,2"}.test(t)
}

func TestV08_parallelInParallel(t *testing.T) {
	vector{"Seq[Par[A,Par[B,C]],R]", "A:1 B:2,3 C:2,4 R:1,2,3,4", "R:A,B,C", "1,2,3,4"}.test(t)
}

func TestV09_loop(t *testing.T) {
	vector{
		"Loop2[Par[A,B],R]",
		"A:1 B:2 R:1,2 A':1,2,3 B':1,2,4 R':1,2,3,4",
		"R:A,B A':A,B,R B':A,B,R R':A,B,R,A',B'",
		"1,2,3,4",
	}.test(t)
}

func TestV10_loopInParallel(t *testing.T) {
	vector{"Par[Loop2[A],B]", "A:1 A':1 B:2", "A':A", "1,2"}.test(t)
}

func TestV11_loopOfParallelInParallel(t *testing.T) {
	vector{
		"Seq[Par[Loop2[Par[A,B]],C],R]",
		"A:1,3 B:1,4 A':1,3,4,5 B':1,3,4,6 C:2 R:1,2,3,4,5,6",
		"A':A,B B':A,B R:A,B,A',B',C",
		"1,2,3,4,5,6",
	}.test(t)
}

func TestV12_loopOfParallels(t *testing.T) {
	vector{
		"Loop2[Seq[Par[A,B],Par[C,D]]]",
		"A:1 B:2 C:1,2,3 D:1,2,4 A':1,2,3,4,5 B':1,2,3,4,6 C':1,2,3,4,5,6,7 D':1,2,3,4,5,6,8",
		"C:A,B D:A,B A':A,B,C,D B':A,B,C,D C':A,B,C,D,A',B' D':A,B,C,D,A',B'",
		"1,2,3,4,5,6,7,8",
	}.test(t)
}

func TestV13_oneChild(t *testing.T) {
	vector{"Seq[A,Par[B],C]", "A: B:1 C:1", "B:A C:A,B", "1"}.test(t)
}

func TestV14_unevenNesting(t *testing.T) {
	vector{
		"Seq[Par[Seq[A,Par[B,C]],D],Par[E,F]]",
		"A:1 B:1,3 C:1,4 D:2 E:1,2,3,4,5 F:1,2,3,4,6",
		"B:A C:A E:A,B,C,D F:A,B,C,D",
		"1,2,3,4,5,6",
	}.test(t)
}

func TestV15_parallelParallels(t *testing.T) {
	vector{"Par[Par[A,B],Par[C,D]]", "A:1,3 B:1,4 C:2,5 D:2,6", "", "1,2,3,4,5,6"}.test(t)
}

func TestV16_loopAfterParallel(t *testing.T) {
	vector{
		"Seq[Par[A,B],Loop2[C,D],R]",
		"A:1 B:2 C:1,2 D:1,2 C':1,2 D':1,2 R:1,2",
		"C:A,B D:A,B,C C':A,B,C,D D':A,B,C,D,C' R:A,B,C,D,C',D'",
		"1,2",
	}.test(t)
}

func TestUnitFacts(t *testing.T) {
	byText := map[string]bool{Tokens{1, 3}.String(): true}
	if !byText[canonical(Tokens{3, 1, 3}).String()] || byText[Tokens{1, 2}.String()] {
		t.Error("equal sets are not equal keys")
	}
}

// Ten agents that fork a hundred children each, at once: no two children have the same token.
func TestUnitFacts_everyChildHasItsOwnToken(t *testing.T) {
	m := newMemory()
	m.say("main", "user", "")
	var agents []string
	for i := range 10 {
		agents = append(agents, string(rune('a'+i)))
	}
	m.fork("main", "", agents...)
	for range 100 {
		for _, a := range agents {
			m.fork(a, "", a+"child")
			m.say(a+"child", "model", "")
			m.join(a, "", a+"child")
		}
	}
	m.join("main", "", agents...)
	set, err := m.read(t).BranchTokens("main")
	if err != nil || len(set) != 10+10*100 || set[0] != 1 || set[len(set)-1] != 1010 {
		t.Errorf("%d tokens, %v", len(set), err)
	}
}

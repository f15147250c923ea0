package brief

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// endless is room for everything.
const endless = 1 << 30

func cost(l Line) int { return len(l.Section) + len(l.Text) + 8 }

// facts numbers facts from 1, so that each belongs to its own message.
func facts(list ...digest.Fact) []digest.Fact {
	for i := range list {
		list[i].Seq = uint64(i + 1)
	}
	return list
}

func prompt(text string) digest.Fact { return digest.Fact{Kind: digest.Prompt, Text: text} }
func said(text string) digest.Fact   { return digest.Fact{Kind: digest.Said, Text: text} }
func edited(path, names string, added, removed int) digest.Fact {
	return digest.Fact{Kind: digest.Edit, Path: path, Text: "edited " + path + names, Added: added,
		Removed: removed}
}
func read(path, names string) digest.Fact {
	return digest.Fact{Kind: digest.Read, Path: path, Text: "read " + path + names}
}
func ran(line string, s digest.State) digest.Fact {
	return digest.Fact{Kind: digest.Command, Key: line, State: s, Text: "ran " + line}
}
func tests(result string, s digest.State) digest.Fact {
	return digest.Fact{Kind: digest.Command, Key: "go test", State: s, Test: true,
		Text: "ran go test: " + result}
}
func failure(key, text string) digest.Fact {
	return digest.Fact{Kind: digest.Failure, Key: key, Text: text}
}
func todo(what string, s digest.State) digest.Fact {
	return digest.Fact{Kind: digest.Todo, Key: what, State: s, Text: what}
}

// show formats lines as SECTION: TEXT.
func show(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s: %s\n", l.Section, l.Text)
	}
	return b.String()
}

func choose(list []digest.Fact, room int) string {
	return show(Choose(list, Options{Room: room, Cost: cost}))
}

func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w+"\n") {
			t.Errorf("got\n%swant %s", got, w)
		}
	}
}

func lacks(t *testing.T, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(got, w) {
			t.Errorf("got\n%swith %s", got, w)
		}
	}
}

func TestNothingToChoose(t *testing.T) {
	some := facts(prompt("Mend the parser"), said("It loses the last token"),
		edited("/p/a.go", ": Parse", 1, 0))
	if got := choose(nil, endless); got != "" {
		t.Errorf("of no facts: %s", got)
	}
	for _, room := range []int{0, -5, 3} {
		if got := choose(some, room); got != "" {
			t.Errorf("within %d: %s", room, got)
		}
	}
	if lines := Choose(some,
		Options{Room: endless, Cost: cost, About: []string{"weather"}}); len(lines) != 0 {
		t.Errorf("about something else: %s", show(lines))
	}
}

func TestSections(t *testing.T) {
	list := facts(
		prompt("Mend the parser"),
		digest.Fact{Kind: digest.Branch, Key: "branch", Text: "on branch fix-parser"},
		digest.Fact{Kind: digest.Decision, Text: "Which parser? → The old one"},
		edited("/p/src/a.go", ": Parse, lastToken", 3, 1), read("/p/src/b.go", ": Scan"),
		edited("/p/src/a.go", ": Print, Parse", 2, 0),
		ran("make", digest.Failed), failure("make", "a.go:3: missing brace"),
		tests("2 failed: TestA", digest.Failed), tests("9 passed", digest.Passed),
		todo("Mend the parser", digest.Open), todo("Print it", digest.Open),
		todo("Mend the parser", digest.Done),
		digest.Fact{Kind: digest.Commit, Key: "commit", State: digest.Passed,
			Text: "committed: Keep the last token"},
		said("The scanner dropped what stood before the end of each line"))
	want := `wanted: > Mend the parser
decided: Which parser? → The old one
state: on branch fix-parser
state: ran go test: 9 passed
changed: edited a.go (+5 -1): Print, Parse, lastToken
todo: open: Print it
noted: committed: Keep the last token
noted: The scanner dropped what stood before the end of each line
`
	inOrder := `state: on branch fix-parser
state: ran go test: 9 passed
todo: open: Print it
wanted: > Mend the parser
decided: Which parser? → The old one
noted: committed: Keep the last token
noted: The scanner dropped what stood before the end of each line
changed: edited a.go (+5 -1): Print, Parse, lastToken
`
	for _, o := range []bool{false, true} {
		if o {
			want = inOrder
		}
		got := show(Choose(list, Options{Room: 4000, Cost: cost, InOrder: o}))
		if got != want {
			t.Errorf("in order %t: got\n%swant\n%s", o, got, want)
		}
	}
}

// TestUncommitted checks which changed files a brief names as not committed.
func TestUncommitted(t *testing.T) {
	branch := digest.Fact{Kind: digest.Branch, Key: "branch", Text: "on branch fix-parser"}
	commit := digest.Fact{Kind: digest.Commit, Key: "commit", State: digest.Passed,
		Text: "committed: Keep the last token"}
	tried := commit
	tried.State, tried.Text = digest.Failed, "tried to commit: Keep the last token"
	back := commit
	back.State = digest.Dropped
	edit := func(path string) digest.Fact { return edited(path, "", 1, 1) }
	shown := func(key, path string) digest.Fact {
		return digest.Fact{Kind: digest.Edit, Key: key, Path: path, State: digest.Dropped,
			Text: path}
	}
	for _, c := range []struct {
		name  string
		facts []digest.Fact
		want  string // in a brief, and in a short one; "" for nothing
		keep  string // before a compaction
	}{
		{"no git", facts(prompt("Mend it"), edit("/p/a.go")), "", ""},
		{"nothing changed", facts(prompt("Mend it"), branch), "", ""},
		{"all committed", facts(branch, edit("/p/a.go"), commit), "", ""},
		{"never", facts(branch, edit("/p/b/a.go"), edit("/p/b.go")),
			"changed: not committed: b.go; b/a.go", "state: not committed: b.go; b/a.go"},
		{"the commit failed", facts(branch, edit("/p/a.go"), tried),
			"changed: edited a.go (+1 -1), not committed", "state: not committed: a.go"},
		{"since", facts(branch, edit("/p/a.go"), edit("/p/b.go"), commit, edit("/p/a.go")),
			"changed: not committed: p/a.go; committed: p/b.go", "state: not committed: a.go"},
		{"of some, as git showed", facts(branch, edit("/p/a.go"), edit("/p/b.go"), commit, shown(
			digest.Unkept, "/p/b.go")),
			"changed: not committed: p/b.go; committed: p/a.go", "state: not committed: b.go"},
		{"by somebody else", facts(branch, edit("/p/a.go"), edit("/p/b.go"), shown(
			digest.Kept, "/p/a.go")),
			"changed: not committed: p/b.go; other: p/a.go", "state: not committed: b.go"},
		{"taken back", facts(branch, edit("/p/a.go"), commit, back),
			"changed: edited a.go (+1 -1), not committed", "state: not committed: a.go"},
		{"put back", facts(branch, edit("/p/a.go"), edit("/p/b.go"), digest.Fact{Kind: digest.Edit,
			Path: "/p/b.go", State: digest.Dropped, Text: "restored /p/b.go"}),
			"changed: edited a.go (+1 -1), not committed", "state: not committed: a.go"},
	} {
		for want, o := range map[string]Options{
			c.want: {Room: 1000, Short: true}, c.keep + " ": {Room: 1000, Keep: true}} {
			o.Cost = cost
			got := show(Choose(c.facts, o))
			if want = strings.TrimSuffix(want, " "); want == "" {
				lacks(t, got, "not committed")
			} else if !strings.Contains(got, want+"\n") {
				t.Errorf("%s, keep %t: got\n%swant %s", c.name, o.Keep, got, want)
			}
		}
	}
}

func TestOneLineEach(t *testing.T) {
	t.Run("the edits of a file", func(t *testing.T) {
		got := choose(facts(edited("/p/a.go", ": Parse", 1, 2), edited("/p/a.go", "", 3, 4)),
			endless)
		contains(t, got, "changed: edited a.go (+4 -6): Parse")
		if strings.Count(got, "edited") != 1 {
			t.Error(got)
		}
	})
	t.Run("an edit that failed is none", func(t *testing.T) {
		f := edited("/p/a.go", "", 1, 1)
		f.State = digest.Failed
		if got := choose(facts(f), endless); strings.Contains(got, "edited") {
			t.Error(got)
		}
	})
	back := func(path string) digest.Fact {
		return digest.Fact{Kind: digest.Edit, Path: path, State: digest.Dropped, Text: "restored"}
	}
	t.Run("a file that was put back did not change", func(t *testing.T) {
		got := choose(facts(edited("/p/a.go", "", 1, 2), edited("/p/b.go", "", 1, 1), back("a.go"),
			edited("/p/c.go", "", 5, 5), back("/p/c.go"), edited("/p/c.go", "", 3, 4)), endless)
		contains(t, got, "edited b.go (+1 -1)", "edited c.go (+3 -4)")
		lacks(t, got, "a.go")
		got = choose(facts(edited("/p/a.go", "", 1, 2), edited("/p/b.go", "", 1, 1), back(".")),
			endless)
		lacks(t, got, "a.go", "b.go")
	})
	t.Run("what was committed stays changed", func(t *testing.T) {
		commit := digest.Fact{Kind: digest.Commit, State: digest.Passed, Text: "committed: Lamps"}
		got := choose(facts(edited("/p/a.go", "", 1, 2), commit, edited("/p/b.go", "", 1, 1),
			back(digest.Everything)), endless)
		contains(t, got, "edited a.go (+1 -2)")
		lacks(t, got, "b.go")
	})
	t.Run("a path with a colon and a space", func(t *testing.T) {
		got := choose(facts(edited("/p/a: b.go", ": Parse", 1, 2), read("/p/c: d.go", ": Scan")),
			endless)
		contains(t, got, "changed: edited a: b.go (+1 -2): Parse", "state: last steps: edited a: b.go; read c: d.go: Scan")
	})
	t.Run("a file that was moved", func(t *testing.T) {
		f := digest.Fact{Kind: digest.Edit, Path: "/p/b.go", Text: "moved /p/a.go to /p/b.go"}
		contains(t, choose(facts(f), endless), "changed: moved a.go to b.go")
	})
	t.Run("equal lines", func(t *testing.T) {
		lost := "The parser loses the last token of lines"
		got := choose(facts(said(lost), said("Other words were said"), said(lost)), endless)
		if strings.Count(got, lost) != 1 {
			t.Error(got)
		}
	})
	t.Run("the states of a todo item", func(t *testing.T) {
		got := choose(facts(todo("Mend it", digest.Open), todo("Mend it", digest.Active),
			todo("Mend it", digest.Done)), endless)
		if got != "" {
			t.Error(got)
		}
	})
}

func TestFailing(t *testing.T) {
	passed := choose(facts(ran("make", digest.Failed), failure("make", "a.go:3: missing brace"),
		ran("make", digest.Passed)), endless)
	lacks(t, passed, "failing:")
	contains(t, passed, "state: ran make: passed")
	failed := choose(facts(ran("make", digest.Passed), ran("make other", digest.Passed),
		ran("make", digest.Failed), failure("make", "a.go:3: missing brace")), endless)
	contains(t, failed, "failing: ran make", "failing: a.go:3: missing brace")
}

// TestFailedCommit has a commit that a hook refused: the commit before it is the newest.
func TestFailedCommit(t *testing.T) {
	got := choose(
		facts(digest.Fact{Kind: digest.Commit, Key: "commit",
			Text: "committed: Keep the last token", State: digest.Passed},
			digest.Fact{Kind: digest.Commit, Key: "commit",
				Text:  "committed: Print it: exit status 1",
				State: digest.Failed}), endless)
	contains(t, got, "noted: committed: Keep the last token")
	lacks(t, got, "committed: Print it")
}

// TestWrittenInVain leaves out what was written by an edit that was refused, or put back later, and
// a check that ran before the last change when another one ran after it.
func TestWrittenInVain(t *testing.T) {
	wrote := func(s digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Written, Path: "lamp.go", State: s,
			Text: "The lamp asks the gauge of the harbour for the tide."}
	}
	edit := edited("lamp.go", "", 1, 0)
	lacks(t, choose(facts(wrote(digest.Barred)), endless), "gauge")
	contains(t, choose(facts(edit, wrote("")), endless),
		"noted: in lamp.go: The lamp asks the gauge of the harbour for the tide.")
	back := edit
	back.State = digest.Dropped
	lacks(t, choose(facts(edit, wrote(""), back), endless), "gauge")

	lint := ran("golangci-lint run", digest.Passed)
	old := "state: ran golangci-lint run: passed, before the last change"
	contains(t, choose(facts(lint, edit), endless), old)
	lacks(t, choose(facts(lint, edit, tests("4 passed", digest.Passed)), endless), old)
	short := Options{Room: endless, Cost: cost, Short: true}
	contains(t, show(Choose(facts(edit, lint, tests("4 passed", digest.Passed)), short)),
		"state: ran golangci-lint run: passed")
}

// filler returns n unrelated sentences.
func filler(n int) []digest.Fact {
	list := make([]digest.Fact, n)
	for i := range list {
		list[i] = said(fmt.Sprintf("The word%dabc of thing%dxyz met place%dklm somewhere",
			i, i*7, i*13))
	}
	return list
}

// TestMust checks the lines that a brief has even in little room.
func TestMust(t *testing.T) {
	list := facts(slices.Concat(
		[]digest.Fact{prompt("Look into the weather")}, filler(300),
		[]digest.Fact{prompt("Now mend the parser"), todo("Print it", digest.Open),
			todo("Mend it", digest.Done), tests("1 failed", digest.Failed),
			failure("go test", "a.go:3: missing brace")}, filler(300))...)
	got := choose(list, 2000)
	contains(t, got, "wanted: > Now mend the parser", "failing: ran go test: 1 failed",
		"todo: open: Print it", "failing: a.go:3: missing brace")
	if small := choose(list, 400); !strings.HasPrefix(small, "wanted: > Now mend the parser\n") {
		t.Errorf("within little room: %s", small)
	}
}

func TestSlightLines(t *testing.T) {
	f := said("Review Summary")
	f.Slight = true
	if got := choose(facts(f, said("The parser loses the last token of lines")),
		endless); got != "noted: The parser loses the last token of lines\n" {
		t.Error(got)
	}
}

func TestSaid(t *testing.T) {
	a, b := "Parser loses the lastToken of long lines", "Scanner keeps the firstToken always"
	list := facts(said(a), said(b))
	room := cost(Line{Section: Story, Text: a})
	without := choose(list, room)
	with := show(Choose(list, Options{Room: room, Cost: cost, Said: []string{b}}))
	if with != "noted: "+a+"\n" {
		t.Errorf("with the other said: %s", with)
	}
	if without == "" {
		t.Error("nothing was chosen")
	}
}

func TestAbout(t *testing.T) {
	list := facts(
		slices.Concat([]digest.Fact{prompt("Mend the parser"),
			said("The scanner drops the lastToken")}, filler(30))...)
	got := show(
		Choose(list,
			Options{Room: endless, Cost: cost, About: []string{"where is lastToken dropped?"}}))
	if got != "noted: The scanner drops the lastToken\n" {
		t.Error(got)
	}
}

func TestNewerTermsAreWorthMore(t *testing.T) {
	list := filler(600)
	for i := range list {
		list[i].Text = strings.ReplaceAll(list[i].Text, "word", fmt.Sprint("word", i%300))
	}
	lines := Choose(facts(list...), Options{Room: 3000, Cost: cost})
	newer := 0
	for _, l := range lines {
		if l.Seq > 400 {
			newer++
		}
	}
	if newer*2 <= len(lines) {
		t.Errorf("%d of %d lines are of the newest third", newer, len(lines))
	}
}

// A check that fails since the tests ran stands beside them, and so does an older one, until a file
// is changed.
func TestFailedCheckBesideTests(t *testing.T) {
	lint, passed := ran("golangci-lint run", digest.Failed), tests("9 passed", digest.Passed)
	for _, o := range []Options{{Room: 4000, Cost: cost}, {Room: 900, Cost: cost, Short: true}} {
		contains(t, show(Choose(facts(passed, lint), o)), "failing: ran golangci-lint run",
			"state: ran go test: 9 passed")
		contains(t, show(Choose(facts(lint, passed), o)), "failing: ran golangci-lint run")
		lacks(t, show(Choose(facts(lint, edited("x/a.go", "", 1, 1), passed), o)), "golangci-lint")
	}
}

// What is said again with a full stop, or without one, is one line.
func TestSaidTwice(t *testing.T) {
	got := choose(facts(prompt("Give the parser a limit, and the printer a width"),
		prompt("Give the parser a limit, and the printer a width."),
		said("The scanner dropped what stood before the end of each line")), endless)
	if n := strings.Count(got, "a limit"); n != 1 {
		t.Errorf("%d times: %s", n, got)
	}
}

// random makes facts of all kinds from a few words.
func random(r *rand.Rand, n int) []digest.Fact {
	kinds := []digest.Kind{digest.Prompt, digest.Answer, digest.Said, digest.Recap, digest.Report,
		digest.Written, digest.Code, digest.Todo,
		digest.Edit, digest.Read, digest.Search, digest.Command, digest.Commit, digest.Branch,
		digest.Failure, digest.Question,
		digest.Decision, digest.Act, digest.Output, "unknown"}
	states := []digest.State{"", digest.Open, digest.Active, digest.Done, digest.Passed,
		digest.Failed}
	list := make([]digest.Fact, n)
	for i := range list {
		var words []string
		for range 1 + r.IntN(12) {
			words = append(words, fmt.Sprintf("word%d", int(r.ExpFloat64()*float64(n)/4)))
		}
		f := digest.Fact{Kind: kinds[r.IntN(len(kinds))], Text: strings.Join(words, " "),
			State: states[r.IntN(len(states))], Slight: r.IntN(8) == 0}
		switch f.Kind {
		case digest.Edit, digest.Read:
			f.Path = fmt.Sprintf("/p/d%d/f%d.go", r.IntN(3), r.IntN(1+n/8))
			f.Text = "edited " + f.Path + ": " + strings.Join(words, ", ")
			f.Added = r.IntN(9)
		case digest.Todo, digest.Command, digest.Failure:
			f.Key, f.Test = words[0], r.IntN(3) == 0
		}
		list[i] = f
	}
	return facts(list...)
}

// TestBudget chooses from random facts with random room. The lines never cost more than the room,
// are always the same, follow the order of sections, and are not empty; and no other line would
// fit.
func TestBudget(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		list := random(r, r.IntN(120))
		o := Options{Room: r.IntN(6000), Cost: cost}
		if seed%4 == 1 {
			o.Said = []string{list0(list)}
		}
		if seed%4 == 2 {
			o.About = []string{list0(list)}
		}
		o.Short, o.InOrder = seed%8 > 3, seed%16 > 7
		lines := Choose(slices.Clone(list), o)
		if again := Choose(list, o); show(again) != show(lines) {
			t.Fatalf("seed %d: twice\n%sand\n%s", seed, show(lines), show(again))
		}
		spent := 0
		for _, l := range lines {
			spent += cost(l)
			if l.Text == "" || !slices.Contains(order, l.Section) {
				t.Errorf("seed %d: the line %+v", seed, l)
			}
		}
		if spent > o.Room {
			t.Errorf("seed %d: %d spent of %d", seed, spent, o.Room)
		}
		if !slices.IsSortedFunc(lines, func(a, b Line) int {
			if o.InOrder && partOf(a.Section) != partOf(b.Section) {
				return cmp.Compare(partOf(a.Section), partOf(b.Section))
			}
			sections := cmp.Compare(slices.Index(order, a.Section), slices.Index(order, b.Section))
			if a.Turn > 0 {
				sections = 0
			}
			turns := cmp.Compare(a.Turn, b.Turn)
			if o.InOrder {
				turns = -turns
			}
			return cmp.Or(turns, sections, cmp.Compare(a.Seq, b.Seq))
		}) {
			t.Errorf("seed %d: not in order\n%s", seed, show(lines))
		}
	}
}

func list0(list []digest.Fact) string {
	if len(list) == 0 {
		return ""
	}
	return list[0].Text
}

func BenchmarkChoose(b *testing.B) {
	list := random(rand.New(rand.NewPCG(1, 1)), 20_000)
	b.ReportAllocs()
	for b.Loop() {
		Choose(list, Options{Room: 12_000, Cost: cost})
	}
}

// TestRepeated has a prompt and a file that come again: they are as new as their newest use.
func TestRepeated(t *testing.T) {
	list := facts(prompt("go on then"), read("/p/a.go", ""), prompt("Mend the parser"),
		read("/p/b.go", ""), prompt("go on then"), read("/p/a.go", ""))
	contains(t, choose(list, 4000), "wanted: > go on then", "state: last steps: read a.go")
}

// TestNothingFails has acts that failed without leaving anything failing.
func TestNothingFails(t *testing.T) {
	lost := edited("a.go", "", 1, 1)
	lost.State = digest.Failed
	search := digest.Fact{Kind: digest.Search, State: digest.Failed, Text: "ran rg x docs"}
	for _, list := range [][]digest.Fact{
		facts(lost, failure(lost.ActKey(), "not read yet"), edited("a.go", "", 1, 1)),
		facts(lost, failure(lost.ActKey(), "not read yet")),
		facts(ran("diff a b", digest.Failed), failure("diff a b", "1c1")),
		facts(search, failure(search.ActKey(), "docs: no such file")),
		facts(ran("make", digest.Failed), failure("make", "missing brace"),
			ran("make", digest.Passed)),
	} {
		lacks(t, choose(list, endless), "failing")
	}
	contains(t, choose(facts(ran("make", digest.Failed), failure("make", "missing brace")),
		endless), "failing: missing brace")
}

// What did not build does, once tests run or another check passes.
func TestBuilds(t *testing.T) {
	error := failure("go build ./...", "a.go:3: not enough arguments in call to open")
	broken := facts(ran("go build ./...", digest.Failed), error)
	contains(t, choose(broken, endless), "failing: a.go:3: not enough arguments in call to open")
	for _, later := range []digest.Fact{ran("golangci-lint run", digest.Passed),
		tests("1 failed: TestA", digest.Failed)} {
		got := choose(facts(append(slices.Clone(broken), later)...), endless)
		lacks(t, got, "failing: a.go:3", "failing: ran go build")
	}
	vetted := digest.Fact{Kind: digest.Command, Key: "golangci-lint run", State: digest.Failed}
	if vetted.Builds() {
		t.Error("a linter does not build")
	}
}

func TestDroppedTodos(t *testing.T) {
	got := choose(facts(todo("Mend it", digest.Open), todo("Mend it", digest.Dropped)), endless)
	lacks(t, got, "Mend it")
}

func TestQuestions(t *testing.T) {
	q := digest.Fact{Kind: digest.Question, Text: "Which parser?"}
	contains(t, choose(facts(q), endless), "noted: asked, without an answer: Which parser?")
	q.State = digest.Done
	lacks(t, choose(facts(q), endless), "Which parser?")
}

// The facts belong to the caller, who chooses from them again.
func TestFactsStay(t *testing.T) {
	list := facts(prompt("Mend the parser of lines."),
		edited("/p/a/a.go", "", 1, 1), edited("/p/b/b.go", "", 1, 1),
		tests("1 passed", digest.Passed))
	list[3].Text = "ran go test /p/a/a.go: 1 passed"
	before := slices.Clone(list)
	choose(list, endless)
	if !reflect.DeepEqual(list, before) {
		t.Errorf("%+v\nwere %+v", list, before)
	}
}

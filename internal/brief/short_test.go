package brief

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// chooseShort is choose for a short brief.
func chooseShort(list []digest.Fact, room int) string {
	return show(Choose(list, Options{Room: room, Cost: cost, Short: true}))
}

func answer(text string) digest.Fact { return digest.Fact{Kind: digest.Answer, Text: text} }

func TestIsShort(t *testing.T) {
	for tokens, want := range map[int]bool{0: false, 1: true, 999: true, 1000: false, 4000: false} {
		if IsShort(tokens) != want {
			t.Errorf("IsShort(%d) = %t", tokens, !want)
		}
	}
}

// TestShortNeeds checks what a short brief has, whatever else was said.
func TestShortNeeds(t *testing.T) {
	for _, c := range []struct {
		name        string
		facts       []digest.Fact
		want, lacks []string
	}{
		{"the newest prompt",
			[]digest.Fact{prompt("Look into the weather of Oslo"),
				prompt("Now mend the parser of tables")},
			[]string{"wanted: > Now mend the parser of tables"}, nil},
		{"a prompt that says little, and the one before it",
			[]digest.Fact{prompt("Mend the parser of tables"), prompt("go on")},
			[]string{"wanted: > Mend the parser of tables", "wanted: > go on"}, nil},
		{"no older summary once the work has come further",
			[]digest.Fact{{Kind: digest.Recap, Text: "The scanner of tables loses the last cell"},
				prompt("Mend the parser of tables"), answer("The parser keeps the last cell now.")},
			[]string{"concluded: The parser keeps the last cell now."}, []string{"recap"}},
		{"no command of the client",
			[]digest.Fact{prompt("Mend the parser of tables"), prompt("/compact")},
			[]string{"wanted: > Mend the parser of tables"}, []string{"compact"}},
		{"all changed files, in one line", []digest.Fact{edited("/p/src/a.go", ": Parse", 3, 1),
			edited("/p/src/b.go", "", 1, 0),
			edited("/p/docs/x.md", "", 1, 0), read("/p/src/c.go", ""),
			edited("/p/src/a.go", ": Print", 1, 0)},
			[]string{"changed: a.go, b.go; …/docs/x.md"}, []string{"Parse"}},
		{"one changed file, as in a long brief", []digest.Fact{edited("/p/a.go", ": Parse", 3, 1)},
			[]string{"changed: edited a.go (+3 -1): Parse"}, nil},
		{"a deleted file",
			[]digest.Fact{edited("/p/a.go", "", 3, 1),
				{Kind: digest.Edit, Path: "/p/b.go", Text: "deleted /p/b.go"}},
			[]string{"changed: p/: b.go (deleted), a.go"}, nil},
		{"the newest test run",
			[]digest.Fact{tests("1 failed: TestA", digest.Failed), edited("/p/a.go", "", 1, 0),
				tests("9 passed", digest.Passed)},
			[]string{"state: ran go test: 9 passed"}, []string{"TestA"}},
		{"a run before the last change",
			[]digest.Fact{tests("9 passed", digest.Passed), edited("/p/a.go", "", 1, 0)},
			[]string{"state: ran go test: 9 passed, before the last change"}, nil},
		{"a build counts as a test", []digest.Fact{ran("go build ./...", digest.Passed)},
			[]string{"state: ran go build ./...: passed"}, nil},
		{"a failed build and its first error", []digest.Fact{ran("go build ./...", digest.Failed),
			failure("go build ./...", "a.go:3: missing brace"),
			failure("go build ./...", "a.go:9: missing return")},
			[]string{"failing: ran go build ./...", "failing: a.go:3: missing brace"},
			[]string{"a.go:9"}},
		{"no failure beside a test run",
			[]digest.Fact{failure("cat x", "cat: x: Is a directory"),
				tests("9 passed", digest.Passed)},
			[]string{"state: ran go test: 9 passed"}, []string{"cat"}},
		{"todo items of the work at hand", []digest.Fact{todo("Mend the printer", digest.Open),
			prompt("Mend the parser of tables"),
			todo("Mend it", digest.Active), todo("Test it", digest.Open)},
			[]string{"todo: active: Mend it", "todo: open: Test it"}, []string{"printer"}},
		{"an answer of a word or two, if there is no other", []digest.Fact{answer("No.")},
			[]string{"concluded: No."}, nil},
		{"no answer that only agrees",
			[]digest.Fact{prompt("Never push the parser of tables"), answer("Verstanden.")},
			[]string{"wanted: > Never push the parser of tables"}, []string{"Verstanden"}},
		{"what a question is answered with",
			[]digest.Fact{prompt("Is the parser of tables ready?"), answer("All done.")},
			[]string{"concluded: All done."}, nil},
		{"the newest answer, in one line",
			[]digest.Fact{prompt("Mend the parser of tables"),
				answer("The parser loses the last token of each line."), prompt("go on"),
				answer("Done.")},
			[]string{"concluded: The parser loses the last token of each line."}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := chooseShort(facts(slices.Concat(filler(300), c.facts)...), 1600)
			contains(t, got, c.want...)
			lacks(t, got, c.lacks...)
		})
	}
}

// TestShortCuts has more than fits: a prompt and a test run keep their beginnings and their ends,
// and the line of changed files keeps names.
func TestShortCuts(t *testing.T) {
	var list []digest.Fact
	for i := range 40 {
		list = append(list, edited(fmt.Sprintf("/p/src/file%d.go", i), "", 1, 0))
	}
	list = append(list,
		prompt("Begin with the parser of tables "+strings.Repeat("and words ", 90)+
			"but leave the scanner alone"),
		ran("go build "+strings.Repeat("./package ", 40)+"./last", digest.Passed))
	list[len(list)-1].Key = "go build ./package"
	got := chooseShort(facts(list...), 900)
	for _, want := range []string{"wanted: > Begin with the parser", "leave the scanner alone\n",
		"changed: file39.go, file38.go",
		"more\n", "state: ran go build ./package", "./last: passed\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%swithout %q", got, want)
		}
	}
	if strings.Count(got, " … ") != 2 {
		t.Errorf("got\n%s", got)
	}
}

// TestShortStory checks that single lines tell something by themselves.
func TestShortStory(t *testing.T) {
	recap := digest.Fact{Kind: digest.Recap,
		Text: "1. Initial Request: The user asked for `Agent` in the metadata"}
	got := chooseShort(facts(said("that's a good point."),
		said("Let me read more of auto_commit.go to see the checkpoint."), recap,
		read("/p/a.go", ""), digest.Fact{Kind: digest.Output, Text: "ok pkg/parser in 0.1 seconds"},
		answer("The parser loses the last token of each line."),
		said("Nine of `ListTokens` callers read the cache twice."),
		answer("The printer writes empty tables without a border")), endless)
	contains(t, got, "concluded: The printer writes empty tables without a border",
		"noted: The parser loses the last token of each line.",
		"noted: Nine of `ListTokens` callers read the cache twice.")
	lacks(t, got, "good point", "Let me", "Initial", "noted: read", "ok pkg")
}

// TestPrinted checks that nothing of a printed message is repeated, and that older states do not
// take the place of newer ones that are printed.
func TestPrinted(t *testing.T) {
	list := facts(tests("1 failed: TestA", digest.Failed), prompt("Mend the parser of tables"),
		edited("/p/a.go", "", 1, 0),
		tests("9 passed", digest.Passed), answer("The parser keeps the last token of each line."))
	printed := map[format.ID]bool{}
	for i := range list {
		list[i].Entry = format.Sum([]byte{byte(i)})
		printed[list[i].Entry] = i != 2
	}
	got := show(
		Choose(list,
			Options{Room: endless, Cost: cost, Short: true, Printed: printed}))
	if got != "changed: edited a.go (+1 -0)\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestWithoutAside(t *testing.T) {
	const begin, end = "The index of the second worktree was damaged again this morning when ",
		"jump to explanations that cross the worktrees just yet"
	for middle, want := range map[string]string{
		"I had pulled the newest changes, so let's not ": "… let's not ",
		"I had pulled the newest changes of the branch ": "… ",
		"it doesn't matter that I had pulled the newest changes of all of the branches " +
			"of my team ": "… ",
	} {
		got := withoutAside(begin+middle+end, 100)
		if !strings.Contains(got, want) || !strings.HasPrefix(got, begin[:40]) ||
			!strings.HasSuffix(got, end[30:]) || strings.Contains(got, "pulled") {
			t.Errorf("%q", got)
		}
	}
}

package brief

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// TestSteps checks what a brief says of the last steps of a turn that has not ended.
func TestSteps(t *testing.T) {
	asked := prompt("Mend the parser of tables")
	searched := digest.Fact{Kind: digest.Search, Text: "searched ListTokens in src: a.go, b.go"}
	printed := digest.Fact{Kind: digest.Output, Text: "release not found"}
	shown := ran("gh release view v1 # Look for the release", digest.Passed)
	long := ran("for f in "+strings.Repeat("file ", 30)+"; do cat $f; done # Show all", digest.Passed)
	for _, c := range []struct {
		name  string
		facts []digest.Fact
		want  string // "" for no line
	}{
		{"calls, in their order", facts(asked, read("/p/a.go", ": Parse, Scan, Print, Cut"), searched),
			"read a.go: Parse, Scan, Print; searched ListTokens in src: a.go, b.go"},
		{"what the model says that it does", facts(asked, said("Now I need to cut `ListTokens`."),
			said("Good."), said("Next:")), "Now I need to cut `ListTokens`"},
		{"what it said before the calls that do it", facts(asked,
			said("Now I need to cut `ListTokens`."), searched), "searched ListTokens in src: a.go, b.go"},
		{"a command without what it printed", facts(asked, shown, printed), "ran gh release view v1"},
		{"of a script its purpose", facts(asked, long), "ran: Show all"},
		{"a check that ended has its own line", facts(asked, tests("9 passed", digest.Passed)), ""},
		{"what was looked at since the newest change", facts(asked, read("/p/b.go", ""),
			edited("/p/a.go", "", 1, 0), searched),
			"edited a.go; searched ListTokens in src: a.go, b.go"},
		{"how each ended, in the order of time", facts(asked,
			ran("git merge origin/main --no-edit # Merge the branch: exit status 1", digest.Failed),
			edited("/p/a.go", ": Parse", 1, 0), tests("9 passed", digest.Passed), shown),
			"ran git merge origin/main --no-edit: exit status 1; edited a.go; ran go test: 9 passed; " +
				"ran gh release view v1"},
		{"a script that failed", facts(asked, ran("for f in "+strings.Repeat("file ", 30)+
			"; do cat $f; done # Show all: exit status 2", digest.Failed)), "ran: Show all: exit status 2"},
		{"none after the answer", facts(asked, searched, answer("The parser keeps all tokens.")), ""},
		{"none of an older turn", facts(asked, searched, prompt("Now print the tables")), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, short := range []bool{false, true} {
				got := show(Choose(c.facts, Options{Room: 2000, Cost: cost, Short: short}))
				if c.want == "" {
					lacks(t, got, lastSteps)
				} else {
					contains(t, got, "state: "+lastSteps+c.want)
				}
			}
		})
	}
	t.Run("the newest, if not all fit", func(t *testing.T) {
		list := []digest.Fact{asked}
		for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") {
			list = append(list, read("/p/"+strings.Repeat(name, 60)+".go", ""))
		}
		got := choose(facts(list...), 1000)
		if !strings.Contains(got, "zzz.go\n") || strings.Contains(got, "aaa.go") {
			t.Error(got)
		}
	})
}

// TestPlanFills checks that room which is left goes to the plan that a session carries out, until
// somebody asks for something.
func TestPlanFills(t *testing.T) {
	list := of(one(
		digest.Fact{Kind: digest.Report, Key: digest.Plan, Text: "is to carry out a plan"},
		digest.Fact{Kind: digest.Said, Key: digest.Title, Text: "`src/parser/table.go` (line 640)"},
		said("Update the parser of tables to return `ListTokens` in one pass"),
		digest.Fact{Kind: digest.Code, Text: "mise run fmt && mise run test:ci"}),
		one(read("/p/a.go", "")))
	contains(t, choose(list, endless),
		"noted: `src/parser/table.go` (line 640); Update the parser of tables to return "+
			"`ListTokens` in one pass; mise run fmt && mise run test:ci")
	lacks(t, choose(append(list, of(nil, nil, one(prompt("Now print all tables")))...), endless),
		"test:ci")
}

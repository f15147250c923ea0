package brief

import (
	"slices"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// TestOver checks, for each kind of state that ends, that a line of it is overruled by what ends
// it, and by nothing else.
func TestOver(t *testing.T) {
	run := func(key string, state digest.State, test bool) digest.Fact {
		return digest.Fact{Kind: digest.Command, Key: key, Text: "ran " + key, State: state,
			Test: test}
	}
	which := func(answer string) digest.Fact {
		return digest.Fact{Kind: digest.Decision, Text: "Which store? → " + answer}
	}
	task, edit := prompt("Mend the lexer of the harbour"), edited("x/lexer.go", ": readToken", 3, 1)
	guess := answer("The lexer of the harbour might drop a sign of the tide.")
	settles := answer("It is the tide: the lexer of the harbour drops no sign.")
	lists := answer("There is no limit of that in the port.")
	kept := answer("Two commits are not pushed.")
	push := digest.Fact{Kind: digest.Act, Text: "ran git push"}
	done := answer("The lexer of the harbour is as it was wanted.")
	fails := run("go test ./...", digest.Failed, true)
	passes := run("mise exec -- go", digest.Passed, true)
	two := run("go test ./...", digest.Failed, true)
	two.Text = "ran go test ./...: 2 failed: TestLists, TestTax"
	alone := run("go test ./price -run TestLists", digest.Passed, true)
	taxes := run("go test ./price -run TestTax", digest.Passed, true)
	lints := run("make lint", digest.Failed, false)
	lint := run("golangci-lint run", digest.Passed, false)
	lack := said("`readToken` still needs a limit for numbers.")
	anywhere := said("There is no limit of that yet.")
	bug := answer("`readToken` in lexer.go takes a wrong turn: a bug.")
	asks := answer("Shall I mend the parser of the port, too?")
	stand := said("The gauges of the port stand in the north.")
	runs, broken := said("The gauges are running."), said("Two tests of the harbour fail.")
	plan := digest.Fact{Kind: digest.Recap, Key: digest.Current, Text: "Look at the gauges"}
	place := said("I'm on `fix/lexer`, two commits ahead by now.")
	unset := said("`core.hooksPath` is not set.")
	set := run("git config core.hooksPath .hooks", digest.Passed, false)
	out := func(name string) digest.Fact {
		return digest.Fact{Kind: digest.Branch, Text: "on branch " + name}
	}
	next := said("Now I'll mend the tide of the gauge.")
	names := said("Now I'll mend `readToken` of the lexer.")
	commit := digest.Fact{Kind: digest.Commit, Key: "commit", Text: "committed: x",
		State: digest.Passed}
	for _, c := range []struct {
		name  string
		first digest.Fact
		later []digest.Fact
		want  bool
	}{
		{"a lack, and an edit of its subject", lack, one(edit), true},
		{"a lack, and an edit of another file", lack, one(edited("x/gauge.go", "", 1, 0)), false},
		{"a lack without a name, in a turn that changed files", anywhere, one(edit, done), true},
		{"a lack without a name, in a turn that has not ended", anywhere, one(edit), false},
		{"an item of a list that names a file, and an edit of it",
			listed("", "`lexer.go`: the tide in two places")[0], one(edit), true},
		{"an item of a list that names another file",
			listed("", "`gauge.go`: the tide, as in lexer.go")[0], one(edit), false},
		{"a guess, and an answer about the same", guess, one(prompt("Is it so?"), settles), true},
		{"a guess, and an answer about another thing", guess,
			one(prompt("Mend the gauges"), answer("The gauges of the port are mended.")), false},
		{"a lack, and the order to end it", lists, one(prompt("fix all of them"), edit, done), true},
		{"a lack, and another order", lists, one(prompt("Mend the gauges"), edit, done), false},
		{"what is not pushed, and a push", kept, one(prompt("Push the gauges"), push), true},
		{"what is not pushed", kept, one(prompt("Mend the gauges"), edit, done), false},
		{"a bug, and an edit of its file", bug, one(prompt("Mend it"), edit), true},
		{"a bug, and other words", bug, one(prompt("Mend the gauges first"), done), false},
		{"a list, and what was chosen of it", bug, one(prompt("1 and 3"), edit), false},
		{"a question, and a prompt", asks, one(prompt("No, look at the gauges of the port")), true},
		{"a question, and a prompt that says nothing without it", asks, one(prompt("yes")), false},
		{"a question, and yes with a but", asks, one(prompt("ja, aber ohne den Hafen")), false},
		{"a question, and a prompt that says nothing without it, and a change", asks,
			one(prompt("yes"), edit), true},
		{"words that lead to a choice", said("There are three ways to go on with the harbour."),
			one(which("Postgres")), true},
		{"a finding before a choice", said("The lexer of `port.go` reads each sign twice."),
			one(which("Postgres")), false},
		{"words before a choice that other words lead to", stand, one(said("Two ways are left now."),
			which("Postgres")), false},
		{"a clean work tree, and a change", answer("The working tree is clean by now."), one(edit), true},
		{"a step to clean up, and a change", answer("Clean up after it: add a hook to clean the port."),
			one(edit), false},
		{"a clean work tree", answer("The working tree is clean by now."), one(push), false},
		{"a question that waits", asks, nil, false},
		{"what runs, and later words", runs, one(said("The port has a gauge.")), true},
		{"what runs still", runs, one(edit), false},
		{"a branch, and another one", place, one(out("fix/gauge")), true},
		{"a branch that is shown again", place, one(out("fix/lexer")), false},
		{"a lack, and a command that ends it", unset, one(set), true},
		{"a lack, and another command", unset, one(run("cat core.hooksPath", digest.Passed, false)),
			false},
		{"a lack without a name, and a check that passes", anywhere, one(edit, passes), true},
		{"what comes next, and calls", next, one(read("/p/a.go", ""), read("/p/b.go", ""), set), true},
		{"what comes next", next, one(read("/p/a.go", "")), false},
		{"what comes next, and a change of it", names, one(edit), true},
		{"a commit to be made, and made", said("I'm committing that one file now."), one(commit), true},
		{"tests that fail, and pass by another command", fails, one(passes), true},
		{"tests that fail, and one of them that passes", two, one(alone), false},
		{"tests that fail, and one after the other that passes", two, one(alone, taxes), true},
		{"tests that fail, and others by their names", fails, one(taxes), true},
		{"a linter that fails, and tests that pass", lints, one(passes), false},
		{"a linter that fails, an edit, and tests that pass", lints, one(edit, passes), true},
		{"a linter that fails, and another that passes", lints, one(lint), true},
		{"tests that fail, and a linter that passes", fails, one(lint), false},
		{"words about them, and tests that pass", broken, one(passes), true},
		{"words about them, and a linter that passes", broken, one(lint), false},
		{"an active item, and a commit with an answer", todo("Mend it", digest.Active),
			one(commit, done), true},
		{"an active item", todo("Mend it", digest.Active), one(edit), false},
		{"a decision, and a prompt against it", which("Postgres"),
			one(prompt("Take SQLite instead of Postgres")), true},
		{"a decision, and another prompt", which("Postgres"), one(prompt("Go on")), false},
		{"a decision for nothing", which(""), one(prompt("Do not wait for it")), false},
		{"what a summary has as next, and an answer", plan, one(done), true},
		{"what a summary has as next", plan, one(edit), false},
		{"what a summary has as next, and a change that somebody asked for since", plan,
			one(prompt("Mend the gauges"), edit), true},
		{"an open item, and two turns that ended", todo("Mend it", digest.Open),
			one(done, prompt("Mend the gauges"), edit, settles, prompt("Go on")), true},
		{"an open item, and a turn that changed nothing", todo("Mend it", digest.Open),
			one(done, prompt("Is it so?"), settles, prompt("Go on")), false},
		{"an open item, and a turn that goes on", todo("Mend it", digest.Open),
			one(done, prompt("Mend the gauges"), edit), false},
		{"an open item of a turn that was stopped", todo("Mend it", digest.Open),
			one(prompt("Mend the gauges"), edit, settles, prompt("Go on")), false},
	} {
		over := Overruled(facts(slices.Concat(one(task, c.first), c.later)...), Root{})
		got := slices.ContainsFunc(over, func(f digest.Fact) bool { return f.Text == c.first.Text })
		if got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

// TestPlanAtHand checks that an edit does not end what a list says that the model is at, before the
// turn has an answer.
func TestPlanAtHand(t *testing.T) {
	review := listed("", "1. The harbour check of `lexer.go` lost its limit.", "It counts twice.",
		"2. The gauge of the port is stale.")
	one := listed("", "The harbour check of lexer.go lost its limit.")
	task, edit := []digest.Fact{prompt("Mend the lexer")},
		[]digest.Fact{edited("x/lexer.go", ": readToken", 3, 1)}
	done := []digest.Fact{answer("The lexer of the harbour is as it was wanted.")}
	for _, c := range []struct {
		name string
		list []digest.Fact
		want int
	}{
		{"in a turn that goes on", of(task, review, edit), 0},
		{"one thing", of(task, one, edit), 1},
		{"in a turn that ended", of(task, review, edit, done), 3},
		{"before another prompt", of(task, review, edit, done, task), 3},
	} {
		if over := Overruled(c.list, Root{}); len(over) != c.want {
			t.Errorf("%s: %d overruled, want %d: %v", c.name, len(over), c.want, over)
		}
	}
}

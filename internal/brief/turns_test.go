package brief

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/digest"
)

// of makes the facts of one message each.
func of(messages ...[]digest.Fact) []digest.Fact {
	var list []digest.Fact
	for n, m := range messages {
		for i := range m {
			m[i].Seq, m[i].Pos, m[i].Entry = uint64(n+1), i, format.ID{byte(n + 1)}
		}
		list = append(list, m...)
	}
	return list
}

func one(f ...digest.Fact) []digest.Fact { return f }

// TestTurns checks what a brief makes of prompts and what came of them.
func TestTurns(t *testing.T) {
	refused := digest.Fact{Kind: digest.Decision, Text: digest.Refused + "ran git push"}
	words := prompt("ask me before you push anything")
	words.Key = digest.Refused
	notYet := prompt("not yet, run the tests of the tables first")
	notYet.Key = digest.Refused
	pushed := digest.Fact{Kind: digest.Command, Text: "ran git push: passed", State: digest.Passed}
	commit := digest.Fact{Kind: digest.Commit, Key: "commit", State: digest.Passed,
		Text: "committed: Use version two"}
	tests := digest.Fact{Kind: digest.Command, Key: "go test ./...", Text: "$ go test ./... → passed",
		Test: true, State: digest.Passed}
	leftOut := answer("renaming the printer to Hugo in the whole building")
	leftOut.Heading, leftOut.Key = "Out of scope", digest.Item
	long := one(prompt("Rewrite the parser of tables for speed."))
	for range 12 {
		long = append(long, prompt("Each row of cells has borders and some padding around it."))
	}
	for i := range long {
		long[i].Text += strings.Repeat(" again", i)
	}
	for _, c := range []struct {
		name  string
		facts []digest.Fact
		want  string
	}{
		{"the newest first, each prompt before its answer",
			of(one(prompt("Mend the parser of tables")),
				one(answer("The parser keeps the last token of each line now.")),
				one(prompt("Print the tables without borders")),
				one(answer("The printer leaves the borders of tables out."))),
			`wanted: > Print the tables without borders
concluded: The printer leaves the borders of tables out.
wanted: > Mend the parser of tables
concluded: The parser keeps the last token of each line now.
`},
		{"a conclusion that was overtaken is one no more",
			of(one(prompt("Mend the old version of the tree")),
				one(answer("The tree is back at version one as before.")),
				one(prompt("Use version two for the tree now")), one(commit)),
			`wanted: > Use version two for the tree now
noted: committed: Use version two
wanted: > Mend the old version of the tree
noted: The tree is back at version one as before.
`},
		{"a state that has ended is no conclusion",
			of(one(prompt("Bump the parser of the port")),
				one(answer("The tests still fail, as the parser of the port is too old.")),
				one(prompt("fix it now, for the whole of the port")),
				one(tests)),
			`wanted: > fix it now, for the whole of the port
state: $ go test ./... → passed
wanted: > Bump the parser of the port
`},
		{"a number of tests replaces the one of before",
			of(one(prompt("Mend the lexer of the harbour")),
				one(answer("All 1274 tests of the harbour pass.")),
				one(prompt("Mend the parser of the port")),
				one(answer("All 1281 tests of the harbour pass."))),
			`wanted: > Mend the parser of the port
concluded: All 1281 tests of the harbour pass.
wanted: > Mend the lexer of the harbour
`},
		{"what is left out stands below its heading, and not for the answer",
			of(one(prompt("Why does the printer of the port stand still?")),
				one(answer("It is out of paper."), leftOut),
				one(prompt("Fill the printer up with paper of the harbour"))),
			`wanted: > Fill the printer up with paper of the harbour
wanted: > Why does the printer of the port stand still?
concluded: It is out of paper. Out of scope: renaming the printer to Hugo in the whole building
`},
		{"a question that has its answer is no conclusion",
			of(one(prompt("Move the printer of the port")),
				one(answer("Should I move the scanner of lamps, too?")),
				one(prompt("Leave the scanner where it stands")),
				one(answer("The printer stands in the harbour now."))),
			`wanted: > Leave the scanner where it stands
concluded: The printer stands in the harbour now.
wanted: > Move the printer of the port
`},
		{"words to a refused call, and rules, come first",
			of(one(prompt("Never change the files of the vendor directory.")),
				one(answer("The vendor directory stays as it is from now on.")),
				one(refused, words), one(prompt("Mend the parser of tables"))),
			`heed: > Never change the files of the vendor directory.
heed: > ask me before you push anything
wanted: > Mend the parser of tables
wanted: > Never change the files of the vendor directory.
concluded: The vendor directory stays as it is from now on.
`},
		{"words to a refused call that ran later are over, unless they are a rule",
			of(one(refused, notYet), one(refused, words), one(pushed),
				one(prompt("Mend the parser of tables"))),
			`heed: > ask me before you push anything
wanted: > Mend the parser of tables
`},
		{"words to a refused call that did not run later stay",
			of(one(refused, notYet), one(prompt("Mend the parser of tables"))),
			`heed: > not yet, run the tests of the tables first
wanted: > Mend the parser of tables
`},
		{"of rules about the same the newest holds",
			of(one(prompt("Never push to the branch of the review.")),
				one(answer("The branch of the review stays as it is from now on.")),
				one(prompt("You may push to the branch of the review now.")),
				one(answer("Pushed to the branch of the review.")),
				one(prompt("Mend the parser of tables"))),
			`heed: > You may push to the branch of the review now.
wanted: > Mend the parser of tables
`},
		{"a newest prompt that is a rule stands there once",
			of(one(read("/p/a.go", "")), one(prompt("Never change the files of the vendor."))),
			"wanted: > Never change the files of the vendor.\n"},
		{"the aim of a long prompt", of(long),
			"wanted: > Rewrite the parser of tables for speed. Each row"},
		{"an answer ends with its question",
			of(one(prompt("Look into the parser of tables")), one(
				answer("The parser loses the last token of each line."),
				answer(strings.Repeat("It reads every line of a table twice. ", 40)),
				answer("Shall I mend the parser?"))),
			"wanted: > Look into the parser of tables\n" +
				"concluded: The parser loses the last token of each line. … Shall I mend the parser?\n"},
		{"a prompt that says little stands with the question before it",
			of(one(prompt("Look into the parser of tables")),
				one(answer("The parser loses the last token of each line."),
					answer("Shall I mend the parser?")), one(prompt("yes"))),
			`wanted: > yes
wanted: > Look into the parser of tables
concluded: The parser loses the last token of each line. Shall I mend the parser?
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, short := range []bool{false, true} {
				got := show(Choose(slices.Clone(c.facts),
					Options{Room: 3000, Cost: cost, Short: short}))
				if !strings.HasPrefix(got, c.want) || strings.Count(got, "files:") > 1 {
					t.Errorf("short %t: got\n%swant\n%s", short, got, c.want)
				}
			}
		})
	}
}

// TestQuestionWithAnswer has more questions than fit: each is there with its answer or not at all.
// TestOverNow checks what a brief leaves out because the work has come further, or because it says
// nothing of the work.
func TestOverNow(t *testing.T) {
	recap := digest.Fact{Kind: digest.Recap, Text: "The printer of trees in printer.go does not build",
		Key: digest.Current}
	committed := digest.Fact{Kind: digest.Commit, Key: "commit", State: digest.Passed,
		Text: "committed: Keep the last token (1a2b3c4)"}
	act := read("/p/x.go", "")
	slip := failure(act.ActKey(), "File does not exist. Did you mean parser.go?")
	asked := digest.Fact{Kind: digest.Task, Text: "Report the findings of each parser with file names"}
	work := []digest.Fact{recap, asked, prompt("Mend the parser of tables"),
		todo("Keep the last token", digest.Active), todo("Document the parser", digest.Open),
		act, slip, slip, slip, committed}
	got := choose(facts(work...), endless)
	contains(t, got, "recap: The printer of trees in printer.go does not build",
		"todo: active: Keep the last token")
	lacks(t, got, "Report the findings", "File does not exist")
	got = choose(facts(append(work, answer("The parser keeps the last cell of each row now."))...),
		endless)
	contains(t, got, "todo: open: Document the parser")
	lacks(t, got, "recap", "active")
}

// TestLinesOfAnAnswer has the lines of an answer apart, as its author wrote them.
func TestLinesOfAnAnswer(t *testing.T) {
	list := facts(prompt("Review the parser of the lexer"),
		answer("What is wrong in the parser"), answer("It loses the last token of each line."),
		answer("Cause | Row | Count"), answer("It reads `a.go` twice"), answer("Three more are slight and stay as they are:"))
	for i := 2; i < len(list); i++ {
		list[i].Seq, list[i].Pos = list[1].Seq, i
	}
	contains(t, choose(list, endless), "concluded: What is wrong in the parser; It loses the last "+
		"token of each line. It reads `a.go` twice; Three more are slight and stay as they are: …")
}

// TestLeadOfAnAnswer has answers of which the first line announces a list that is too long, and
// lines that only lead to the next one.
func TestLeadOfAnAnswer(t *testing.T) {
	long := answer("1. The lexer keeps bytes" + strings.Repeat(" and counts them", 12))
	title := answer("What the lexer does")
	title.Key = digest.Title
	for _, c := range []struct {
		name  string
		facts []digest.Fact
		want  string
	}{
		{"a list", one(answer("The parser loses the last token of each line:"), long),
			"The parser loses the last token of each line: 1. The lexer keeps bytes and counts"},
		{"a heading", one(answer("The parser loses the last token of each line."), title,
			answer("The lexer of tables keeps all bytes of lines.")),
			"token of each line. The lexer of tables keeps"},
		{"an announcement", one(answer("I have a full picture of the parser and lexer now."),
			answer("The lexer of tables keeps all bytes of lines.")), "The lexer of tables keeps all bytes of lines."},
		{"no", one(answer("No."), answer("The lexer of tables keeps all bytes of lines.")), "No. The lexer"},
	} {
		got := choose(of(one(prompt("Why does it lose tokens")), c.facts, one(prompt("Look at the "+
			"printer of trees")), one(answer("The printer of trees is sound and stays."))), endless)
		if !strings.Contains(got, "concluded: "+c.want) &&
			!strings.Contains(got, "concluded: The parser loses the last "+c.want) {
			t.Errorf("%s: got\n%swant %s", c.name, got, c.want)
		}
	}
}

// TestConclusion has answers with a list that cannot be begun in its middle: what stands behind it
// says what came of the turn, or else the whole list does. What only leads to a list that is not
// there says nothing.
func TestConclusion(t *testing.T) {
	item := func(text string) digest.Fact {
		f := answer(text)
		f.Key = digest.Item
		return f
	}
	list := one(answer("It has:"), item("1. Causes:"),
		item("2. The lexer of tables keeps all bytes of lines."))
	behind := answer("The parser of tables loses the last token of each line.")
	for want, said := range map[string][]digest.Fact{
		"The parser of tables loses":      append(slices.Clone(list), behind),
		"It has: 1. Causes: 2. The lexer": list,
		"It has: The lexer of tables keeps all bytes of lines.": one(answer("It has:"),
			item("The lexer of tables keeps all bytes of lines."), behind),
		"The printer": one(answer("Open items (9):")),
	} {
		got := choose(of(one(prompt("Why does it lose tokens")), said, one(prompt("Look at the "+
			"printer of trees")), one(answer("The printer of trees is sound and stays."))), endless)
		if !strings.Contains(got, "concluded: "+want) || strings.Contains(got, "Open items") {
			t.Errorf("got\n%swant %s", got, want)
		}
	}
}

// TestCarriedOut has a plan, and what a subagent found for it: once the work has ended, neither
// says how things are.
func TestCarriedOut(t *testing.T) {
	plan := digest.Fact{Kind: digest.Report, Text: "No package of versions exists in the repository."}
	back := digest.Fact{Kind: digest.Returned, Text: "Main has no subcommand for its version."}
	wrote := digest.Fact{Kind: digest.Edit, Path: "v/v.go", Text: "wrote v/v.go", Added: 9}
	before := of(one(prompt("Print the version of the program")), one(plan, back))
	after := of(one(prompt("Print the version of the program")), one(plan, back), one(wrote),
		one(answer("The program prints its version now.")), one(prompt("Tidy the printer of trees")))
	for _, f := range one(plan, back) {
		contains(t, choose(before, endless), f.Text)
		if got := choose(after, endless); strings.Contains(got, f.Text) {
			t.Error(got)
		}
	}
}

// TestHeededInShort checks that a prompt whose words stand as what to heed is not told twice.
func TestHeededInShort(t *testing.T) {
	rule := "Never change the files of the vendor directory, neither by hand nor by a program."
	got := choose(of(one(prompt(rule)), one(answer("The vendor directory stays as it is from now on.")),
		one(prompt("Mend the parser of tables"))), endless)
	contains(t, got, "heed: > "+rule)
	contains(t, got, "wanted: > Never change the files of the … by a program.")
	if strings.Count(got, rule) != 1 {
		t.Error(got)
	}
}

// TestNewestSayMost has turns of one long answer each: in a rendering the newer ones say more of
// it, and one that the user doubts says little.
func TestNewestSayMost(t *testing.T) {
	var messages [][]digest.Fact
	for i := range 8 {
		word := string(rune('a'+i)) + "word"
		ask := prompt("Why does the " + word + "Parser read tables twice?")
		if i == 5 {
			ask = prompt("I doubt that the " + word + "Parser reads tables twice. Are you sure?")
		}
		var said []digest.Fact
		for n := range 12 {
			said = append(said, answer(fmt.Sprintf("It reads the header %d of %s tables before all "+
				"other lines of the file.", n, word)))
		}
		messages = append(messages, one(ask), said)
	}
	size := map[int]int{} // of the conclusion, by how many turns came after it
	for _, l := range Choose(of(messages...), Options{Room: 9000, Cost: cost, InOrder: true}) {
		if l.Section == Concluded {
			size[l.Turn] = len(l.Text)
		}
	}
	if size[1] <= size[2] || size[2] <= size[5] || size[3] > maxCame+80 || size[5] < leastCut {
		t.Errorf("lengths by age: %v", size)
	}
}

// TestEndOfNewestAnswer has a long answer, the last sentence of which says what is next.
func TestEndOfNewestAnswer(t *testing.T) {
	said := []digest.Fact{answer("The parser of tables loses the last token of each line.")}
	for n := range 30 {
		said = append(said, answer(fmt.Sprintf("Table %d of the parser has %d lost tokens.", n, 3*n)))
	}
	said = append(said, answer("Say the word and I mend the scanner of lamps next."))
	list := of(one(prompt("Why does it lose tokens")), said)
	got := choose(list, 3000)
	if !strings.Contains(got, "each line. Table 0") || !strings.Contains(got, " … Say the word") {
		t.Error(got)
	}
}

func TestQuestionWithAnswer(t *testing.T) {
	var messages [][]digest.Fact
	for i := range 40 {
		word := string(rune('a'+i%26)) + string(rune('a'+i/26)) + "word"
		messages = append(messages, one(prompt("Why does the "+word+"Parser read tables twice?")),
			one(answer("It reads the header of "+word+" tables before the other lines.")))
	}
	lines := Choose(of(messages...), Options{Room: 1500, Cost: cost})
	asked := 0
	for i, l := range lines {
		if l.Section != Wanted {
			continue
		}
		asked++
		if i+1 == len(lines) || lines[i+1].Section != Concluded || lines[i+1].Turn != l.Turn {
			t.Errorf("%q stands without its answer\n%s", l.Text, show(lines))
		}
	}
	if asked < 5 || asked == 40 {
		t.Errorf("%d questions", asked)
	}
}

// TestPast checks that what was refuted, offered or removed has no line beside the answer of its
// turn, and that what gets in the way of the work has one.
func TestPast(t *testing.T) {
	said := func(text string) digest.Fact { return digest.Fact{Kind: digest.Said, Text: text} }
	fatal := digest.Fact{Kind: digest.Failure, Key: "git checkout main",
		Text: "fatal: 'main' is already used by worktree at '/work/cli'"}
	later := digest.Fact{Kind: digest.Command, Key: "git checkout main", State: digest.Passed,
		Text: "ran git checkout main"}
	ran := later
	ran.State = digest.Failed
	look := digest.Fact{Kind: digest.Search, Text: "searched tides"}
	again := digest.Fact{Kind: digest.Failure, Key: look.ActKey(), Text: "ENOENT: posix_spawn rg"}
	cause := said("The watcher of the shell skips files that a pipe removes from the index.")
	found := answer("The pipe of the shell hides removed files from the watcher.")
	ratio := said("Lines with few letters of the alphabet count as trivial structure here.")
	newest := one(prompt("Print the tables without borders"))
	faults := one(answer("The watcher of the shell looks for its index in the wrong directory, "+
		"below the one in which it was begun, and finds none of the files there."),
		answer("The third fault of the printer still needs a look at how it stores the tides."))
	mended := one(answer("The watcher of the shell looks for its index in the root directory, and " +
		"the printer stores tides there."))
	for _, c := range []struct {
		name       string
		facts      []digest.Fact
		has, lacks string
	}{
		{"a doubt", of(one(prompt("Why does the watcher miss files")), one(cause), one(found),
			one(prompt("the outcome of the pipe was clearly stored")), newest),
			found.Text, cause.Text},
		{"a doubt is told", of(one(prompt("Why does the watcher miss files")), one(found),
			one(prompt("no, the pipe is read before")), newest),
			"concluded: (doubted in 03000000) The pipe", "overturned"},
		{"more of what is doubted says so", of(one(prompt("Why does the watcher miss files")),
			append(slices.Clone(faults), answer("Its `index` of the harbour counts a file twice.")),
			one(prompt("no, the pipe is read before")), newest),
			"Its `index` of the harbour", "noted: The"},
		{"what a later turn told again, where there is room", of(one(prompt("Look for faults")),
			append(slices.Clone(faults), answer("Its `gauge` of the harbour counts each tide twice.")),
			one(prompt("write that into a document")), one(edited("/p/a.md", "", 9, 0)), mended,
			newest),
			"Its `gauge` of the harbour", "doubted"},
		{"the model gives in", of(one(prompt("Why does the watcher miss files")), one(found),
			one(prompt("but the pipe is read before")), one(said("You're right, it is not the pipe.")),
			newest), "concluded: (overturned in 04000000) The pipe", "doubted"},
		{"the model gives in later", of(one(prompt("Why does the watcher miss files")), one(found),
			one(prompt("mend the watcher of files")), one(said("The watcher reads a pipe of files.")),
			one(said("I was wrong about the second gauge of tides.")), newest),
			"concluded: The pipe", "overturned"},
		{"no doubt", of(one(prompt("Why does the watcher miss files")), one(cause), one(found),
			one(prompt("mend the watcher of files then")), newest), cause.Text, "doubt"},
		{"a removal", of(one(prompt("Skip trivial lines of the parser")), one(ratio),
			one(answer("The parser skips lines by an alphanumeric ratio heuristic.")),
			one(prompt("let's do length only")),
			one(answer("The alphanumeric ratio heuristic of the parser is gone.")), newest),
			"is gone", ratio.Text},
		{"what was found, once it was mended and told again",
			of(one(prompt("Look for faults")), faults, one(prompt("mend all of them please")), one(edited("/p/a.go", "", 3, 1)), mended, newest),
			"concluded: The watcher of the shell looks for its index in the wrong", "third fault"},
		{"what was found, as long as no file was changed", of(one(prompt("Look for faults")), faults,
			one(prompt("say it in one sentence")), mended, newest), "third fault", "doubted"},
		{"an answer of one word beside the one before it", of(one(prompt("Look for faults")), faults,
			one(prompt("/exit")), one(answer("Done.")), newest),
			"concluded: The watcher of the shell", "Done"},
		{"offers", of(one(prompt("Move the package of gauges")),
			one(answer("Option A: Keep the name of the package of gauges."),
				answer("Option B: Rename the package of gauges to tides."),
				answer("I recommend to keep the name and to move the directory.")), newest),
			"recommend", "Option"},
		{"what was found before the offers", of(one(prompt("Move the package of gauges")),
			one(answer("The package of gauges has the name of one of tides."),
				answer("Option A: Keep the name of the package of gauges."),
				answer("Option B: Rename the package of gauges to tides.")), newest),
			"has the name", "Option"},
		{"what was said before the change that the answer tells",
			of(one(prompt("Mend the watcher of files")), one(cause),
				one(edited("/p/a.go", "", 3, 1)), one(found), newest), found.Text, cause.Text},
		{"the same request again", of(one(prompt("Review the watcher and the tides of the port")),
			one(found), one(prompt("review the watcher of tides"))),
			"concluded: (asked again in 03000000) The pipe", "doubted"},
		{"another request", of(one(prompt("Review the watcher and the tides of the port")),
			one(found), one(prompt("review the gauges of tides"))), "concluded: The pipe", "again"},
		{"proposals that were chosen from", of(one(prompt("Plan the watcher")), slices.Concat(faults,
			one(answer("Shall the root directory win?"))), one(prompt("the root directory does")),
			mended, newest), "stores tides there", "third fault"},
		{"git refused", of(newest, one(ran, fatal)), fatal.Text, "passed"},
		{"git refused first", of(newest, one(ran, fatal), one(later)), "tables", fatal.Text},
		{"once", of(newest, one(look, again), one(later)), "tables", again.Text},
		{"refused at the end", of(newest, one(digest.Fact{Kind: digest.Decision,
			Text: digest.Refused + "ran brew tap tides"})), "decided: the user refused: ran brew", "passed"},
		{"at the end, on a file", of(newest, one(digest.Fact{Kind: digest.Edit, Path: "/p/a.go",
			State: digest.Failed, Text: "edited /p/a.go: failed"}, digest.Fact{Kind: digest.Failure,
			Key: "edit /p/a.go", Text: "String to replace not found"})), "a.go: String to", "passed"},
		{"at the end", of(newest, one(look, again)), again.Text, "passed"},
		{"again and again", of(newest, one(look, again), one(look, again), one(look, again)),
			again.Text, "passed"},
	} {
		text := ""
		for _, l := range Choose(c.facts, Options{Room: 4000, Cost: cost}) {
			text += string(l.Section) + ": " + l.Text + "\n"
		}
		if !strings.Contains(text, c.has) || strings.Contains(text, c.lacks) {
			t.Errorf("%s: the brief is\n%s", c.name, text)
		}
	}
}

// TestRoomLeft checks that a short session fills its brief with what prompts and answers list and
// with what was written, and that no such line takes the place of one that tells something alone.
func TestRoomLeft(t *testing.T) {
	written := digest.Fact{Kind: digest.Written, Path: "lamp.go",
		Text: "Tide returns the height of the water at the lamp in centimetres."}
	thin := digest.Fact{Kind: digest.Written, Path: "lamp.go", Text: "Clean now."}
	list := of(one(prompt("Teach the lamps of the harbour to know the tide")), one(written, thin),
		one(answer("The lamps of the harbour ask the gauge of the tide each minute.")))
	contains(t, choose(list, endless), "noted: in lamp.go: "+written.Text)
	if got := choose(list, endless); strings.Contains(got, thin.Text) {
		t.Errorf("a line that tells nothing:\n%s", got)
	}
	full := show(Choose(list, Options{Room: 180, Cost: cost}))
	contains(t, full, "concluded: "+list[3].Text)
	if strings.Contains(full, written.Text) {
		t.Errorf("a line beside others in a full brief:\n%s", full)
	}
}

// TestTakenBack has rules that the user lifted, and decisions that a later answer or prompt
// replaces.
func TestTakenBack(t *testing.T) {
	which := func(answer string) digest.Fact {
		return digest.Fact{Kind: digest.Decision, Text: "Which database? → " + answer}
	}
	rule := prompt("Never push the branch of the harbour")
	for _, c := range []struct {
		name, has, lacks string
		facts            []digest.Fact
	}{
		{"lifted", "", "heed: > Never", of(one(rule), one(answer("I keep to that from now on.")),
			one(prompt("It is fine to push the branch of the harbour now")),
			one(answer("The branch of the harbour is pushed now.")), one(prompt("Look at the gauges")))},
		{"lifted by the newest prompt", "", "heed: > Never", of(one(rule),
			one(answer("I keep to that from now on.")),
			one(prompt("You may push the branch of the harbour now")))},
		{"holds", "heed: > Never", "", of(one(rule), one(answer("I keep to that from now on.")),
			one(prompt("It is fine to touch the schema now")), one(answer("The schema is changed.")),
			one(prompt("Look at the gauges")))},
		{"answered again", "→ SQLite", "→ Postgres", of(one(prompt("Choose a database for it")),
			one(which("Postgres")), one(which("SQLite")))},
		{"overruled", "", "decided: Which", of(one(prompt("Choose a database")),
			one(which("Postgres")), one(answer("Postgres it is, for all of the gauges.")),
			one(prompt("No, take SQLite instead of Postgres")))},
	} {
		got := show(Choose(c.facts, Options{Room: 4000, Cost: cost}))
		if !strings.Contains(got, c.has) || c.lacks != "" && strings.Contains(got, c.lacks) {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}

package outcome_test

import (
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
	"github.com/gemini-ctx/ctx/internal/outcome"
)

// A line is the same error in every run and every checkout, and no other.
func TestLike(t *testing.T) {
	for _, c := range []struct {
		error, line string
		same        bool
	}{
		{"a/b.go:12:3: undefined: lantern", "/src/a/b.go:99:1: undefined: lantern", true},
		{"a/b.go:12:3: undefined: lantern", "a/b.go:12:3: undefined: light", false},
		{"--- FAIL: TestLamp (0.12s)", "--- FAIL: TestLamp (3s)", true},
		{"--- FAIL: TestLamp (0.12s)", "--- PASS: TestLamp (0.12s)", false},
		{"--- FAIL: TestLamp (0.12s)", "=== RUN TestLamp", false},
		{"--- FAIL: TestA (0.00s)", "--- FAIL: TestA (0.01s)", true},
		{"--- FAIL: TestA (0.00s)", "--- FAIL: TestB (0.00s)", false},
		{"fatal: unable to read 9fa647ba1f1e", "fatal: unable to read 0123456789ab", true},
		{"2026-01-02T03:04:05Z error: port 5433 is not open", "error: port 80 is not open", true},
		{"error: port is not open",
			"error: the port is not open because the whole house is dark, and nobody has found the key " +
				"of the cellar where the fuses are", false},
		{"TypeError: Cannot read properties of undefined", "", false},
		{"a.go:1:3: undefined: Lantern", "Output: b/a.go:9:3: undefined: Lantern", true},
		{"E0382", "error[E0382]: borrow of moved value: `cfg`", true},
		{"error[E0382]", "error[E0499]: cannot borrow `cfg` as mutable", false},
		{"error TS2304", "src/b.ts(9,7): error TS2304: Cannot find name 'x'.", true},
		{"too many commands: 55 (limit 25)", "We have a repository with many refs and get this: WARN " +
			"permanent sync error, terminating error=\"sync: relay failed: execute: push target refs: " +
			"http 400: https://host.example/repo too many commands: 55006 (limit 25000)\"", true},
	} {
		list := outcome.Lines(c.error)
		if len(list) != 1 {
			t.Fatalf("%q: %d lines", c.error, len(list))
		}
		if got := list[0].Like(c.line); got >= outcome.Least != c.same {
			t.Errorf("%q, %q: %.2f", c.error, c.line, got)
		}
	}
	if list := outcome.Lines("FAIL\nok\n12\nerror: failed\nexit status 1\n"); len(list) > 0 {
		t.Errorf("lines that tell nothing: %v", list)
	}
}

// A command that passed often comes before one that ran once, and before one that mostly failed.
func TestHowRanks(t *testing.T) {
	run := func(command string, state digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Command, Text: "ran " + command, State: state}
	}
	failing := []digest.Fact{run("try lint", "failed"), run("try lint", "failed"),
		run("try lint", "passed")}
	for name, c := range map[string]struct {
		words string
		facts []digest.Fact
		want  string
	}{
		"often":              {"lint", []digest.Fact{run("new lint", "passed"), run("old lint", "passed"), run("old lint", "passed")}, "old lint"},
		"mostly fails":       {"lint", append(failing, run("old lint", "passed"), run("old lint", "passed")), "old lint"},
		"nobody knows":       {"lint", []digest.Fact{run("new lint", ""), run("other lint", "refused"), run("old lint", "passed")}, "old lint"},
		"a path":             {"test", []digest.Fact{run("cat tests/lamp.txt", "passed"), run("cat tests/lamp.txt", "passed"), run("npm test", "passed")}, "npm test"},
		"a path alone":       {"lamp", []digest.Fact{run("go vet ./lamp", "passed")}, "go vet ./lamp"},
		"one that looks":     {"lint", []digest.Fact{run("cat mise.toml | grep -A3 lint; ls lint", "passed"), run("cat mise.toml | grep -A3 lint; ls lint", "passed"), run("mise run lint", "passed")}, "mise run lint"},
		"looks alone":        {"lint", []digest.Fact{run("cat mise.toml | grep -A3 lint; ls", "passed")}, "cat mise.toml | grep -A3 lint; ls"},
		"a script":           {"test", []digest.Fact{run("git add src/test/a.go", "passed"), run("bash scripts/test.sh", "passed")}, "bash scripts/test.sh"},
		"of a kind":          {"test", []digest.Fact{run("ls test/unit", "passed"), {Kind: digest.Command, Text: "ran cargo nextest", State: "passed", Test: true}}, "cargo nextest"},
		"a program":          {"go", []digest.Fact{run("ls src", "passed"), run("go mod tidy", "passed")}, "go mod tidy"},
		"the shortest":       {"lint", []digest.Fact{run("new lint", "passed"), run("new lint -v | tail -3", "passed")}, "new lint"},
		"of a row":           {"test", []digest.Fact{run("cd src && go vet . && npm test | tail -3; echo done # Run the tests", "passed"), run("go vet .", "passed")}, "npm test | tail -3"},
		"a row fails":        {"lint", []digest.Fact{run("new lint && npm test", "failed"), run("old lint; npm test", "passed"), run("new lint", "passed"), run("new lint", "passed")}, "new lint"},
		"the whole row":      {"all checks", []digest.Fact{run("npm lint && npm test # Run all checks", "passed")}, "npm lint && npm test"},
		"what a row mended":  {"build", []digest.Fact{run("make build", "failed"), run("get lamps && make build", "passed")}, "get lamps && make build"},
		"one that fetches":   {"lint", []digest.Fact{run("curl -s https://h.example/lint # Look for lint", "passed"), run("mise run lint", "passed"), run("curl -s https://h.example/lint # Look for lint", "passed")}, "mise run lint"},
		"a part of a script": {"test", []digest.Fact{run("rm -rf x; make quay; mkdir … # Test it with more quays", "passed"), run("npm test", "passed"), run("rm -rf x; make quay; mkdir … # Test it with more quays", "passed")}, "npm test"},
		"a quoted pipe":      {"lamps", []digest.Fact{run("gh api x --jq '.[] | .lamps'", "passed"), run("gh api x --jq '.[] | .name'", "passed")}, "gh api x --jq '.[] | .lamps'"},
		"one that asks":      {"reply", []digest.Fact{run("gh api a/comments # Read comments to reply to", "passed"), run("gh api a/replies -f body=done", "passed")}, "gh api a/replies -f body=done"},
		"any run":            {"run the tests", []digest.Fact{run("lint run ./...", "passed"), run("lint run ./...", "passed"), run("go test ./...", "passed")}, "go test ./..."},
		"run alone":          {"run", []digest.Fact{run("npm test", "passed"), run("mise run fmt", "passed")}, "mise run fmt"},
		"by what acts":       {"format", []digest.Fact{run("git log --date=format:%H", "passed"), run("git log --date=format:%H", "passed"), run("mise run fmt", "passed")}, "mise run fmt"},
		"a text":             {"open a pr", []digest.Fact{run(`gh api a/pulls/7/replies -f body="Reads what is open"`, "passed"), run("gh pr create # Open it", "passed")}, "gh pr create"},
		"in words":           {"ferry check", []digest.Fact{run("ferry check", "passed"), run("ferry --version # Check ferry", "passed")}, "ferry check"},
		"a loop":             {"ferry", []digest.Fact{run("for f in ferry quay; do wc $f; done", "passed")}, "for f in ferry quay; do wc $f; done"},
		"has more":           {"lint docs", []digest.Fact{run("a lint", "passed"), run("a lint", "passed"), run("a lint docs", "passed")}, "a lint docs"},
	} {
		list := outcome.How(c.words, []outcome.Session{{Facts: c.facts}})
		if len(list) == 0 || list[0].Text != c.want {
			t.Errorf("%s: %+v, want %q", name, list, c.want)
		}
	}
}

// What only looks at what a question names, or works on another thing of that name, is no answer.
func TestHowIsSilent(t *testing.T) {
	for words, command := range map[string]string{
		"run the e2e tests":       "gh api a/files --jq '.[] | select(.name == \"e2e_test/a.go\")'",
		"e2e tests":               "gofmt -e ./e2e_test/a.go",
		"delete a branch":         "git branch -a | grep ferry # To delete one",
		"create a pull request":   "gh api a/pulls/7/comments | jq '.[0]'",
		"rebase on the main line": "git -C ../quay status # See whether to rebase on the main line",
	} {
		list := outcome.How(words, []outcome.Session{{Facts: []digest.Fact{
			{Kind: digest.Prompt, Text: "please " + words},
			{Kind: digest.Command, Text: "ran " + command, State: "passed"}}}})
		if len(list) > 0 {
			t.Errorf("%s: %s", words, list[0].Text)
		}
	}
}

// What a fork has of the session before it ran once.
func TestHowCountsOnce(t *testing.T) {
	facts := []digest.Fact{{Kind: digest.Command, Text: "ran old lint", State: "failed"},
		{Kind: digest.Command, Text: "ran old lint", State: "passed"}}
	for i := range facts {
		facts[i].Entry[0] = byte(i)
	}
	list := outcome.How("lint", []outcome.Session{{Facts: facts}, {Facts: facts}})
	if len(list) != 1 || list[0].Runs != 2 || list[0].Failed != 1 {
		t.Errorf("%+v", list)
	}
}

func TestSameProgram(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"go test ./a", "cd x && CGO_ENABLED=0 go test ./b 2>&1 | tail", true},
		{"cd x && ls", "cd x && grep y z", false},
		{"make", "echo make", false},
		{"", "", false},
	} {
		if got := outcome.SameProgram(c.a, c.b); got != c.same {
			t.Errorf("%q, %q: %v", c.a, c.b, got)
		}
	}
}

// What ends a failure is the next run of the command that passed, or one like it.
func TestEnded(t *testing.T) {
	run := func(command, key string, state digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Command, Key: key, Text: "ran " + command, State: state}
	}
	told := func(seq uint64) digest.Fact {
		return digest.Fact{Kind: digest.Prompt, Seq: seq, Text: "error: it is dark"}
	}
	edit := digest.Fact{Kind: digest.Edit, Path: "a.go", Text: "edited a.go", Added: 1}
	failed := run("go test ./a", "go test ./a", digest.Failed)
	for name, c := range map[string]struct {
		facts []digest.Fact
		want  int // 0 for nothing
	}{
		"the same":       {[]digest.Fact{failed, edit, run("go test ./a -v", "go test ./a -v", "passed")}, 2},
		"in a chain":     {[]digest.Fact{failed, run("go vet && go test ./a", "go vet", "passed")}, 1},
		"a better one":   {[]digest.Fact{failed, run("go test ./b", "", "passed"), run("go test ./a", "", "passed")}, 2},
		"another":        {[]digest.Fact{failed, run("git status", "git status", "passed")}, 0},
		"a check":        {[]digest.Fact{failed, edit, run("make test", "make test", "passed")}, 2},
		"unedited":       {[]digest.Fact{failed, run("make test", "make test", "passed")}, 0},
		"failed again":   {[]digest.Fact{failed, failed}, 0},
		"failed, not so": {[]digest.Fact{failed, edit, failed}, 2},
		"pasted":         {[]digest.Fact{told(1), edit, run("ls", "ls", "passed"), run("make test", "make test", "passed")}, 3},
		"pasted, turn":   {[]digest.Fact{told(1), told(2), edit, run("make test", "make test", "passed")}, 0},
		"pasted, as is":  {[]digest.Fact{told(1), run("make test", "make test", "passed")}, 0},
		"edit": {[]digest.Fact{{Kind: digest.Edit, Path: "a", Text: "edited a", State: "failed"},
			{Kind: digest.Edit, Path: "b", Text: "edited b"},
			{Kind: digest.Edit, Path: "a", Text: "edited a"}}, 2},
	} {
		s := outcome.Session{Facts: c.facts}
		got, end := 0, s.Ended(0, map[int]bool{0: true})
		for i := range c.facts {
			if end != nil && end.Run == &c.facts[i] {
				got = i
			}
		}
		if got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A run of other tests says nothing about those that failed.
func TestOtherTests(t *testing.T) {
	run := func(command string, state digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Command, Key: command, Text: "ran " + command, State: state,
			Test: !strings.Contains(command, "vet")}
	}
	edit := digest.Fact{Kind: digest.Edit, Path: "a.go", Text: "edited a.go"}
	for _, c := range []struct {
		failed, passed string
		ends           bool
	}{
		{"go test ./a", "go test ./a -count=1", true},
		{"go test ./a", "go test ./...", true},
		{"go test ./a", "go test ./b ./a", true},
		{"go test ./a", "go test ./b", false},
		{"go test ./a", "go vet ./a", false},
		{"go test ./a", "make test", true},
		{"go test ./...", "go test ./lamp", true}, // the failure names it
		{"go test ./...", "go test ./b", false},
		{"go test ./a", "go test ./a -run TestLamp", true},
		{"go test ./a", "go test ./a -run TestDoor", false},
		{"go test ./a -run TestLamp", "go test ./a -run TestDoor", false},
		{"go test ./a -run=TestLamp", "go test ./a -run=TestDoor", false},
		{"go test ./a -run TestLamp", "go test ./a", true},
		{"go test ./a -run TestLampOil", "go test ./a -run TestLamp", true},
		{"mise run test", "mise run fmt && mise run test:ci", true},
		{"pytest tests/a.py", "pytest tests/b.py", false},
		{"pytest", "pytest tests/b.py::test_door", false},
	} {
		s := outcome.Session{Facts: []digest.Fact{run(c.failed, digest.Failed),
			{Kind: digest.Failure, Key: c.failed, Text: "--- FAIL: TestLamp (0.00s)"},
			{Kind: digest.Failure, Key: c.failed, Text: "FAIL example.com/lamp 0.1s"},
			edit, run(c.passed, digest.Passed)}}
		if got := s.Ended(0, map[int]bool{0: true}) != nil; got != c.ends {
			t.Errorf("%s, then %s: %t", c.failed, c.passed, got)
		}
	}
}

func TestFailed(t *testing.T) {
	for _, c := range []struct {
		command, output string
		want            bool
	}{
		{"go test ./lamp", "--- FAIL: TestLamp (0.01s)\nFAIL\texample.com/lamp\t0.1s\nFAIL", true},
		{"go test ./lamp | tail -3", "--- FAIL: TestLamp (0.01s)\nFAIL", true},
		{"go run .", "panic: no oil\nexit status 2", true},
		{"go test ./lamp", "ok  \texample.com/lamp\t0.1s", false},
		{"cat log", "--- FAIL: TestLamp (0.01s)\nFAIL", false},
		{"make", "undefined: lantern", false},
		{"", "", false},
	} {
		if got := outcome.Failed(c.command, c.output); got != c.want {
			t.Errorf("%q: %q: %t", c.command, c.output, got)
		}
	}
}

func TestInstead(t *testing.T) {
	run := func(command, text string, state digest.State) digest.Fact {
		return digest.Fact{Kind: digest.Command, Key: command, Text: "ran " + command + text,
			State: state}
	}
	failure := func(command, text string) digest.Fact {
		return digest.Fact{Kind: digest.Failure, Key: command, Text: text}
	}
	missing := run("pytest -q", ": exit status 127", digest.Failed)
	right := run("python -m pytest -q", "", digest.Passed)
	none := run("ls", "", digest.Passed)
	option := []digest.Fact{run("pytest -q", ": exit status 4", digest.Failed),
		failure("pytest -q", "error: unrecognized arguments: -q"), right}
	work := []digest.Fact{run("pytest -q", ": exit status 1", digest.Failed),
		failure("pytest -q", "E assert 1 == 2"), right}
	others := []digest.Fact{run("pytest -q", ": failed", digest.Failed),
		failure("jest", "jest: command not found"), right}
	again := run("python -m pytest -q", "", digest.Failed)
	target := []digest.Fact{run("pytest -q", ": exit status 2", digest.Failed),
		failure("pytest -q", "make: *** No rule to make target 'pytest'.  Stop."), right}
	later := run("pytest -q", "", digest.Passed)
	for name, row := range map[string]struct {
		facts []digest.Fact
		want  string
	}{
		"never":                 {[]digest.Fact{right}, ""},
		"by another program":    {[]digest.Fact{missing, right}, right.Text},
		"after something else":  {[]digest.Fact{missing, none, right}, right.Text},
		"an option":             {option, right.Text},
		"a target":              {target, right.Text},
		"nothing was run":       {[]digest.Fact{missing}, ""},
		"something else was":    {[]digest.Fact{missing, none}, ""},
		"that failed, too":      {[]digest.Fact{missing, again}, ""},
		"the same passed later": {[]digest.Fact{missing, right, later}, ""},
		"the work failed":       {work, ""},
		"what another lacks":    {others, ""},
	} {
		s := outcome.Session{Facts: row.facts}
		got := ""
		if _, f := s.Instead("cd /p && pytest -q 2>&1 | tail -n 3"); f != nil {
			got = f.Text
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// A command that was typed wrong is told with the right one that passed next.
func TestInsteadOfTypos(t *testing.T) {
	for _, c := range [][3]string{
		{"make check-lamp", "make: *** No rule to make target 'check-lamp'.  Stop.", "make -C lamp check"},
		{"just tset", "error: Justfile does not contain recipe `tset`", "just test"},
		{"cargo tests", "error: no such command: `tests`", "cargo test"},
		{"git psuh", "git: 'psuh' is not a git command. See 'git --help'.", "git push"},
		{"lamp-post up", "zsh: command not found: lamp-post", "lamp post up"},
		{"gradle tests", "Task 'tests' not found in root project 'p'.", "gradle test"},
		{"mise run tests", "mise ERROR no task tests found", "mise run test"},
	} {
		s := outcome.Session{Facts: []digest.Fact{
			{Kind: digest.Command, Key: c[0], Text: "ran " + c[0] + ": exit status 2",
				State: digest.Failed},
			{Kind: digest.Failure, Key: c[0], Text: c[1]},
			{Kind: digest.Command, Key: c[2], Text: "ran " + c[2], State: digest.Passed}}}
		if _, right := s.Instead(c[0]); right == nil {
			t.Errorf("%s: nothing", c[0])
		}
	}
}

// What was read of a file or a history is no failure; what failed itself, or ran, is.
func TestQuotes(t *testing.T) {
	for _, c := range []struct {
		command string
		state   digest.State
		quotes  bool
	}{
		{"git diff a.go", digest.Passed, true},
		{"echo ===; git --no-pager log -p | head -3", digest.Passed, true},
		{"cat a.go; ls", digest.Passed, true},
		{"git diff a.go", digest.Failed, false},
		{"git push", digest.Passed, false},
		{"sed -i s/a/b/ a.go; cat a.go", digest.Passed, false},
		{"cat a.go && make", digest.Passed, false},
		{"", digest.Passed, false},
	} {
		s := outcome.Session{Facts: []digest.Fact{{Kind: digest.Command, Text: "ran " + c.command,
			State: c.state}}}
		if got := s.Quotes(0); got != c.quotes {
			t.Errorf("%s, %v: %t", c.command, c.state, got)
		}
	}
}

package digest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gemini-ctx/ctx/internal/lists"
	"github.com/gemini-ctx/ctx/internal/prose"
)

// tests is the parsed output of a test runner.
type tests struct {
	seen   bool // there is some output of a test runner
	passed int  // number of tests; 0 if the output does not give it
	groups int  // number of packages of Go that passed
	failed int
	names  []string // of failed tests
	files  []string // packages and files with failed tests
}

func (t *tests) String() string {
	if n := max(t.failed, len(t.names)); n > 0 {
		text := number(n) + " failed"
		if len(t.names) > 0 {
			text += ": " + strings.Join(t.names[:min(len(t.names), maxFailed)], ", ")
		}
		return text
	}
	if t.passed > 0 {
		return number(t.passed) + " passed"
	}
	switch t.groups {
	case 0:
		return passedSo[0]
	case 1:
		return "1 " + passedSo[1]
	}
	return number(t.groups) + " " + passedSo[2]
}

// passedSo are the ways to say that tests passed, after a number if there is one.
var passedSo = [...]string{"passed", "package passed", "packages passed"}

// readTests parses the output of the test runners of Go, pytest, unittest, Jest, Vitest, Mocha,
// Cargo, and of TAP.
func readTests(output string) *tests {
	t := &tests{}
	eachLine(output, func(line string) bool { t.line(line); return true })
	if t.names = lists.Unique(t.names); len(t.names) == 0 {
		t.names = lists.Unique(t.files) // no test is named if a package does not compile
	}
	return t
}

// failLeads precede the name of a failed test.
var failLeads = [...]string{"--- FAIL: ", "FAILED ", "FAIL: ", "ERROR: ", "✕ ", "✗ ",
	"× ", "not ok "}

func (t *tests) line(line string) {
	for _, lead := range failLeads {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			t.fail(lead, rest)
			return
		}
	}
	switch {
	case strings.HasPrefix(line, "ok ") || line == "PASS" || line == "OK":
		t.seen = true
		if words := strings.Fields(line); len(words) > 2 && isSeconds(words[2]) {
			t.groups++
		} else if len(words) > 1 {
			t.passed++
		}
	case line == "FAIL" || strings.HasPrefix(line, "FAIL "):
		t.seen = true
		t.failed = max(t.failed, 1)
		t.failedFile(strings.TrimSpace(line[len("FAIL"):]))
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"):
		t.seen = true
		t.names = append(t.names, strings.TrimSuffix(line[len("test "):], " ... FAILED"))
	default:
		t.counts(line)
	}
}

// isSeconds reports whether a word is what Go says of how long the tests of a package took.
func isSeconds(word string) bool {
	return word == "(cached)" || strings.HasSuffix(word, "s") && word[0] >= '0' && word[0] <= '9'
}

// fail notes the test that a line names after lead.
func (t *tests) fail(lead, rest string) {
	if lead == "not ok " { // the number of a test in TAP
		if _, after, ok := strings.Cut(rest, " - "); ok {
			rest = after
		}
	}
	// Other lines of this form are not of unittest
	if lead == "ERROR: " && !strings.Contains(rest, " (") {
		return
	}
	t.seen = true
	if name := testName(rest); name != "" {
		t.names = append(t.names, name)
	} else {
		t.counts(rest)
		t.failed = max(t.failed, 1)
	}
}

// failedFile notes the package or file, or the test in it if the line names one: "FAIL
// src/a.test.ts > suite > name".
func (t *tests) failedFile(rest string) {
	file, test, ok := strings.Cut(rest, " > ")
	if ok {
		t.names = append(t.names, prose.Cut(test, maxTestName))
		return
	}
	if file, _, _ = strings.Cut(file, " "); strings.ContainsAny(file, "/.") {
		t.files = append(t.files, file)
	}
}

// counts parses lines such as "3 failed, 12 passed in 0.4s" and "Tests: 1 failed, 4 passed, 5
// total".
func (t *tests) counts(line string) {
	words := strings.Fields(strings.ToLower(line))
	if len(words) > 2 && words[0] == "test" && (words[1] == "suites:" || words[1] == "files") {
		return // Jest, Vitest: the tests are counted in a line of their own
	}
	for i := 1; i < len(words) && i < 16; i++ {
		if !isOfSummary(words[i-1]) {
			return // a program tells of other things
		}
		n, ok := leadingNumber(words[i-1])
		if label := words[i-1]; strings.HasSuffix(label, ":") && i > 1 { // "Failed: 0, Passed: 42"
			switch n, ok := leadingNumber(words[i]); {
			case ok && (label == "failed:" || label == "failures:"):
				t.seen, t.failed = true, max(t.failed, n)
			case ok && label == "passed:":
				t.seen, t.passed = true, max(t.passed, n)
			}
		}
		if !ok || len(words[i-1]) > 5 || !endsCount(words[i:]) {
			continue
		}
		switch strings.Trim(words[i], ",;.)") {
		case "failed", "failing", "failures":
			t.seen, t.failed = true, max(t.failed, n)
		case "passed", "passing":
			t.seen, t.passed = true, max(t.passed, n)
		}
	}
}

// isOfSummary reports whether a word, in lower case, may stand before a count in the last line of a
// test runner: a label, a number, a time, a state, or no word at all.
func isOfSummary(word string) bool {
	word = strings.Trim(word, "=-:,;.()[]|#*✓✗✖×❌✅")
	if word == "" || word[0] >= '0' && word[0] <= '9' {
		return true
	}
	return slices.Contains([]string{"test", "tests", "files", "suites", "result", "results",
		"summary", "specs", "spec", "examples", "assertions", "ok", "fail", "failed", "failing",
		"failures", "passed", "passing", "pass", "skipped", "pending", "todo", "total", "ignored",
		"measured", "filtered", "flaky", "errors", "error", "warnings", "deselected", "xfailed",
		"xpassed", "completed", "info", "run", "ran", "and", "in", "of", "out", "failures!", "failed!",
		"passed!"},
		word)
}

// endsCount reports whether a count ends after the first of words: "30 failed files" counts files.
func endsCount(words []string) bool {
	if len(words) == 1 || strings.ContainsAny(words[0][len(words[0])-1:], ",;.)") {
		return true
	}
	return isOfSummary(words[1]) && words[1] != "files"
}

// maxTestName is the largest number of bytes of a test's name.
const maxTestName = 100

// testName returns the name of a test from the line that reports its failure, without the time,
// place or reason that follows. It returns "" if the line has no name, as "FAILED (failures=1)".
func testName(rest string) string {
	if r, _ := utf8.DecodeRuneInString(rest); r == '(' {
		return ""
	}
	for _, end := range [...]string{" (", " - ", " ["} {
		rest, _, _ = strings.Cut(rest, end)
	}
	if i := strings.LastIndexByte(rest, ' '); i > 0 && isDuration(rest[i+1:]) {
		rest = rest[:i]
	}
	return prose.Cut(strings.TrimSpace(rest), maxTestName)
}

// isDuration reports whether s is a time such as 3ms or 1.2s.
func isDuration(s string) bool {
	rest := strings.TrimLeft(s, "0123456789.")
	return len(rest) < len(s) && (rest == "ms" || rest == "s")
}

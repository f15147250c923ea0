package digest

import "strings"

// tests is what the output of a test runner says.
type tests struct {
	seen   bool // it says anything
	passed int  // tests or packages; 0 where it does not count
	failed int
	names  []string // of tests that failed
}

func (t *tests) String() string {
	text := "passed"
	if t.failed > 0 || len(t.names) > 0 {
		text = number(max(t.failed, len(t.names))) + " failed"
		if len(t.names) > 0 {
			text += ": " + strings.Join(t.names[:min(len(t.names), maxFailed)], ", ")
		}
	} else if t.passed > 0 {
		text = number(t.passed) + " passed"
	}
	return text
}

// readTests reads the output of the test runners of Go, pytest, Jest, Vitest, Mocha, Cargo and TAP.
func readTests(output string) *tests {
	t := &tests{}
	eachLine(output, func(line string) bool { t.line(line); return true })
	t.names = unique(t.names)
	return t
}

func (t *tests) line(line string) {
	for _, lead := range [...]string{"--- FAIL: ", "FAILED ", "✕ ", "✗ ", "× ", "not ok "} {
		if rest, ok := strings.CutPrefix(line, lead); ok {
			t.seen = true
			t.names = append(t.names, testName(rest))
			return
		}
	}
	switch {
	case strings.HasPrefix(line, "ok ") || line == "PASS":
		t.seen = true
		if line != "PASS" {
			t.passed++
		}
	case line == "FAIL" || strings.HasPrefix(line, "FAIL "):
		t.seen = true
		t.failed = max(t.failed, 1)
		if name := strings.Fields(line + " ")[1:]; len(name) > 0 && strings.ContainsAny(name[0], "/.") {
			t.names = append(t.names, name[0])
		}
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"):
		t.seen = true
		t.names = append(t.names, strings.TrimSuffix(line[len("test "):], " ... FAILED"))
	default:
		t.counts(line)
	}
}

// counts reads lines such as "3 failed, 12 passed in 0.4s" and "Tests: 1 failed, 4 passed, 5 total".
func (t *tests) counts(line string) {
	words := strings.Fields(strings.ToLower(line))
	for i := 1; i < len(words) && i < 16; i++ {
		n, ok := leadingNumber(words[i-1])
		if !ok || len(words[i-1]) > 5 {
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

// testName cuts a test's name out of the line that says that it failed.
func testName(rest string) string {
	for _, end := range [...]string{" (", " - ", " [", " in "} {
		rest, _, _ = strings.Cut(rest, end)
	}
	return cut(strings.TrimSpace(rest), 100)
}

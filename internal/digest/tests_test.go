package digest

import (
	"fmt"
	"testing"
)

func TestRunners(t *testing.T) {
	tests := []struct{ name, command, output, want string }{
		{"Go", "go test ./...",
			"ok  \tx/a\t0.1s\nok  \tx/b\t(cached)\n?   \tx/c\t[no test files]\n",
			"[passed]: 2 packages passed"},
		{"Go, verbose", "go test -v .",
			"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tx/a\t0.1s\n",
			"[passed]: 1 package passed"},
		{"Go, failing", "go test ./...",
			"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/empty (0.00s)\n        a_test.go:3: " +
				"lost\nFAIL\nFAIL\tx/a\t0.1s\nok  \tx/b\t0.1s\nFAIL\n",
			"[failed]: 2 failed: TestA, TestA/empty"},
		{"Go, not built", "go test ./...",
			"# x/a\na.go:3:1: undefined: y\nFAIL\tx/a [build failed]\n", "[failed]: 1 failed: x/a"},
		{"pytest", "pytest", "===== 12 passed in 0.40s =====\n", "[passed]: 12 passed"},
		{"pytest, failing", "pytest",
			"FAILED tests/a.py::test_lost - AssertionError: x\n== 1 failed, 12 " +
				"passed in 0.40s ==\n",
			"[failed]: 1 failed: tests/a.py::test_lost"},
		{"unittest", "python -m unittest", "..\nRan 2 tests in 0.1s\n\nOK\n", "[passed]: passed"},
		{"unittest, failing", "python -m unittest",
			"FAIL: test_lost (a.TestParse)\nRan 2 tests in 0.1s\n\nFAILED (failures=1)\n",
			"[failed]: 1 failed: test_lost"},
		{"Jest", "npx jest",
			"PASS src/a.test.js\nTest Suites: 1 passed, 1 total\nTests:       4 passed, 4 total\n",
			"[passed]: 4 passed"},
		{"Jest, failing", "npx jest",
			"FAIL src/a.test.js\n  ✓ keeps (2 ms)\n  ✕ drops in the end (5 ms)\nTests: 1 failed, " +
				"4 passed, 5 total\n",
			"[failed]: 1 failed: drops in the end"},
		{"Vitest", "npx vitest run",
			" ✓ src/a.test.ts (3)\n Test Files  1 passed (1)\n      Tests  3 passed (3)\n",
			"[passed]: 3 passed"},
		{"Vitest, failing", "npx vitest run",
			" × drops 3ms\n FAIL  src/a.test.ts > parser > drops\n Tests  1 failed " +
				"| 2 passed (3)\n",
			"[failed]: 2 failed: drops, parser > drops"},
		{"Mocha", "npx mocha", "  5 passing (10ms)\n", "[passed]: 5 passed"},
		{"Mocha, failing", "npx mocha",
			"  5 passing (10ms)\n  2 failing\n\n  1) parser\n       drops:\n",
			"[failed]: 2 failed"},
		{"Cargo", "cargo test",
			"test parse::keeps ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
			"[passed]: 1 passed"},
		{"Cargo, failing", "cargo test",
			"test parse::drops ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n",
			"[failed]: 1 failed: parse::drops"},
		{"TAP", "node --test", "TAP version 13\nok 1 - keeps\nok 2 - drops\n",
			"[passed]: 2 passed"},
		{"TAP, failing", "node --test", "ok 1 - keeps\nnot ok 2 - drops the last\n",
			"[failed]: 1 failed: drops the last"},
		{"Go, a test that counts other things", "go test -v .",
			"=== RUN   TestA\n    a_test.go:46: wrote 30 failing files\n" +
				"--- FAIL: TestA (1.03s)\nFAIL\nFAIL\tx/a\t1.7s\nFAIL\n",
			"[failed]: 1 failed: TestA"},
		{"Go, a log with a count at its end", "go test -v .",
			"    a_test.go:46: retried: 7 failed\n--- PASS: TestA (1.03s)\nPASS\nok  \tx/a\t1s\n",
			"[passed]: 1 package passed"},
		{"pytest, a print", "pytest",
			"12 failed requests were sent again\n=== 3 passed in 0.40s ===\n",
			"[passed]: 3 passed"},
		{"RSpec", "bundle exec rspec", "12 examples, 2 failures, 1 pending\n",
			"[failed]: 2 failed"},
		{"nextest", "cargo nextest run",
			"Summary [   0.1s] 12 tests run: 11 passed, 1 failed, 0 skipped\n",
			"[failed]: 1 failed"},
		{"Jest, suites and tests", "npx jest",
			"Test Suites: 2 failed, 3 passed, 5 total\nTests:       1 failed, 30 passed, 31 total\n",
			"[failed]: 1 failed"},
		{".NET", "dotnet test", "Passed!  - Failed:     0, Passed:    42, Skipped:     1, Total: 43\n",
			"[passed]: 42 passed"},
		{"Maven", "mvn test", "[INFO] Tests run: 12, Failures: 2, Errors: 0, Skipped: 2\n",
			"[failed]: 2 failed"},
		{"none ran", "go test ./...", "", "[passed]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			facts := Of(numbered(called("a", "bash", fmt.Sprintf(`{"command":%q}`, tt.command)),
				answered("a", tt.output)))
			want := tt.want[:8] + ": ran " + tt.command + tt.want[8:]
			if got := show(facts[0]); got != "command"+want || !facts[0].Test {
				t.Errorf("got %s, want command%s", got, want)
			}
		})
	}
}

func TestManyFailedTests(t *testing.T) {
	output := ""
	for i := range 20 {
		output += fmt.Sprintf("--- FAIL: Test%d (0.00s)\n", i)
	}
	check(t, []Message{called("a", "bash", `{"command":"go test"}`), answered("a", output)},
		"command[failed]: ran go test: 20 failed: Test0, Test1, Test2, Test3, Test4, "+
			"Test5, Test6, Test7")
}

func TestFailedTestRunWithoutNames(t *testing.T) {
	check(t,
		[]Message{called("a", "bash", `{"command":"npx mocha"}`),
			answered("a", "2 failing\nerror: lost the last token\nExit code: 1")},
		"command[failed]: ran npx mocha: 2 failed", "failure: error: lost the last token")
}

// TestStoppedTests has runs that failed though no test did: a time limit, or a later command.
func TestStoppedTests(t *testing.T) {
	const ok = "ok  \tshop/client\t1s\n"
	for output, want := range map[string]string{
		"Exit code 143\nCommand timed out after 2m 0.0s\n" + ok: "timed out after 1 package passed",
		"Exit code 1\n" + ok: "exit status 1 after 1 package passed",
		"command timed out after 10000 milliseconds\n" + ok: "timed out after 1 package passed",
		"Exit code 143\nCommand timed out after 2m 0.0s\n":  "timed out",
	} {
		facts := Of(numbered(called("a", "bash", `{"command":"go test ./..."}`), failedWith("a", output)))
		if got := facts[0].Text; got != "ran go test ./...: "+want || facts[0].State != Failed {
			t.Errorf("%q: %s %q, want %q", output, facts[0].State, got, want)
		}
		if got := facts[0].Command(); got != "go test ./..." {
			t.Errorf("%q: command %q", output, got)
		}
	}
}

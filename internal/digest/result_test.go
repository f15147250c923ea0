package digest

import (
	"strings"
	"testing"
)

// TestExit has the results of a failed and of a passed command in the format of each agent.
func TestExit(t *testing.T) {
	const failed = "command[failed]: ran make build: exit status 2\nfailure: main.go:3:1: error: missing brace"
	const passed = "command[passed]: ran make build"
	tests := []struct {
		name, output string
		failed       bool
		want         string
	}{
		{"Codex, object",
			`{"output":"main.go:3:1: error: missing brace\n","metadata":{"exit_code":2,"duration_seconds":0.1}}`, false, failed},
		{"Codex, object with colours",
			`{"output":"\u001b[31mmain.go:3:1: error: missing brace\u001b[0m\n","metadata":{"exit_code":2}}`,
			false, failed},
		{"Codex, object that passed", `{"output":"","metadata":{"exit_code":0}}`, false, passed},
		{"Codex, lines",
			"Command: bash -lc 'make\nbuild'\nChunk ID: 1\nWall time: 0.1 seconds\nProcess " +
				"exited with code 2\nOriginal token count: 9\nOutput:\nmain.go:3:1: error: " +
				"missing brace\n", false, failed},
		{"Codex, lines that passed",
			"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOriginal token " +
				"count: 0\nOutput:\n", false, passed},
		{"Codex, older lines",
			"Exit code: 2\nWall time: 0.1 seconds\nOutput:\nmain.go:3:1: error: missing brace\n",
			false, failed},
		{"Gemini CLI",
			"Output: main.go:3:1: error: missing brace\nExit Code: 2\nProcess Group PGID: 7",
			false, failed},
		{"Gemini CLI, older",
			"Command: make build\nDirectory: (root)\nStdout: (empty)\nmain.go:3:1: error: " +
				"missing brace\nExit Code: 2\nSignal: (none)", false, failed},
		{"Gemini CLI, with labels", "Command: make build\nDirectory: (root)\nOutput: main.go:3:1: " +
			"error: missing brace\nError: (none)\nExit Code: 2\nSignal: (none)", false, failed},
		{"Claude Code", "Exit code 2\nmain.go:3:1: error: missing brace", true, failed},
		{"Claude Code, error of the tool",
			"<tool_use_error>Exit code 2\nmain.go:3:1: error: missing brace</tool_use_error>",
			true, failed},
		{"Claude Code, without a status", "main.go:3:1: error: missing brace", true,
			strings.Replace(failed, "exit status 2", "failed", 1)},
		{"opencode", "main.go:3:1: error: missing brace", true,
			strings.Replace(failed, "exit status 2", "failed", 1)},
		{"a program that tells of itself", "main.go:3:1: error: missing brace\nexit status 2\n",
			false, failed},
		{"nothing printed", "", false, passed},
		{"a status in the middle of a line", "it said exit code 2 then went on with it", false,
			passed + "\noutput: it said exit code 2 then went on with it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := answered("a", tt.output)
			answer.Results[0].Failed = tt.failed
			check(t, []Message{called("a", "bash", `{"command":"make build"}`), answer}, tt.want)
		})
	}
}

func TestFailures(t *testing.T) {
	t.Run("at most four lines, each once", func(t *testing.T) {
		check(t, []Message{called("a", "bash", `{"command":"make"}`),
			failedWith("a", "working\nerror: one\nerror: one\n"+
				"12:error: numbered\nerror: two\nerror: three\nerror: four\nerror: five")},
			"command[failed]: ran make: failed", "failure: error: one", "failure: error: two",
			"failure: error: three", "failure: error: four")
	})
	t.Run("the first line where none looks like an error", func(t *testing.T) {
		check(t,
			[]Message{called("a", "bash", `{"command":"make"}`),
				failedWith("a", "---\n 12\tline\nno luck today\nnor tomorrow")},
			"command[failed]: ran make: failed", "failure: no luck today")
	})
	t.Run("an edit", func(t *testing.T) {
		check(
			t,
			[]Message{called("a", "Edit", `{"file_path":"a.go","old_string":"x","new_string":"y"}`),
				failedWith("a",
					"<tool_use_error>String to replace not found in file.</tool_use_error>")},
			"edit[failed]: edited a.go: failed", "failure: String to replace not found in file.")
	})
	t.Run("a search that found nothing", func(t *testing.T) {
		check(t,
			[]Message{called("a", "bash", `{"command":"grep -rn lostToken src"}`),
				failedWith("a", "Exit code 1")},
			"search: ran grep -rn lostToken src")
	})
	t.Run("a refusal is a decision", func(t *testing.T) {
		check(t, []Message{called("a", "bash", `{"command":"git push"}`),
			failedWith("a", "The user doesn't want to proceed with "+
				"this tool use. To tell you how to proceed, the user said:\nDo not push "+
				"before the review.")},
			"command[refused]: ran git push", "decision: the user refused: ran git push",
			"prompt: Do not push before the review.")
	})
}

// An import makes a message of the words beside a refusal: they are words to it all the same. A
// prompt after an interruption is another matter.
func TestWordsAfterRefusal(t *testing.T) {
	for words, want := range map[string]string{
		"To tell you how to proceed, the user said:\n": Instead, "Stop here.": "",
	} {
		list := []Message{called("a", "bash", `{"command":"git push"}`),
			failedWith("a", "The user doesn't want to proceed with this tool use. "+words),
			asked("Do not push before the review.")}
		for i := range list {
			list[i].Seq = uint64(i + 1)
		}
		for _, f := range Of(list) {
			if f.Kind == Prompt && f.Key != want {
				t.Errorf("after %q: %+v", words, f)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Run("several questions", func(t *testing.T) {
		check(
			t,
			[]Message{called("a", "AskUserQuestion",
				`{"questions":[{"question":"Which parser?"},{"question":"Which branch?"}]}`),
				answered("a",
					`User has answered your questions: "Which parser?"="The old one", "Which branch?"="main". You can now continue.`)},
			"question[done]: Which parser?", "question[done]: Which branch?",
			"decision: Which parser? → The old one", "decision: Which branch? → main")
	})
	for said, want := range map[string][]string{
		`Your questions have been answered: "Which is "the first" one?"="The "old" one", "Which?"="main"`: {
			`decision: Which is "the first" one? → The "old" one`, "decision: Which? → main"},
		`"Which?"="Other" user notes: none of them, use "yacc" again, "Where?"="here" selected preview:
<b class="x">b</b> user notes: or there. You can now continue with these answers in mind.`: {
			`decision: Which? → Other: none of them, use "yacc" again`, "decision: Where? → here: or there"},
		`"Which?"="a, b"`:          {"decision: Which? → a, b"},
		`"Which?"="a", "Where?"="`: {"decision: Which? → a"},
		`"a="b"="="c"`:             {`decision: a="b → ="c`},
	} {
		t.Run("with marks of their own: "+said, func(t *testing.T) {
			check(t, []Message{called("a", "AskUserQuestion", `{"questions":[{"question":"Which parser?"}]}`),
				answered("a", said)}, append([]string{"question[done]: Which parser?"}, want...)...)
		})
	}
	t.Run("in other words", func(t *testing.T) {
		check(t, []Message{called("a", "ask_user", `{"questions":[{"question":"Which parser?"}]}`),
			answered("a", "The old\none")},
			"question[done]: Which parser?", "decision: Which parser? → The old one")
	})
	for _, c := range [][3]string{
		{"by number", `{"0":"The old one","1":"main"}`,
			"decision: Which parser? → The old one\ndecision: Which branch? → main"},
		{"by id", `{"parser":{"answers":["The old one","user_note: once"]},"branch":{"answers":[]}}`,
			"decision: parser → The old one, user_note: once"},
	} {
		t.Run("as an object "+c[0], func(t *testing.T) {
			check(t, []Message{called("a", "request_user_input",
				`{"questions":[{"question":"Which parser?"},{"question":"Which branch?"}]}`),
				answered("a", `{"answers":`+c[1]+`}`)}, append([]string{
				"question[done]: Which parser?", "question[done]: Which branch?"},
				strings.Split(c[2], "\n")...)...)
		})
	}
	for _, silence := range []string{"", `{"answers":{}}`, "No response after 60s, the user may be away.",
		"User declined to answer questions", "The question timed out", "[Dismissed by the user]",
		"The user did not answer the questions.",
		`User has answered your questions: "Which parser?"="Unanswered". You can now continue.`,
		`User has answered your questions: "Which parser?"="". You can now continue.`} {
		t.Run("nobody answered: "+silence, func(t *testing.T) {
			check(t, []Message{called("a", "ask_user", `{"question":"Which parser?"}`),
				answered("a", silence)}, "question: Which parser?")
		})
	}
	t.Run("the call failed", func(t *testing.T) {
		check(t, []Message{called("a", "ask_user", `{"question":"Which parser?"}`),
			failedWith("a", "no such tool")}, "question: Which parser?")
	})
	t.Run("the user refused to answer", func(t *testing.T) {
		check(t, []Message{called("a", "ask_user", `{"question":"Which parser?"}`),
			failedWith("a", "The user doesn't want to take this action. STOP what you are doing. "+
				"The user said: measure both parsers before you ask")},
			"question[refused]: Which parser?", "prompt: measure both parsers before you ask")
	})
	t.Run("after a prompt typed meanwhile", func(t *testing.T) {
		check(t,
			[]Message{called("a", "bash", `{"command":"make"}`),
				asked("Use the other compiler please."), answered("a", "Exit code 2\nerror: bad")},
			"command[failed]: ran make: exit status 2", "prompt: Use the other compiler please.",
			"failure: error: bad")
	})
	t.Run("of a subagent", func(t *testing.T) {
		check(t,
			[]Message{called("a", "Task", `{"description":"Look around"}`),
				answered("a", "The parser drops the last token.")},
			"act: asked a subagent: Look around", "task: Look around",
			"returned: The parser drops the last token.")
	})
	t.Run("of another tool", func(t *testing.T) {
		check(t,
			[]Message{called("a", "frob", `{"name":"x"}`),
				answered("a", "frobbed\nthe frob was 3 metres long\n12: listed\nsize: 3")},
			"act: frob: x", "output: the frob was 3 metres long")
	})
}

func TestBackground(t *testing.T) {
	tests := []struct{ name, tool, args, started, wait, waitArgs, ended string }{
		{"Codex", "exec_command", `{"cmd":"make build"}`,
			"Chunk ID: 1\nWall time: 5.0 seconds\nProcess running with session ID 49\nOutput:\n",
			"write_stdin", `{"session_id":49,"chars":""}`,
			"Chunk ID: 2\nProcess exited with code 2\nOutput:\nerror: bad\n"},
		{"Claude Code", "Bash", `{"command":"make build"}`,
			"Command running in background with ID: b1. Output is being written to: /tmp/x",
			"BashOutput", `{"bash_id":"b1"}`, "Exit code 2\nerror: bad"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t,
				[]Message{called("a", tt.tool, tt.args), answered("a", tt.started),
					called("b", tt.wait, tt.waitArgs), answered("b", tt.ended)},
				"command[failed]: ran make build: exit status 2", "failure: error: bad")
		})
	}
}

// TestFailsSoFar has a run of tests that goes on after it printed an error.
func TestFailsSoFar(t *testing.T) {
	const running = "Chunk ID: 1\nProcess running with session ID 49\nOutput:\n"
	messages := []Message{called("a", "exec_command", `{"cmd":"go test ./..."}`),
		answered("a", running+"# shop/server\nserver/a_test.go:3:1: undefined: errors\n")}
	check(t, messages, "command[failed]: ran go test ./...: in the background as 49",
		"failure: server/a_test.go:3:1: undefined: errors")
	check(t, []Message{messages[0], answered("a", running+"ok shop/client 1s\n")},
		"command: ran go test ./...: in the background as 49")
	check(t, append(messages, called("b", "write_stdin", `{"session_id":49}`),
		answered("b", "Process exited with code 0\nOutput:\nok shop/server 1s\n")),
		"command[passed]: ran go test ./...: 1 package passed",
		"failure: server/a_test.go:3:1: undefined: errors")
}

// TestProseNotWritten has an edit of a document that failed: its sentences are not there.
func TestProseNotWritten(t *testing.T) {
	check(t, []Message{called("a", "edit",
		`{"file_path":"/p/a.md","old_string":"x","new_string":"The lamps are lit before the night."}`),
		failedWith("a", "String to replace not found in file.")},
		"edit[failed]: edited /p/a.md: failed", "written[failed]: The lamps are lit before the "+
			"night.: failed", "failure: String to replace not found in file.")
}

func TestBackgroundSubagent(t *testing.T) {
	check(t, []Message{called("a", "Task", `{"description":"Look around"}`),
		answered("a",
			"Async agent launched successfully.\nagentId: ab12 (internal ID)\nThe "+
				"agent is working."),
		called("b", "TaskOutput", `{"task_id":"ab12"}`),
		answered("b",
			"<retrieval_status>timeout</retrieval_status>\n<task_id>ab12</task_id>\n<status>running</status>\n<output>\n[Tool: Bash]"),
		called("c", "TaskOutput", `{"task_id":"ab12"}`),
		answered("c",
			"<retrieval_status>success</retrieval_status>\n<task_id>ab12</task_id>\nThe parser "+
				"drops the last token.")},
		"act: asked a subagent: Look around", "task: Look around",
		"returned: The parser drops the last token.")
}

func TestOutput(t *testing.T) {
	long := strings.Repeat("this line is one of very many lines\n", 20)
	tests := []struct{ name, command, output, want string }{
		{"short", "make", "built three programs\n",
			"command[passed]: ran make\noutput: built three programs"},
		{"long", "make", long, "command[passed]: ran make"},
		{"numbers alone", "make", "12 34\nsize: 7\n1,234\n", "command[passed]: ran make"},
		{"words of the client", "make",
			"(Bash completed with no output)\nShell cwd was reset to /p",
			"command[passed]: ran make"},
		{"names alone", "make", "parser\nscanner\n", "command[passed]: ran make"},
		{"numbered lines", "make",
			"     1\tpackage main here now\n2→func main here now\n3: or so it is\n4-and then " +
				"some more\n5|the end of it", "command[passed]: ran make"},
		{"branch", "git status", "On branch fix-parser\nnothing to commit",
			"command[passed]: ran git status\nbranch: on branch fix-parser\noutput: On branch " +
				"fix-parser\noutput: nothing to commit"},
		{"new branch", "git switch -c fix-parser", "Switched to a new branch 'fix-parser'",
			"command[passed]: ran git switch -c fix-parser\nbranch: on branch " +
				"fix-parser\noutput: Switched to a new branch 'fix-parser'"},
		{"search", "rg -n lost src", "src/a.go:12:lost := 1\nsrc/b_test.go-13-lost\n",
			"search: ran rg -n lost src: a.go, b_test.go\noutput: src/a.go:12:lost := 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			check(t,
				[]Message{called("a", "bash", `{"command":"`+tt.command+`"}`),
					answered("a", tt.output)}, tt.want)
		})
	}
}

func TestReadNamesDefinitions(t *testing.T) {
	for _, output := range []string{
		"     1→package p\n     2→func Parse(s string) {}\n     3→type Token struct{}\n",
		"     1\tpackage p\n     2\tfunc Parse(s string) {}\n     3\ttype Token struct{}\n",
		"package p\nfunc (p *Parser) Parse(s string) {}\ntype Token struct{}\n",
		"class Parse:\nexport default class Token {}\n",
	} {
		check(t, []Message{called("a", "Read", `{"file_path":"p.go"}`), answered("a", output)},
			"read: read p.go: Parse, Token")
	}
}

func TestLargeOutput(t *testing.T) {
	output := "error: at the front\n" + strings.Repeat("x", 10<<20) + "\nerror: at the end"
	facts := Of(numbered(called("a", "bash", `{"command":"make"}`), failedWith("a", output)))
	size := 0
	for _, f := range facts {
		size += len(f.Text)
	}
	if len(facts) != 3 || size > 200 {
		t.Errorf("%d facts with %d bytes", len(facts), size)
	}
}

// TestFailureOfPackage has the error of a build, and not the line that names the package.
func TestFailureOfPackage(t *testing.T) {
	check(t, []Message{called("a", "bash", `{"command":"go build ./..."}`),
		answered("a", "Exit code 1\n# quay.example/parser\n./a.go:3:1: undefined: Parse")},
		"command[failed]: ran go build ./...: exit status 1",
		"failure: ./a.go:3:1: undefined: Parse")
	check(t, []Message{called("a", "bash", `{"command":"go build ./..."}`),
		answered("a", "Exit code 1\n# quay.example/parser\n./a.go:3:1: the brace is one too many")},
		"command[failed]: ran go build ./...: exit status 1",
		"failure: ./a.go:3:1: the brace is one too many")
	check(t, []Message{called("a", "bash", `{"command":"npx jest"}`),
		answered("a", "Exit code 1\nTest Suites: 2 failed, 5 total\nTests: 1 failed, 31 total")},
		"command[failed]: ran npx jest: 1 failed",
		"failure: Tests: 1 failed, 31 total")
}

// TestInBackground has a command that goes on, and one that has ended since.
func TestInBackground(t *testing.T) {
	call := called("a", "exec_command", `{"cmd":"go test -race ./..."}`)
	runs := answered("a", "Process running with session ID 55011\nOutput:\n")
	check(t, []Message{call, runs}, "command: ran go test -race ./...: in the background as 55011")
	wait := called("b", "write_stdin", `{"session_id":55011}`)
	check(t, []Message{call, runs, wait, answered("b", "Process exited with code 0\nOutput:\nok x 1s")},
		"command[passed]: ran go test -race ./...: 1 package passed")
	facts := Of(numbered(call, runs))
	if got := facts[0].Command(); got != "go test -race ./..." {
		t.Errorf("command %q", got)
	}
}

// TestNotified has tasks that ended as the client told the model.
func TestNotified(t *testing.T) {
	call := called("a", "Bash", `{"command":"go test ./...","run_in_background":true}`)
	runs := answered("a", "Command running in background with ID: bv1. Output is being written to: x")
	for said, want := range map[string]string{
		"<status>completed</status><summary>it completed (exit code 0)</summary>": "command[passed]: " +
			"ran go test ./...",
		"<status>failed</status><summary>it failed (exit code 2)</summary>": "command[failed]: " +
			"ran go test ./...: exit status 2",
		"<status>killed</status>":  "command: ran go test ./...",
		"<status>running</status>": "command: ran go test ./...: in the background as bv1",
	} {
		note := Message{Role: "system", Text: "<task-notification>\n<task-id>bv1</task-id>" + said +
			"</task-notification>"}
		check(t, []Message{call, runs, note}, want)
	}
}

// TestDidNotRun has what clients print in place of the output of a command that did not run or that
// failed.
func TestDidNotRun(t *testing.T) {
	long := strings.Repeat("odd\n", 100)
	const roo = "Command executed in terminal  within working directory '/src'."
	for output, want := range map[string]State{
		"exec_command failed for `/bin/bash -lc 'npm test'`: CreateProcess { message: " +
			"\"Rejected(\\\"rejected by user\\\")\" }": Barred,
		"aborted by user after 3.2s":        Barred,
		"The user rejected this tool call.": Barred,
		"[execute_command for 'npm test'] Result:\n" +
			"The user denied this operation.": Barred,
		"exec_command failed: sandbox denied":                                          Failed,
		"failed in sandbox: sandbox denied exec error":                                 Failed,
		"command timed out after 10000 milliseconds":                                   Failed,
		"execution error: Io(Os { code: 2 })":                                          Failed,
		"approval policy is Never; reject command":                                     Failed,
		"odd\n<exited with exit code 2>":                                               Failed,
		"Command failed with exit code 2.\nOutput:\nodd":                               Failed,
		"[execute_command for 'npm test'] Result:\nok":                                 Passed,
		"Command \"make check2\" failed with exit code 2.\n\n" + long:                  Failed,
		"Command executed with exit code 2.\nOutput:\n" + long:                         Failed,
		"Command executed with exit code 0.\nOutput:\n" + long:                         Passed,
		roo + " Command execution was not successful.\nExit code: 2\nOutput:\n" + long: Failed,
		roo + " Exit code: 0\nOutput:\n" + long:                                        Passed,
	} {
		facts := Of(numbered(called("a", "bash", `{"command":"make check2"}`), answered("a",
			output)))
		if got := facts[0].State; got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}

// TestFailedBeside has a command whose client tells beside the call that it failed.
func TestFailedBeside(t *testing.T) {
	call := called("a", "bash", `{"command":"make check2"}`)
	call.Calls[0].Failed = true
	check(t, []Message{call, answered("a", "something is odd")},
		"command[failed]: ran make check2: failed", "failure: something is odd")
}

// TestLongFailure: of a long line that says why something failed both ends stay.
func TestLongFailure(t *testing.T) {
	line := "error: loading the schema of the linter: " + strings.Repeat("get it there: ", 30) +
		"no such host"
	facts := Of(numbered(called("a", "bash", `{"command":"make lint"}`),
		failedWith("a", "Exit code 2\n"+line)))
	text := facts[len(facts)-1].Text
	if len(text) > maxLine+8 || !strings.HasPrefix(text, "error: loading the schema") ||
		!strings.HasSuffix(text, "no such host") {
		t.Errorf("%q", text)
	}
}

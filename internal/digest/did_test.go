package digest_test

import (
	"encoding/json"
	"testing"

	"github.com/gemini-ctx/ctx/internal/digest"
)

// What a call did is one line, whichever agent made it, and never JSON.
func TestDid(t *testing.T) {
	failed := &digest.Result{Output: "Exit code 1\nboom", Failed: true}
	done := &digest.Result{Output: "a.go: fine"}
	for _, c := range []struct {
		tool, args string
		result     *digest.Result
		want       string
	}{
		{"Bash", `{"command":"go test ./x","description":"Run"}`, failed, "$ go test ./x → failed"},
		{"Bash", `{"command":"go test ./x"}`, done, "$ go test ./x → passed"},
		{"Bash", `{"command":"go test ./x"}`, nil, "$ go test ./x"},
		{"Bash", `{"command":"go test ./x"}`,
			&digest.Result{Output: "--- FAIL: TestA (0.0s)\nFAIL\n", Failed: true},
			"$ go test ./x → failed"},
		{"Bash", `{"command":"echo 'a: 1 failed: b'"}`, done, "$ echo 'a: 1 failed: b'"},
		{"Bash", `{"command":"go vet ./... | head\nif which lint; then\n make lint | head\nfi"}`,
			&digest.Result{Output: "a.go:3: shadow\n1 issues:\n* govet: 1"},
			"$ go vet ./...; if which lint; then make lint; fi → failed"},
		{"Bash", `{"command":"mise run lint 2>&1 | tail -4"}`,
			&digest.Result{Output: "mise ERROR error parsing config file"}, "$ mise run lint → failed"},
		{"Bash", `{"command":"mise run lint 2>&1 | tail -4"}`, &digest.Result{Output: "0 issues."},
			"$ mise run lint → passed"},
		{"Bash", `{"command":"make lint | tee log"}`,
			&digest.Result{Output: "a.go:3: shadow\n1 issues:\n* govet: 1"}, "$ make lint | tee log → failed"},
		{"Bash", `{"command":"go vet ./x | cat"}`, &digest.Result{Output: "error is a type"},
			"$ go vet ./x | cat → passed"},
		{"Bash", `{"command":"make all; echo \"rc: $?\""}`,
			&digest.Result{Output: "cc a.c\nrc: 2\n"}, `$ make all; echo "rc: $?" → failed`},
		{"Bash", `{"command":"make all; echo $?"}`, &digest.Result{Output: "cc a.c\n0"},
			"$ make all; echo $? → passed"},
		{"Bash", `{"command":"make all && echo $?"}`, &digest.Result{Output: "read 3 files"},
			"$ make all && echo $? → passed"},
		{"WebFetch", `{"url":"a.b"}`, &digest.Result{Output: "The user doesn't want to proceed " +
			"with this tool use. To tell you how to proceed, the user said:\npush"},
			"fetched a.b"},
		{"shell", `{"command":["bash","-lc","rg -n x a"]}`,
			&digest.Result{Output: "a.go:1:x\n"}, "$ rg -n x a"},
		{"Bash", `{"command":"rm -r x"}`, &digest.Result{Failed: true,
			Output: "The user doesn't want to proceed with this tool use. The tool use was rejected"},
			"$ rm -r x → refused"},
		{"exec_command", `{"cmd":"cat b.go"}`, done, "read b.go"},
		{"Edit", `{"file_path":"a.go","old_string":"1\n2\n","new_string":"1\n3\n4\n"}`, done,
			"edited a.go +2 -1"},
		{"Edit", `{"file_path":"a.go","old_string":"1","new_string":"2"}`, failed,
			"edited a.go +1 -1 → failed"},
		{"Write", `{"file_path":"a.go","content":"1\n2\n"}`, done, "wrote a.go +2"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a\n+x\n*** Update File: b\n-x\n` +
			`*** Delete File: c\n*** Delete File: d\n*** End Patch"}`, nil,
			"edited a +1; edited b -1; deleted c; and 1 more"},
		{"Read", `{"file_path":"b.go","limit":3}`, done, "read b.go"},
		{"Grep", `{"pattern":"func \"x\"","path":"src"}`, done, `searched "func "x"" in src`},
		{"Glob", `{"pattern":"*.go"}`, nil, `searched "*.go"`},
		{"TodoWrite", `{"todos":[{"content":"a","status":"completed"}]}`, nil, "done: a"},
		{"Bash", `{"command":"git commit -m 'fix: it'"}`, done, "committed: fix: it"},
		{"BashOutput", `{"bash_id":"b1"}`, done, "BashOutput bash_id: b1"},
		{"write_stdin", `{"chars":"","max_output_tokens":1200,"session_id":7,"yield_time_ms":100}`,
			done, "write_stdin session_id: 7"},
		{"write_stdin", `{"chars":"y\n","session_id":7}`, done, "write_stdin chars: y, session_id: 7"},
		{"mcp__x__do", `{"n":1}`, nil, "x do n: 1"},
		{"", ``, nil, ""},
	} {
		got := digest.Did(digest.Call{Name: c.tool, Args: json.RawMessage(c.args)}, c.result)
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.args, got, c.want)
		}
	}
}

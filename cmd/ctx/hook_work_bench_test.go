package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// What a model is told while it works, as whole processes in a store of 129 sessions: at a prompt
// that names what an earlier turn was about and at one that names nothing, before an edit, before
// a command that never ran, and after a failure. On a busy machine processor time (cpu) says more
// than what a clock does:
//
//	go test ./cmd/ctx -run '^$' -bench HookWork -benchtime 50x
func BenchmarkHookWork(b *testing.B) {
	w := newBench(b)
	const sessions, turns = 129, 60
	for s := range sessions {
		w.run(work(s, turns), w.ctx, "append", "-s", fmt.Sprintf("s-%d", s), "--jsonl")
	}
	w.run("", w.ctx, "search", "lamp")
	calls := []struct {
		name string
		call func(s, i int) map[string]any
	}{
		{"prompt", func(s, i int) map[string]any {
			return map[string]any{"hook_event_name": "UserPromptSubmit",
				"prompt": fmt.Sprintf("trim%dWick%d drops a lamp again", s, i)}
		}},
		{"nothing", func(int, int) map[string]any {
			return map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "yes, go on"}
		}},
		{"edit", func(s, i int) map[string]any {
			return map[string]any{"hook_event_name": "PreToolUse",
				"tool_input": map[string]string{"file_path": fmt.Sprintf("lamps/wick%d_%d.go", s, i)}}
		}},
		{"command", func(s, i int) map[string]any {
			return map[string]any{"hook_event_name": "PreToolUse",
				"tool_input": map[string]string{"command": fmt.Sprintf("go vet ./lamp%d/%d", s, i)}}
		}},
		{"failure", func(s, i int) map[string]any {
			return map[string]any{"hook_event_name": "PostToolUseFailure", "error": failed(s, i),
				"tool_input": map[string]string{"command": fmt.Sprintf("go test ./lamp%d", s)}}
		}},
	}
	took, told, n := map[string][]time.Duration{}, map[string]int{}, 0
	for w.Loop() {
		for _, c := range calls {
			n++
			in := c.call(n*7%sessions, n*5%turns)
			in["session_id"], in["cwd"] = fmt.Sprintf("now-%d", n), w.dir
			call, _ := json.Marshal(in) // strings can always be printed
			cmd := w.cmd(string(call), w.ctx, "hook", "claude-code")
			out, err := cmd.Output()
			if err != nil {
				b.Fatal(err)
			}
			if len(out) > 0 {
				told[c.name]++
			}
			took[c.name] = append(took[c.name], cpuOf(cmd))
		}
	}
	for name, list := range took {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2])/1e6, name+"-cpu-p50-ms")
		b.ReportMetric(float64(list[len(list)*95/100])/1e6, name+"-cpu-p95-ms")
		b.ReportMetric(float64(told[name])/float64(len(list)), name+"-told")
	}
	b.ReportMetric(0, "ns/op")
}

func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

func failed(s, i int) string {
	return fmt.Sprintf("lamp%d_test.go:31: undefined: lantern%dOf%d\n--- FAIL: TestLamp%d (0.07s)", s,
		i, s, i)
}

// work is a session: in each turn a prompt, an edit, a test that fails, one that passes, an answer.
func work(s, turns int) string {
	var b strings.Builder
	line := func(role string, parts ...any) {
		text, _ := json.Marshal(map[string]any{"role": role, "parts": parts})
		b.Write(append(text, '\n'))
	}
	call := func(id, name string, args map[string]string) any {
		return map[string]any{"functionCall": map[string]any{"id": id, "name": name, "args": args}}
	}
	result := func(id, name, member, text string) any {
		return map[string]any{"functionResponse": map[string]any{"id": id, "name": name,
			"response": map[string]string{member: text}}}
	}
	for i := range turns {
		id := func(n int) string { return fmt.Sprintf("c%d-%d-%d", s, i, n) }
		line("user", map[string]string{"text": fmt.Sprintf("Why does trim%dWick%d drop a lamp? "+
			"Never change lamps/wick%[1]d_%[2]d.go without its test. %[3]s", s, i,
			text(s*turns + i)[:300])})
		line("model", call(id(0), "Edit", map[string]string{
			"file_path": fmt.Sprintf("lamps/wick%d_%d.go", s, i), "old_string": "1", "new_string": "0"}))
		line("tool", result(id(0), "Edit", "output", "done"))
		test := map[string]string{"command": fmt.Sprintf("go test ./lamp%d", s)}
		line("model", call(id(1), "Bash", test))
		line("tool", result(id(1), "Bash", "error", "Exit code 1\n"+failed(s, i)))
		line("model", call(id(2), "Bash", test))
		line("tool", result(id(2), "Bash", "output", "ok"))
		line("model", map[string]string{"text": fmt.Sprintf("trim%dWick%d counted from one. %s", s, i,
			text(s + i*turns)[:500])})
	}
	return b.String()
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A turn in a session of 10,000 entries as an agent's hooks see it, whole processes, beside a shell
// that does nothing. On a busy machine the time that the processes themselves took (cpu) says more
// than what a clock does:
//
//	go test ./cmd/ctx -run '^$' -bench ProcessHook -benchtime 200x
func BenchmarkProcessHook(b *testing.B) {
	w := newBench(b)
	chats := filepath.Join(filepath.Dir(w.dir), "chats")
	if err := os.MkdirAll(chats, 0o700); err != nil {
		b.Fatal(err)
	}
	t := &growing{bench: w, path: filepath.Join(chats, "session-1.jsonl")}
	t.write(
		`{"sessionId":"s-1","projectHash":"ab","startTime":"2026-01-02T10:00:00.000Z","lastUpdated":"2026-01-02T10:00:00.000Z","kind":"main"}`)
	for range 2500 {
		t.turn()
	}
	b.Setenv("CTX_HOOK_DEADLINE", "10m")
	t.hook("SessionStart")
	b.Setenv("CTX_HOOK_DEADLINE", "5s")
	b.Setenv("CTX_GC_AUTO", "0")
	w.run(lines(1000), w.ctx, "append", "-s", "other", "--jsonl")
	w.run("", w.ctx, "compact", "-s", "s-1")
	took := map[string][]time.Duration{}
	timed := func(name string, cmd *exec.Cmd) {
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		took[name] = append(took[name], time.Since(start))
		took[name+"-cpu"] = append(took[name+"-cpu"],
			cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	for w.Loop() {
		timed("sh", w.cmd("", "sh", "-c", "true"))
		timed("BeforeAgent", t.call("BeforeAgent"))
		t.turn()
		timed("AfterAgent", t.call("AfterAgent"))
		timed("nothing-new", t.call("PreCompress"))
	}
	for name, list := range took {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2])/1e6, name+"-p50-ms")
		b.ReportMetric(float64(list[len(list)*95/100])/1e6, name+"-p95-ms")
	}
	start := time.Now()
	t.hook("SessionEnd")
	b.ReportMetric(float64(time.Since(start))/1e6, "SessionEnd-ms")
	if out := w.run("", w.ctx, "status"); strings.Contains(out, "could not do") {
		b.Fatal(out)
	}
	b.ReportMetric(0, "ns/op")
}

// growing is a transcript that grows.
type growing struct {
	*bench
	path string
	n    int
}

func (t *growing) write(records ...string) {
	f, err := os.OpenFile(t.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(strings.Join(records, "\n") + "\n")
	if closing := f.Close(); err != nil || closing != nil {
		t.Fatal(err, closing)
	}
}

// turn is a question, a tool call with its result, and an answer: four entries.
func (t *growing) turn() {
	n := t.n
	t.n++
	update := `{"$set":{"lastUpdated":"2026-01-02T10:00:00.000Z"}}`
	call := fmt.Sprintf(
		`{"id":"g%d","timestamp":"2026-01-02T10:00:00.000Z","type":"gemini","content":"","model":"gemini-2.5-flash"`, n)
	result := fmt.Sprintf(
		`[{"functionResponse":{"id":"c%d","name":"read_file","response":{"output":%q}}}]`, n,
		text(n))
	t.write(
		fmt.Sprintf(
			`{"id":"u%d","timestamp":"2026-01-02T10:00:00.000Z","type":"user","content":[{"text":%q}]}`, n, text(n)[:100]), update,
		call+"}", update,
		call+
			fmt.Sprintf(
				`,"toolCalls":[{"id":"c%d","name":"read_file","args":{"file_path":"f%d"},"status":"success","result":%s}]}`, n, n, result),
		fmt.Sprintf(
			`{"id":"t%d","timestamp":"2026-01-02T10:00:00.000Z","type":"user","content":%s}`, n,
			result), update,
		fmt.Sprintf(
			`{"id":"a%d","timestamp":"2026-01-02T10:00:00.000Z","type":"gemini","content":%q,"model":"gemini-2.5-flash"}`, n, text(n + 1)[:300]), update,
	)
}

func (t *growing) call(event string) *exec.Cmd {
	in := fmt.Sprintf(
		`{"session_id":"s-1","transcript_path":%q,"cwd":%q,"hook_event_name":%q,"prompt":%q}`,
		t.path, t.dir, event, text(t.n)[:100])
	return t.cmd(in, t.ctx, "hook", "gemini-cli")
}

func (t *growing) hook(event string) {
	t.Helper()
	if out, err := t.call(event).CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v: %s", err, out)
	}
}

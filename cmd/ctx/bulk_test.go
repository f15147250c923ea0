package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/cli/jsonl"
)

// talker runs ctx with pipes to its standard input and output.
type talker struct {
	in   *io.PipeWriter
	out  *bufio.Scanner
	errs *strings.Builder
	code chan int
}

func talk(c context.Context, dir string, args ...string) *talker {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	t := &talker{in: inW, out: bufio.NewScanner(outR), errs: &strings.Builder{},
		code: make(chan int, 1)}
	w := world{stdin: inR, stdout: outW, stderr: t.errs, dir: dir,
		getenv: func(string) string { return "" },
		now:    scriptStart, random: &hashStream{}, host: "host", pid: 1}
	go func() {
		t.code <- run(c, w, args)
		_ = outW.Close()
	}()
	return t
}

func mustRun(t *testing.T, dir, stdin string, args ...string) string {
	t.Helper()
	code, out, errs := runIn(t, dir, stdin, args...)
	if code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	return out
}

// TestBulkAnswers has a program write a line and wait for its id before it writes the next.
func TestBulkAnswers(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, "", "init")
	p := talk(t.Context(), dir, "append", "-s", "work", "--jsonl")
	seen := map[string]bool{}
	for i := range 5 {
		fmt.Fprintf(p.in, "{\"role\":\"user\",\"text\":\"message %d\"}\n", i)
		if !p.out.Scan() || len(p.out.Text()) != 64 {
			t.Fatalf("line %d: answer is %q", i, p.out.Text())
		}
		seen[p.out.Text()] = true
	}
	// Two at once are one batch, and half a line keeps nobody waiting.
	fmt.Fprint(p.in,
		"{\"role\":\"user\",\"text\":\"a\"}\n{\"role\":\"user\",\"text\":\"b\"}\n{\"role\":\"us")
	for range 2 {
		p.out.Scan()
		seen[p.out.Text()] = true
	}
	fmt.Fprint(p.in, "er\",\"text\":\"c\"}")
	_ = p.in.Close()
	p.out.Scan()
	seen[p.out.Text()] = true
	if code := <-p.code; code != 0 || len(seen) != 8 {
		t.Fatalf("exit %d, %d ids, %s", code, len(seen), p.errs)
	}
	if out := mustRun(t, dir, "", "log", "-s", "work", "--json"); strings.Count(out, "\n") != 8 {
		t.Fatalf("log has %d messages", strings.Count(out, "\n"))
	}
}

// TestBulkInterrupted stops a bulk append that waits for input: what was answered is there.
func TestBulkInterrupted(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, "", "init")
	c, stop := context.WithCancel(t.Context())
	p := talk(c, dir, "append", "-s", "work", "--jsonl")
	fmt.Fprintln(p.in, `{"role":"user","text":"a"}`)
	p.out.Scan()
	stop()
	if code := <-p.code; code != exitInterrupted {
		t.Fatalf("exit %d: %s", code, p.errs)
	}
	if out := mustRun(t, dir, "", "log", "--json"); !strings.Contains(out, p.out.Text()) {
		t.Fatalf("%s is not in the log", p.out.Text())
	}
}

// TestBulkBatches sends more lines than a batch has: ids come in the order of lines, each once. The
// packs that the batches leave are joined at the end.
func TestBulkBatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "", "init")
	const lines = 4*jsonl.BatchLines + 17
	var in strings.Builder
	for i := range lines {
		fmt.Fprintf(&in, "{\"role\":\"user\",\"text\":\"message %d\",\"source\":\"x:%d\"}\n", i, i)
	}
	ids := strings.Fields(mustRun(t, dir, in.String(), "append", "-s", "work", "--jsonl"))
	packs, err := filepath.Glob(filepath.Join(dir, ".gemini", "context", "objects",
		"pack", "*.pack"))
	if err != nil || len(packs) > 2 { // the joined one, and that of the last lines and the clusters
		t.Errorf("the load leaves %d packs, %v", len(packs), err)
	}
	mustRun(t, dir, "", "fsck")
	if again := strings.Fields(mustRun(t, dir, in.String(), "append", "-s", "work",
		"--jsonl")); strings.Join(again, " ") != strings.Join(ids, " ") {
		t.Error("the second time, other ids came out")
	}
	log := strings.Split(strings.TrimSpace(mustRun(t, dir, "", "log", "-s", "work", "--json")),
		"\n")
	if len(ids) != lines || len(log) != lines {
		t.Fatalf("%d ids, %d messages in the log", len(ids), len(log))
	}
	for i, line := range log {
		if !strings.Contains(line, ids[i]) ||
			!strings.Contains(line, fmt.Sprintf(`"text":"message %d"`, i)) {
			t.Fatalf("message %d: id %s, log has %s", i, ids[i], line)
		}
	}
}

// TestFollow has a log follow a session through appends, an amendment and a rewind.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, "", "init")
	first := strings.TrimSpace(mustRun(t, dir, "", "append", "-s", "work", "--role", "user", "-m",
		"one", "--source", "x:1"))
	c, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	p := talk(c, dir, "log", "-s", "work", "--follow", "--json")
	expect := func(parts ...string) {
		t.Helper()
		if !p.out.Scan() {
			t.Fatalf("log ended: %s", p.errs)
		}
		for _, part := range parts {
			if !strings.Contains(p.out.Text(), part) {
				t.Fatalf("got %s, want %s in it", p.out.Text(), part)
			}
		}
	}
	expect(`"text":"one"`)
	mustRun(t, dir, "", "append", "-s", "work", "--role", "user", "-m", "two")
	expect(`"text":"two"`)
	mustRun(t, dir, "", "append", "-s", "work", "--role", "user", "-m", "one, again",
		"--source", "x:1")
	expect(first, `"text":"one, again"`, `"amended_by"`)
	mustRun(t, dir, "", "rewind", "-s", "work", "@~2")
	mustRun(t, dir, "", "append", "-s", "work", "--role", "user", "-m", "three")
	expect(`"text":"three"`)
	stop()
	if code := <-p.code; code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}

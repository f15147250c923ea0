package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gemini-ctx/ctx/internal/cli/clierr"
)

// programs is a directory with ctx and ctx-mcp, which the first test that needs them makes.
var programs string

// TestMain lets the test binary be ctx-mcp.
func TestMain(m *testing.M) {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == "ctx-mcp" {
		main()
		return
	}
	code := m.Run()
	if programs != "" {
		_ = os.RemoveAll(programs)
	}
	os.Exit(code)
}

// build makes ctx and ctx-mcp in a directory, once, and returns the path of ctx.
func build(t *testing.T) string {
	t.Helper()
	ctx := filepath.Join(programs, "ctx")
	if programs != "" {
		return ctx
	}
	dir, err := os.MkdirTemp("", "ctx-mcp-test-")
	if err != nil {
		t.Fatal(err)
	}
	programs, ctx = dir, filepath.Join(dir, "ctx")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, ctx+"-mcp"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", ctx,
		"../ctx").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return ctx
}

// command is a line for ctx in a directory, with settings of nobody.
func command(ctx, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(ctx, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "CTX_USER_CONFIG=",
		"CTX_USER_DATA="+filepath.Join(dir, "data"),
		"CTX_DIR=", "CTX_WINDOW_GRADUATE_AT=4", "CTX_WINDOW_EVICT_AT=6")
	return cmd
}

// `ctx mcp` is a server on standard input and output, and its documents are those that ctx prints
// with --json.
func TestSameDocumentsAsCtx(t *testing.T) {
	ctx := build(t)
	dir, s := newStore(t)
	talk(t, s, "work", 30)
	say(t, s, "other", "user", "what about \"quotes\" <and> tags & 漢字 for postgres?")
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &mcp.CommandTransport{Command: command(ctx, dir, "mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := listOf(t, c, "forest", nil).Clusters[0].ID
	for _, same := range []struct {
		line []string
		tool string
		args object
		key  string
	}{
		{[]string{"search", "postgres port", "-n", "4", "--clusters"}, "search",
			object{"query": "postgres port", "limit": 4, "clusters": true}, "hits"},
		{[]string{"search", "postgres", "--role", "user", "-s", "other", "--since", "2026-01-01"},
			"search",
			object{"query": "postgres", "role": "user", "session": "other", "since": "2026-01-01"},
			"hits"},
		{[]string{"log", "-s", "work", "-n", "7"}, "log",
			object{"session": "work", "limit": 7}, "entries"},
		{[]string{"log", "-s", "work", "--all", "--reverse", "work~9..work"}, "log",
			object{"session": "work", "all": true, "reverse": true, "rev": "work~9..work"},
			"entries"},
		{[]string{"log", "-s", "work", "--after", "2026-03-01T09:00:20Z"}, "log",
			object{"session": "work", "after": "2026-03-01T09:00:20Z"}, "entries"},
		{[]string{"log"}, "log", nil, "entries"},
		{[]string{"expand", cluster[:16]}, "expand", object{"id": cluster[:16]}, "entries"},
		{[]string{"expand", "work~2", "-s", "work"}, "expand",
			object{"id": "work~2", "session": "work"}, "entries"},
		{[]string{"forest"}, "forest", nil, "clusters"},
		{[]string{"forest", "--at", "20"}, "forest", object{"at": "20"}, "clusters"},
		{[]string{"render", "--budget", "900", "--query", "parser"}, "render",
			object{"format": "json", "budget": 900, "query": "parser"}, ""},
		{[]string{"status"}, "status", nil, ""},
	} {
		var errs bytes.Buffer
		cmd := command(ctx, dir, append(same.line, "--json")...)
		cmd.Stderr = &errs
		want, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", same.line, err, &errs)
		}
		got, _, _ := strings.Cut(answer(t, c, same.tool, same.args), "\nleft out:")
		if same.key != "" {
			var lists map[string]json.RawMessage
			if err := json.Unmarshal([]byte(got), &lists); err != nil {
				t.Fatal(err)
			}
			got = string(lists[same.key])
			want = []byte(
				"[" + strings.ReplaceAll(strings.TrimSpace(string(want)), "\n", ",") + "]")
		}
		got = strings.Replace(strings.TrimSpace(got), `,"next":null}`, "}", 1)
		if strings.TrimSpace(string(want)) != got {
			t.Errorf("%v prints\n%s\nand %s %v gives\n%s", same.line, want, same.tool,
				same.args, got)
		}
	}
	// Errors are the lines that ctx prints.
	for _, id := range []string{"zzzz", strings.Repeat("0", 64)} {
		var errs bytes.Buffer
		cmd := command(ctx, dir, "expand", id)
		cmd.Stderr = &errs
		if err := cmd.Run(); err == nil {
			t.Fatal("no error")
		}
		if text, failed := ask(t, c, "expand", object{"id": id}); !failed ||
			text != strings.TrimSpace(errs.String()) {
			t.Errorf("expand says %q, ctx %q", text, errs.String())
		}
	}
	if err := c.Close(); err != nil { // the process ends by itself, with 0
		t.Errorf("close: %v", err)
	}
}

// The process ends when its input does, when it is told to, and when it is fed something else; what
// it prints is the protocol alone.
func TestProcess(t *testing.T) {
	ctx := build(t)
	dir, s := newStore(t)
	say(t, s, "work", "user", "hello")
	start := func(args ...string) (in io.WriteCloser, out, errs *bytes.Buffer, wait func() int) {
		cmd := command(ctx+"-mcp", dir, args...)
		out, errs = &bytes.Buffer{}, &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = out, errs
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		return in, out, errs, func() int {
			_ = cmd.Wait() // the code says it
			return cmd.ProcessState.ExitCode()
		}
	}
	in, out, errs, wait := start()
	_ = in.Close()
	if code := wait(); code != clierr.Done || out.Len() > 0 || errs.Len() > 0 {
		t.Errorf("no input: code %d: %s%s", code, out, errs)
	}
	in, out, errs, wait = start()
	if _, err := io.WriteString(in, "this is no JSON\n"); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if code := wait(); code > clierr.Failed || strings.Contains(errs.String(), "goroutine") {
		t.Errorf("no JSON: code %d: %s%s", code, out, errs)
	}
	in, _, errs, wait = start()
	go func() {
		_, _ = in.Write(bytes.Repeat([]byte("["), 2*maxFrame)) // until it is refused
		_ = in.Close()
	}()
	if code := wait(); code > clierr.Failed || strings.Contains(errs.String(), "goroutine") {
		t.Errorf("a long line: code %d: %s", code, errs)
	}
	for args, want := range map[string]int{"-version": 0, "-help": 0, "--nonsense": 2, "more": 2,
		"-C=nowhere": 2} {
		in, out, errs, wait = start(args)
		_ = in.Close()
		if code := wait(); code != want ||
			want == 0 && !strings.Contains(out.String(), "ctx-mcp") ||
			want != 0 && (out.Len() > 0 || !strings.HasPrefix(errs.String(), "ctx-mcp: ")) {
			t.Errorf("%s: code %d: %s%s", args, code, out, errs)
		}
	}
	if runtime.GOOS == "windows" {
		return // a process cannot be sent an interrupt here
	}
	cmd := command(ctx, dir, "mcp") // which becomes ctx-mcp
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(stdin,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Read(make([]byte, 1)); err != nil { // it is up
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != clierr.Interrupted {
		t.Errorf("told to end: code %d", code)
	}
}

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

	"github.com/gemini-ctx/ctx/internal/cli/command"
	"github.com/gemini-ctx/ctx/internal/faults"
)

// ctxCommand is a line for ctx in a directory, with settings of nobody.
func ctxCommand(ctx, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(ctx, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "CTX_USER_CONFIG=",
		"CTX_USER_DATA="+filepath.Join(dir, "data"),
		"CTX_DIR=", "CTX_WINDOW_GRADUATE_AT=4", "CTX_WINDOW_EVICT_AT=6")
	return cmd
}

// painted is a transcript in which a prompt leads to a file.
const painted = `{"type":"user","uuid":"u-1","parentUuid":null,"sessionId":"SESSION","cwd":"DIR","version":"2.1.197","timestamp":"2026-03-01T08:00:00Z","message":{"role":"user","content":"say in house.txt that the house is red"}}
{"type":"assistant","uuid":"a-1","parentUuid":"u-1","sessionId":"SESSION","cwd":"DIR","version":"2.1.197","timestamp":"2026-03-01T08:00:01Z","message":{"id":"m-1","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":"toolu_1","name":"Write","input":{"file_path":"DIR/house.txt","content":"the house\nis red\n"}}]}}
{"type":"user","uuid":"u-2","parentUuid":"a-1","sessionId":"SESSION","cwd":"DIR","version":"2.1.197","timestamp":"2026-03-01T08:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"File created"}]}}
`

// `ctx mcp` is a server on standard input and output. The ids and the names of sessions in its
// results are those that ctx takes, and it finds who wrote a line.
func TestResultsWorkWithCtx(t *testing.T) {
	ctx := filepath.Join(faults.Programs(t, "ctx", "ctx-mcp"), "ctx")
	dir, s := newStore(t)
	talk(t, s, "work", 30)
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	const session = "11111111-2222-4333-8444-555555555555"
	where, err := json.Marshal(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		session + ".jsonl": strings.NewReplacer("SESSION", session, "DIR",
			strings.Trim(string(where), `"`)).Replace(painted),
		"house.txt": "the house\nis red\nby hand\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		var errs bytes.Buffer
		cmd := ctxCommand(ctx, dir, args...)
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, &errs)
		}
		return string(out)
	}
	run("import", "claude-code", session+".jsonl")
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
		Connect(context.Background(), &mcp.CommandTransport{Command: ctxCommand(ctx, dir, "mcp")},
			nil)
	if err != nil {
		t.Fatal(err)
	}
	lines := listOf(t, c, "who_wrote_line", object{"file": "house.txt"}).Lines
	if len(lines) != 2 || lines[0].Line != 1 || lines[0].To != 2 || lines[1].ID != "" ||
		lines[0].Asked != "say in house.txt that the house is red" ||
		lines[0].Session != session[:8] || lines[0].Agent != "claude-code" {
		t.Fatalf("%+v", lines)
	}
	one := listOf(t, c, "who_wrote_line", object{"file": "house.txt", "line": 2}).Lines
	if len(one) != 1 || one[0].ID != lines[0].ID || one[0].Line != 2 {
		t.Errorf("%+v", one)
	}
	hit := listOf(t, c, "search_past_sessions", object{"query": "house red", "role": "user"}).Hits[0]
	if got := run("show", hit.ID); !strings.Contains(got, "that the house is red") {
		t.Errorf("ctx show %s: %s", hit.ID, got)
	}
	if got := run("show", lines[0].ID); !strings.Contains(got, "Write") {
		t.Errorf("ctx show %s: %s", lines[0].ID, got)
	}
	for _, o := range listOf(t, c, "list_past_sessions", nil).Sessions {
		if got := run("log", "-s", o.Session, "-n", "1"); got == "" {
			t.Errorf("ctx log -s %s: %s", o.Session, got)
		}
	}
	if got := run("log", "-s", hit.Session, "--json", "-n", "1"); !strings.Contains(got, session) {
		t.Errorf("ctx log -s %s: %s", hit.Session, got)
	}
	// Errors are the lines that ctx prints, but for the hint.
	for _, id := range []string{"zzzz", strings.Repeat("0", 64)} {
		var errs bytes.Buffer
		cmd := ctxCommand(ctx, dir, "expand", id)
		cmd.Stderr = &errs
		if err := cmd.Run(); err == nil {
			t.Fatal("no error")
		}
		want, _, _ := strings.Cut(errs.String(), "\n")
		if text, failed := ask(t, c, "read_past_messages", object{"id": id}); !failed ||
			!strings.HasPrefix(text, want) {
			t.Errorf("read_past_messages says %q, ctx %q", text, errs.String())
		}
	}
	if err := c.Close(); err != nil { // the process ends by itself, with 0
		t.Errorf("close: %v", err)
	}
}

// The process ends when its input does, when it is told to, and when it is fed something else; what
// it prints is the protocol alone.
func TestProcess(t *testing.T) {
	ctx := filepath.Join(faults.Programs(t, "ctx", "ctx-mcp"), "ctx")
	dir, s := newStore(t)
	say(t, s, "work", "user", "hello")
	start := func(args ...string) (in io.WriteCloser, out, errs *bytes.Buffer, wait func() int) {
		cmd := ctxCommand(ctx+"-mcp", dir, args...)
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
	if code := wait(); code != command.Done || out.Len() > 0 || errs.Len() > 0 {
		t.Errorf("no input: code %d: %s%s", code, out, errs)
	}
	in, out, errs, wait = start()
	if _, err := io.WriteString(in, "this is no JSON\n"); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if code := wait(); code > command.Failed || strings.Contains(errs.String(), "goroutine") {
		t.Errorf("no JSON: code %d: %s%s", code, out, errs)
	}
	in, _, errs, wait = start()
	go func() {
		_, _ = in.Write(bytes.Repeat([]byte("["), 2*maxFrame)) // until it is refused
		_ = in.Close()
	}()
	if code := wait(); code > command.Failed || strings.Contains(errs.String(), "goroutine") {
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
	cmd := ctxCommand(ctx, dir, "mcp") // which becomes ctx-mcp
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
	if code := cmd.ProcessState.ExitCode(); code != command.Interrupted {
		t.Errorf("told to end: code %d", code)
	}
}

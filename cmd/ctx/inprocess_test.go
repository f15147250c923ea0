package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The lines of scripts that say how ctx runs.
var (
	execCtx  = regexp.MustCompile(`^(! )?exec ctx( .*)?$`)
	exitsCtx = regexp.MustCompile(`^exits (\d+) ctx( .*)?$`)
	// Input that testscript keeps for the process of the next line
	given = regexp.MustCompile(`^(stdin|ttyin) `)
	// In the background, or a program takes the place of ctx
	alone = regexp.MustCompile(` &(\w+&)?$| ctx (-C \S+ )?(browse|eval)( |$)`)
	// Programs that ctx starts read the environment, and so does the system; patterns of the user's
	// own hold for a process; or the script says that it is about processes
	ownProcess = regexp.MustCompile(
		`(?m)^env (PATH|TMPDIR|GIT_\w+|FAKE_\w+|CTX_SANITIZE_EXTRA)=|^extra = |` +
			`^# Each ctx is a process\.`)
)

// scripts returns the files with the scripts. Where a process is not the subject, ctx runs in this
// one, which takes half the time: `exec ctx` becomes `run`, but not after stdin and ttyin, which
// testscript keeps for processes, nor in the background. Lines stay where they are.
// CTX_PROCESSES=1 has every ctx be a process, as Windows has.
func scripts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testscript", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("scripts: %d, %v", len(files), err)
	}
	if *update || os.Getenv("CTX_PROCESSES") != "" || runtime.GOOS == "windows" {
		return files
	}
	dir := t.TempDir()
	for i, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(files[i], []byte(inProcess(string(b))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// inProcess returns a script that runs ctx in this process where it can.
func inProcess(script string) string {
	if ownProcess.MatchString(script) {
		return script
	}
	lines := strings.SplitAfter(script, "\n")
	input := false
	for i, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "-- "):
			return strings.Join(lines, "")
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case given.MatchString(line):
			input = true
			continue
		case input || alone.MatchString(line):
		case execCtx.MatchString(line):
			lines[i] = execCtx.ReplaceAllString(line, "${1}run$2") + "\n"
		case exitsCtx.MatchString(line):
			lines[i] = exitsCtx.ReplaceAllString(line, "run $1$2") + "\n"
		}
		input = false
	}
	return strings.Join(lines, "")
}

// TestInProcess: which lines of a script run in this process.
func TestInProcess(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"exec ctx init\nstdout .\n", "run init\nstdout .\n"},
		{"! exec ctx\n# exec ctx\n", "! run\n# exec ctx\n"},
		{"exits 2 ctx log -n x", "run 2 log -n x\n"},
		{"stdin a\n\n# b\nexec ctx append\nexec ctx log\n",
			"stdin a\n\n# b\nexec ctx append\nrun log\n"},
		{"exec ctx log &\nexec ctx log &a&\n", "exec ctx log &\nexec ctx log &a&\n"},
		{"exec ctx browse\nexec ctx browsed\n", "exec ctx browse\nrun browsed\n"},
		{"exec ctx-eval\nexec sh -c 'exec ctx'\n", "exec ctx-eval\nexec sh -c 'exec ctx'\n"},
		{"exec ctx log\n-- a --\nexec ctx log\n", "run log\n-- a --\nexec ctx log\n"},
		{"exec ctx log\nenv PATH=x\n", "exec ctx log\nenv PATH=x\n"},
		{"# Each ctx is a process.\nexec ctx log\n", "# Each ctx is a process.\nexec ctx log\n"},
	} {
		if got := inProcess(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

// cmdRun is `run ARG...`, or `run CODE ARG...`: ctx runs in this process, and ends with that code.
func cmdRun(ts *testscript.TestScript, neg bool, args []string) {
	want, err := 0, errors.New("no code")
	if len(args) > 0 {
		want, err = strconv.Atoi(args[0])
	}
	if err == nil {
		args = args[1:]
	}
	w := fixed(worldOf(ts), ts.Getenv)
	code := run(context.Background(), w, args)
	switch {
	case neg && code == 0:
		ts.Fatalf("unexpected success")
	case !neg && code != want:
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// worldOf is the world of a script, as fromOS has it for a process: without a terminal.
func worldOf(ts *testscript.TestScript) world {
	home := ts.Getenv("HOME")
	or := func(variable, path string) string {
		if value := ts.Getenv(variable); value != "" {
			return value
		}
		return path
	}
	under := func(variable, path string) string {
		return filepath.Join(or(variable, filepath.Join(home, filepath.FromSlash(path))), "ctx")
	}
	conf := filepath.Join(under("XDG_CONFIG_HOME", ".config"), "config.toml")
	return world{
		stdin: strings.NewReader(""), stdout: ts.Stdout(), stderr: ts.Stderr(),
		dir: ts.MkAbs("."), home: home, getenv: ts.Getenv, pid: os.Getpid(),
		userConf: or("CTX_USER_CONFIG", conf),
		userData: or("CTX_USER_DATA", under("XDG_DATA_HOME", ".local/share")),
	}
}

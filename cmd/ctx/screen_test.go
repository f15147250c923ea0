package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
)

// screens are what a person sees of a made-up session: the files of testdata/screens.
func screens() map[string][]string {
	return map[string][]string{
		"brief":   {"brief", "-s", "work"},
		"project": {"brief", "--project"},
		"log":     {"log", "-s", "work"},
		"oneline": {"log", "-s", "work", "--oneline"},
		"graph":   {"log", "-s", "work", "--graph"},
		"list":    {"session", "list"},
		"search":  {"search", "宇宙"},
		"grep":    {"grep", "deploy"},
		"forest":  {"forest"},
		"op":      {"op", "log", "-n", "4"},
		"stats":   {"stats"},
		"diff":    {"diff", "-s", "work", "3"},
	}
}

// screenStore makes the session in dir: with wide characters, emoji, a fork, and a forgotten
// message.
func screenStore(t *testing.T, dir string) {
	t.Helper()
	tick := 0
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	say := func(args ...string) {
		t.Helper()
		var out, errs bytes.Buffer
		tick++
		w := screenWorld(dir, &out, &errs, tick)
		if code := run(context.Background(), w, args); code != 0 {
			t.Fatalf("ctx %q: exit %d: %s", args, code, errs.String())
		}
	}
	say("init")
	for i, text := range []string{
		"How do I deploy the 宇宙 service? It says 接続できません。",
		"Run `make deploy` 🚀🚀 and wait for 👪 to be told.",
		"A long answer: " + strings.Repeat("deploy again ", 30),
	} {
		say("append", "-s", "work", "--role", []string{"user", "model", "model"}[i], "-m", text)
	}
	say("branch", "fork", "-s", "work", "main", "eins", "zwei")
	say("append", "-s", "work", "-b", "eins", "--role", "model", "-m", "Ünïcode é in one branch")
	say("append", "-s", "work", "-b", "zwei", "--role", "tool", "-m", "exit 1\nsecond line")
	say("branch", "join", "-s", "work", "main", "eins", "zwei")
	say("append", "-s", "other", "--role", "user", "-m", "a secret that goes")
	say("forget", "other~0")
}

// screenWorld is a world with a fixed clock and no terminal.
func screenWorld(dir string, out, errs *bytes.Buffer, tick int) world {
	now := scriptStart().Add(time.Duration(tick) * time.Minute)
	return world{
		stdin: strings.NewReader(""), stdout: out, stderr: errs, dir: dir, home: filepath.Dir(dir),
		userData: filepath.Join(filepath.Dir(dir), "data"),
		host:     "host", pid: 1,
		getenv: func(string) string { return "" }, now: func() time.Time { return now },
		random: &hashStream{n: uint64(tick) << 32},
	}
}

// TestScreens compares what a terminal of 60, 80 and 200 columns gets, with colours and without;
// that of 60 has no line for which there is no room. `-update` writes the files.
func TestScreens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	screenStore(t, dir)
	for _, columns := range []int{60, 80, 200} {
		for _, color := range []bool{true, false} {
			var all strings.Builder
			for _, name := range slices.Sorted(mapKeys(screens())) {
				var out, errs bytes.Buffer
				w := screenWorld(dir, &out, &errs, 100)
				w.outTerm = func() bool { return true }
				w.columns = func() int { return columns }
				if !color {
					w.getenv = func(name string) string {
						return map[string]string{"NO_COLOR": "1"}[name]
					}
				}
				if code := run(context.Background(), w, screens()[name]); code != 0 {
					t.Errorf("%s: exit %d: %s", name, code, errs.String())
				}
				if !color && strings.Contains(out.String(), "\x1b") {
					t.Errorf("%s: a control sequence without colours", name)
				}
				for line := range strings.Lines(out.String()) {
					if columns == 60 && !color && !strings.Contains("grep diff op", name) &&
						displaywidth.String(line) > columns {
						t.Errorf("%s: a line of more than %d columns: %s", name, columns, line)
					}
				}
				fmt.Fprintf(&all, "$ ctx %s\n%s\n",
					strings.Join(screens()[name], " "), out.String())
			}
			file := filepath.Join("testdata", "screens",
				fmt.Sprintf("%d%s.txt", columns, map[bool]string{true: "-color"}[color]))
			compareFile(t, file, strings.ReplaceAll(all.String(), "\x1b", "␛"))
		}
	}
}

// TestNarrow holds that a terminal of 40 columns gets no line that it has no room for.
func TestNarrow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	screenStore(t, dir)
	for _, args := range [][]string{{"status"}, {"help"}, {"help", "log"}, {"list"}, {"brief"}} {
		var out, errs bytes.Buffer
		w := screenWorld(dir, &out, &errs, 100)
		w.outTerm = func() bool { return true }
		w.columns = func() int { return narrowest }
		w.getenv = func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }
		if code := run(context.Background(), w, args); code != 0 {
			t.Errorf("%q: exit %d: %s", args, code, errs.String())
		}
		for line := range strings.Lines(out.String()) {
			if displaywidth.String(line) > narrowest && !strings.HasPrefix(line, "store ") {
				t.Errorf("%q: a line of more than %d columns: %s", args, narrowest, line)
			}
		}
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// compareFile compares a text with a file, or writes the file with -update.
func compareFile(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.ReplaceAll(string(want), "\r\n", "\n"); got != text {
		t.Errorf("%s has changed; `go test ./cmd/ctx -run %s -update` writes it.\n%s", file,
			t.Name(), text)
	}
}

// TestPager shows when output goes through a pager, and that a reader who leaves it early is no
// error.
func TestPager(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "p")
	screenStore(t, dir)
	log := []string{"log", "-s", "work"}
	for _, one := range []struct {
		name, pager string
		args        []string
		terminal    bool
		words       string // that the pager is started with; "" for no pager
	}{
		{"by default", "", log, true, "less"},
		{"one of the user's", "more -s", log, true, "more -s"},
		{"cat", "cat", log, true, ""},
		{"no terminal", "", log, false, ""},
		{"--no-pager", "", append([]string{"--no-pager"}, log...), true, ""},
		{"--json", "", append(log, "--json"), true, ""},
		{"-z", "", append(log, "-z"), true, ""},
		{"short output", "", []string{"rev-parse", "work"}, true, ""},
	} {
		var out, errs bytes.Buffer
		w := screenWorld(dir, &out, &errs, 100)
		w.outTerm = func() bool { return one.terminal }
		w.getenv = func(name string) string {
			return map[string]string{"CTX_PAGER": one.pager, "PAGER": "never"}[name]
		}
		if one.pager == "" {
			w.getenv = func(string) string { return "" }
		}
		to, words := &gonePager{after: 1 << 20}, ""
		w.page = func(asked string) (io.WriteCloser, error) { words = asked; return to, nil }
		if code := run(context.Background(), w, one.args); code != 0 || words != one.words {
			t.Errorf("%s: exit %d, pager %q, want %q: %s", one.name, code, words, one.words,
				errs.String())
		}
		if (words == "") == (out.Len() == 0) || (words != "") != to.closed {
			t.Errorf("%s: %d bytes to the terminal, pager closed: %v", one.name,
				out.Len(), to.closed)
		}
		if words == "" {
			continue
		}
		to = &gonePager{}
		if code := run(context.Background(), w, one.args); code != 0 ||
			errs.Len() > 0 || !to.closed {
			t.Errorf("%s, left early: exit %d: %s", one.name, code, errs.String())
		}
	}
}

// gonePager takes so many bytes, and then has ended.
type gonePager struct {
	after  int
	closed bool
}

func (p *gonePager) Write(b []byte) (int, error) {
	if p.after -= len(b); p.after < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

func (p *gonePager) Close() error { p.closed = true; return nil }

// TestTmux shows that a real terminal, tmux, makes of these lines what they are meant for: lines
// that are cut to its width fit, wide characters or not.
func TestTmux(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("SKIPPED: tmux is not installed: screens are compared without a terminal alone")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "p")
	screenStore(t, dir)
	ctx := filepath.Join(t.TempDir(), "ctx")
	if err := os.Symlink(exe, ctx); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	call := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(dir), "TZ=UTC",
			"GORACE=atexit_sleep_ms=0", "LC_ALL=C.UTF-8", "CTX_PAGER=cat", "TERM=screen")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	defer func() { _ = exec.Command(tmux, "-S", socket, "kill-server").Run() }()
	// The server ends with its last session
	call("new-session", "-d", "-s", "keep", "tail", "-f", "/dev/null")
	for _, columns := range []int{80, 200} {
		for _, name := range []string{"graph", "oneline"} { // their lines are cut to the width
			line := fmt.Sprintf(
				"cd %s && %s %s; tmux -S %s wait-for -S done; exec tail -f /dev/null", dir, ctx,
				strings.Join(screens()[name], " "), socket)
			call("new-session", "-d", "-s", name, "-x", strconv.Itoa(columns), "-y", "60",
				"sh", "-c", line)
			call("wait-for", "done")
			plain, colored := call("capture-pane", "-p", "-t", name),
				call("capture-pane", "-p", "-e", "-t", name)
			call("kill-session", "-t", name)
			if name == "graph" { // and once through a pager
				call("new-session", "-d", "-s", name, "-x", strconv.Itoa(columns), "-y", "60", "sh",
					"-c", "export CTX_PAGER='sed s/^./+/'; "+line)
				call("wait-for", "done")
				if paged := call("capture-pane", "-p", "-t",
					name); !strings.Contains(paged, "\n+\\\n") {
					t.Errorf("the pager shows\n%s", paged)
				}
				call("kill-session", "-t", name)
			}
			var out, errs bytes.Buffer
			w := screenWorld(dir, &out, &errs, 100)
			w.outTerm, w.columns = func() bool { return true }, func() int { return columns }
			w.getenv = func(name string) string { return map[string]string{"NO_COLOR": "1"}[name] }
			run(context.Background(), w, screens()[name])
			if got := strings.TrimRight(plain, "\n"); got != strings.TrimRight(out.String(), "\n") {
				t.Errorf("%s at %d columns: the terminal shows\n%s\nof\n%s", name, columns,
					got, out.String())
			}
			if !strings.Contains(colored, "\x1b[33m") {
				t.Errorf("%s: no colours on a terminal: %q", name, colored)
			}
		}
	}
}

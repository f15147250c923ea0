package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/browse"
	"github.com/gemini-ctx/ctx/internal/cli/environ"
	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/eval"
	"github.com/gemini-ctx/ctx/internal/page/live"
	"github.com/gemini-ctx/ctx/internal/remote/sealed"
	"github.com/gemini-ctx/ctx/internal/repo"
	"github.com/gemini-ctx/ctx/internal/summarizer/model"
)

// TestMain lets the test binary be ctx, for scripts: with a clock and random bytes that come out
// the same in every run.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"ctx": func() {
			c, watch := environ.Interrupts("ctx")
			os.Exit(run(c, fixed(fromOS(c, watch), os.Getenv), os.Args[1:]))
		},
		"ctx-browse":          func() { os.Exit(browse.Main()) },
		"ctx-eval":            func() { os.Exit(eval.Main()) },
		"ctx-remote-age":      func() { sealed.Program().Main() },
		"ctx-view-serve":      func() { live.Main() },
		"ctx-summarize-agent": func() { os.Exit(model.AgentProgram().Main()) },
	})
}

// tests runs the tests of the package with their files in memory. The programs of testscript.Main
// stay on the disk.
type tests struct{ *testing.M }

// Run implements testscript.TestingM.
func (t tests) Run() int {
	defer inMemory()()
	debug.SetGCPercent(earlyGarbage) // as of a short command: each script makes many
	return t.M.Run()
}

// fixed pins a world with an environment: the first ctx of a script runs at one second past
// scriptStart, or the variable NOW, the next one a second later. The file .clock in the script's
// directory gets a byte from each.
func fixed(w world, getenv func(string) string) world {
	tick := int64(0)
	if dir := getenv("WORK"); dir != "" {
		f, err := os.OpenFile(filepath.Join(dir, ".clock"),
			os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.Write([]byte{'.'})
			tick, _ = f.Seek(0, io.SeekCurrent)
			_ = f.Close()
		}
	}
	start, err := time.Parse(time.RFC3339, getenv("NOW"))
	if err != nil {
		start = scriptStart()
	}
	now := start.Add(time.Duration(tick) * time.Second)
	w.now = func() time.Time { return now }
	seed, _ := strconv.ParseUint(getenv("SEED"), 10, 32) // 0 where a script sets none
	w.random = &hashStream{n: seed << 32}
	w.host = "host"
	w.patience, _ = time.ParseDuration(getenv("PATIENCE"))
	if dir := getenv("SCHEMAS"); dir != "" {
		w.tell = func(command string, fields []any, doc []byte) {
			noteSchema(dir, command, fields, doc)
		}
	}
	return w
}

func scriptStart() time.Time { return time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC) }

// hashStream gives the same bytes to everybody: stores of scripts all have one id and one key,
// unless the script sets SEED to a number before it makes another one.
type hashStream struct {
	n    uint64
	left []byte
}

func (h *hashStream) Read(p []byte) (int, error) {
	if len(h.left) == 0 {
		sum := sha256.Sum256(strconv.AppendUint(nil, h.n, 10))
		h.n++
		h.left = sum[:]
	}
	n := copy(p, h.left)
	h.left = h.left[n:]
	return n, nil
}

func TestScripts(t *testing.T) {
	seen := t.TempDir()
	t.Cleanup(func() { checkSchemas(t, seen) })
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, ".home")
			project := filepath.Join(e.WorkDir, "p")
			for _, dir := range []string{home, project} {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					return err
				}
			}
			e.Setenv("HOME", home)
			e.Setenv("SCHEMAS", seen)
			e.Setenv("USERPROFILE", home)
			e.Setenv("AppData", home)
			e.Setenv("XDG_CONFIG_HOME", "")
			e.Setenv("XDG_DATA_HOME", "")
			e.Setenv("LocalAppData", home)
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("ZEROS", strings.Repeat("0", 64))
			e.Cd = project
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   cmdExits,
			"setid":   cmdSetid,
			"bytes":   cmdBytes,
			"age":     cmdAge,
			"flip":    cmdFlip,
			"keep":    cmdKeep,
			"cut":     cmdCut,
			"fill":    cmdFill,
			"lines":   cmdLines,
			"clash":   cmdClash,
			"rmindex": cmdRmindex,
			"page":    cmdPage,
			"serve":   cmdServe,
			"expand":  cmdExpand,
			"run":     cmdRun,
		},
	})
}

// cmdExits is `exits CODE program args…`: the program runs and ends with that code.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdSetid is `setid NAME`: the first word of the last command's output becomes $NAME.
func cmdSetid(ts *testscript.TestScript, neg bool, args []string) {
	words := strings.Fields(ts.ReadFile("stdout"))
	if neg || len(args) != 1 || len(words) == 0 {
		ts.Fatalf("usage: setid NAME, after a command that printed something")
	}
	ts.Setenv(args[0], words[0])
}

// cmdBytes is `bytes FILE 'text with \x00'`: writes what a txtar file cannot hold.
func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bytes FILE TEXT")
	}
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// cmdAge is `age FILE DAYS`: the file was changed that many days ago, counted from a fixed day.
func cmdAge(ts *testscript.TestScript, neg bool, args []string) {
	path, days := fileAndNumber(ts, neg, args, "age FILE DAYS")
	when := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -days)
	ts.Check(os.Chtimes(path, when, when))
}

// cmdFlip is `flip FILE OFFSET`: flips a bit of the byte there, counted from the end where
// negative. FILE may be a pattern for one file. `flip ID` flips one of each of the last two
// bytes of an object that the log carries: readers mend one byte.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	var path string
	var at int
	if len(args) == 1 {
		path, at = inLog(ts, args[0])
		at -= 2
	} else {
		path, at = fileAndNumber(ts, neg, args, "flip FILE OFFSET")
	}
	b, err := os.ReadFile(path)
	ts.Check(err)
	if at < 0 {
		at += len(b)
	}
	b[at] ^= 1
	if len(args) == 1 {
		b[at+1] ^= 1
	}
	ts.Check(os.WriteFile(path, b, 0o600))
}

// cmdKeep is `keep FILE`: stores the object that the file has as one text, as it is.
func cmdKeep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: keep FILE")
	}
	r, err := repo.Open(repo.Env{WorkDir: ts.MkAbs("."), Now: time.Now})
	ts.Check(err)
	defer r.Close()
	raw, err := format.DecodeRaw([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(r.Objects.Put(raw))
}

// cmdCut is `cut FILE N`: takes the last N bytes of a file away.
func cmdCut(ts *testscript.TestScript, neg bool, args []string) {
	path, n := fileAndNumber(ts, neg, args, "cut FILE N")
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.Truncate(path, info.Size()-int64(n)))
}

// cmdFill is `fill FILE N`: writes N bytes of the letter x.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fill FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat("x", n)), 0o600))
}

// cmdLines is `lines FILE N`: writes N messages for append --jsonl.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"role\":\"user\",\"text\":\"message %d\"}\n", i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// cmdClash is `clash NAME`: four digits that two of the ids in the last command's output begin with
// become $NAME.
func cmdClash(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: clash NAME")
	}
	seen := map[string]bool{}
	for _, id := range strings.Fields(ts.ReadFile("stdout")) {
		if len(id) == 64 && seen[id[:4]] {
			ts.Setenv(args[0], id[:4])
			return
		}
		seen[id[:min(4, len(id))]] = true
	}
	ts.Fatalf("no two ids begin alike")
}

// cmdRmindex is `rmindex`: removes the indexes of all packs.
func cmdRmindex(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(".gemini/context/objects/pack/*.idx"))
	ts.Check(err)
	if neg || len(args) > 0 || len(found) == 0 {
		ts.Fatalf("usage: rmindex, where there is a pack")
	}
	for _, path := range found {
		ts.Check(os.Remove(path))
	}
}

// cmdExpand is `expand FILE`: puts the values of variables, as $WORK, into a file.
func cmdExpand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: expand FILE")
	}
	text := os.Expand(ts.ReadFile(args[0]),
		func(name string) string { return filepath.ToSlash(ts.Getenv(name)) })
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func fileAndNumber(ts *testscript.TestScript, neg bool, args []string, usage string) (string, int) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: %s", usage)
	}
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s is %d files", args[0], len(found))
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	return found[0], n
}

// inLog returns the file of the log that carries an object, and where the object ends in it.
func inLog(ts *testscript.TestScript, id string) (path string, end int) {
	r, err := repo.Open(repo.Env{WorkDir: ts.MkAbs("."), Now: time.Now})
	ts.Check(err)
	defer r.Close()
	v, err := r.Refs.Read()
	ts.Check(err)
	logs, err := filepath.Glob(filepath.Join(r.Dir, "refs", "log-*"))
	ts.Check(err)
	for _, raw := range v.Carried() {
		for _, path := range logs {
			b, err := os.ReadFile(path)
			ts.Check(err)
			text := format.AppendRaw(nil, raw)
			if at := bytes.Index(b, text); raw.ID().String() == id && at >= 0 {
				return path, at + len(text)
			}
		}
	}
	ts.Fatalf("the log does not carry object %s", id)
	return "", 0
}

// testWorld is a world without a terminal, a home or an environment.
func testWorld(dir, stdin string) world {
	return world{stdin: strings.NewReader(stdin), stdout: io.Discard, stderr: io.Discard, dir: dir,
		getenv: func(string) string { return "" },
		now:    scriptStart, random: &hashStream{}, host: "host", pid: 1}
}

// runIn executes one command line in this process, and returns its exit code and what it printed.
func runIn(t *testing.T, dir, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runWorld(testWorld(dir, stdin), args)
}

// runWith is runIn with durable calls that a test has a hand in.
func runWith(
	t *testing.T, fs *durable.FS, dir string, args ...string,
) (code int, stdout, stderr string) {
	t.Helper()
	w := testWorld(dir, "")
	w.fs = fs
	return runWorld(w, args)
}

func runWorld(w world, args []string) (code int, stdout, stderr string) {
	var out, errs strings.Builder
	w.stdout, w.stderr = &out, &errs
	code = run(context.Background(), w, args)
	return code, out.String(), errs.String()
}

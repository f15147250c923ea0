//go:build linux && faults

package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/internal/durable"
	"github.com/gemini-ctx/ctx/internal/faults"
)

// all asks for every point instead of a sample.
var all = os.Getenv("CTX_FAULTS") == "all"

// inside is set in the process that has its own mount namespace.
const inside = "KERNEL_INSIDE"

// TestMain runs the tests in their own mount namespace if it can, so that their mounts end with
// them.
func TestMain(m *testing.M) {
	if os.Getenv(inside) != "" || os.Geteuid() != 0 {
		os.Exit(m.Run())
	}
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Args[0] = os.Args[0]
	c.Env = append(os.Environ(), inside+"=1")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS,
		Pdeathsig: syscall.SIGKILL}
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		os.Exit(m.Run()) // without a namespace, tests that mount are skipped
	}
}

// needs skips a test if a program is missing.
func needs(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("SKIPPED: there is no %s here", name)
		}
	}
}

// needsMounts skips a test if it cannot mount.
func needsMounts(t *testing.T) {
	t.Helper()
	if os.Getenv(inside) == "" {
		t.Skip("SKIPPED: mounting takes root, and a mount namespace")
	}
}

// do runs a system tool, which must succeed.
func do(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// memory returns a directory on a memory file system if the machine has one.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ctx-kernel-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// settings make windows short, so that a small store has clusters.
var settings = []string{"CTX_WINDOW_GRADUATE_AT=6", "CTX_WINDOW_EVICT_AT=14",
	"CTX_FOREST_MAX_COLD_CLUSTERS=3"}

var topics = [][]string{
	{"database", "postgres", "replica", "schema", "migration", "vacuum", "index"},
	{"kitchen", "saffron", "oven", "recipe", "flour", "basil", "simmer"},
	{"railway", "platform", "timetable", "locomotive", "signal", "gauge", "junction"},
}

func message(n int) string {
	t := topics[n/8%3]
	return fmt.Sprintf("%s and %s, %s before %s: number %d", t[n%7], t[n%5], t[n%3], t[n%4], n)
}

// build makes a store that has something for every command: clusters, packs, an
// open branch, an undone rewind, a removed session, a state. The next operation will write a
// checkpoint.
func build(t *testing.T, p faults.Program) {
	t.Helper()
	p.Must(t, "init")
	write(t, filepath.Join(p.Dir, "lines"),
		strings.Repeat("{\"role\":\"user\",\"text\":\"a line of many\"}\n", 70))
	write(t, filepath.Join(p.Dir, "chat.jsonl"),
		`{"id":"1","role":"human","content":"list"}`+"\n"+
			`{"id":"2","role":"assistant","content":"a and b"}`+"\n")
	write(t, filepath.Join(p.Dir, "observed"),
		`{"key":"core/date","value":"today","first":"Today is today."}`+"\n")
	for n := range 20 {
		p.Must(t, "append", "-s", "talk", "--role", "user", "-m", message(n))
	}
	p.Must(t, "append", "-s", "gone", "--role", "user", "-m", "it will be removed")
	p.Must(t, "session", "rm", "gone", "--force")
	p.Must(t, "gc")
	p.Must(t, "compact", "-s", "talk")
	p.Must(t, "branch", "fork", "-s", "talk", "main", "side", "idle")
	p.Must(t, "append", "-s", "talk", "-b", "side", "--role", "model", "-m", "on the side")
	p.Must(t, "session", "state", "set", "-s", "talk", "step=1")
	for n := range 9 {
		p.Must(t, "append", "-s", "other", "--role", "user", "-m", message(30+n))
	}
	p.Must(t, "rewind", "-s", "other", "@~1")
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command is a command that changes a store.
type command struct {
	name string
	args []string
	many bool // it records several operations, between which it may be stopped
}

// commands are the commands to test. A new command that writes needs a new line.
var commands = []command{
	{name: "append", args: []string{"append", "-s", "talk", "--role", "user", "-m", "once more"}},
	{name: "append, a new session",
		args: []string{"append", "-s", "fresh", "--role", "user", "-m", "once more"}},
	{name: "append, a batch", args: []string{"append", "-s", "talk", "--jsonl", "lines"},
		many: true},
	{name: "graduate", args: []string{"-c", "window.graduate_at=3", "graduate", "-s", "talk"},
		many: true},
	{name: "compact", args: []string{"compact", "--all"}, many: true},
	{name: "rewind", args: []string{"rewind", "-s", "talk", "@~2"}},
	{name: "undo", args: []string{"undo", "-s", "other"}},
	{name: "fork", args: []string{"branch", "fork", "-s", "talk", "main", "left", "right"}},
	{name: "join", args: []string{"branch", "join", "-s", "talk", "main", "side", "idle"}},
	{name: "gc", args: []string{"-c", "gc.grace=0s", "gc"}},
	{name: "import", args: []string{"import", "jsonl", "-s", "chat", "chat.jsonl"}, many: true},
	{name: "epoch", args: []string{"epoch", "observe", "-s", "talk", "observed"}},
	{name: "state", args: []string{"session", "state", "set", "-s", "talk", "step=2"}},
	{name: "session rm", args: []string{"session", "rm", "talk", "--force"}},
	{name: "rebuild", args: []string{"rebuild"}, many: true},
}

// state is the content of each branch, and of the states of sessions.
type state map[string][]string

// stateOf reads a store with ctx itself.
func stateOf(p faults.Program) (state, error) {
	s := state{}
	r := p.Run("show-ref", "--json")
	if r.Code == 1 && r.Err == "" {
		return s, nil // no refs
	}
	if !r.OK() {
		return nil, errors.New(r.String())
	}
	for line := range strings.Lines(r.Out) {
		var ref struct{ Name, Session, Branch string }
		if err := json.Unmarshal([]byte(line), &ref); err != nil {
			return nil, err
		}
		var args []string
		switch {
		case ref.Branch != "":
			args = []string{"log", "-s", ref.Session, "-b", ref.Branch, "--json"}
		case strings.HasPrefix(ref.Name, "state/session/"):
			args = []string{"session", "state", "-s",
				strings.TrimPrefix(ref.Name, "state/session/"), "--json"}
		default:
			continue
		}
		shown := p.Run(args...)
		if !shown.OK() {
			return nil, errors.New(shown.String())
		}
		s[ref.Name] = []string{}
		for line := range strings.Lines(shown.Out) {
			var m struct {
				Text  string
				State json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				return nil, err
			}
			s[ref.Name] = append(s[ref.Name], m.Text+string(m.State))
		}
	}
	return s, nil
}

// between returns an error unless the state now is possible after a command that leads from before
// to after and was stopped. It must be one of the two; for a command of several operations, each
// branch may be in between.
func (c command) between(before, after, now state) error {
	if same(now, before) || same(now, after) {
		return nil
	}
	if !c.many {
		return fmt.Errorf("half done: %v", differences(before, now))
	}
	for name, texts := range now {
		if !prefix(before[name], texts) || !prefix(texts, after[name]) {
			return fmt.Errorf("%s is on no way from what it was to what it was to be: %d messages",
				name, len(texts))
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			return fmt.Errorf("%s is gone", name)
		}
	}
	return nil
}

func same(a, b state) bool {
	if len(a) != len(b) {
		return false
	}
	for name, texts := range a {
		other, there := b[name]
		if !there || !slices.Equal(texts, other) {
			return false
		}
	}
	return true
}

func prefix(short, long []string) bool {
	return len(short) <= len(long) && slices.Equal(short, long[:len(short)])
}

func differences(a, b state) (names []string) {
	for name := range a {
		if _, there := b[name]; !there {
			names = append(names, "-"+name)
		} else if !slices.Equal(a[name], b[name]) {
			names = append(names, name)
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			names = append(names, "+"+name)
		}
	}
	return names
}

// checkStore checks a store after a command was stopped or failed: it must be whole, and the next
// commands must work. It returns the state of the store.
func checkStore(p faults.Program, thorough bool) (state, error) {
	now, err := stateOf(p)
	if err != nil {
		return nil, fmt.Errorf("a reader: %w", err)
	}
	steps := [][]string{{"append", "-c", "lock.timeout=0s", "-s", "next", "--role", "user", "-m",
		"life goes on"}, {"fsck"}}
	if thorough {
		steps = append([][]string{{"fsck"}}, steps...)
		steps = append(steps, []string{"gc"}, []string{"fsck"})
		if err := age(p.Dir); err != nil {
			return nil, err
		}
	}
	for _, args := range steps {
		if r := p.Run(args...); !r.OK() {
			return nil, fmt.Errorf("after it: %v%s", r, r.Out)
		}
	}
	if thorough {
		if left := temporary(p.Dir); len(left) > 0 {
			return nil, fmt.Errorf("after gc: %v is left", left)
		}
	}
	return now, nil
}

// temporary lists the temporary files of a store.
func temporary(dir string) (left []string) {
	_ = filepath.WalkDir(
		filepath.Join(dir, ".gemini"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && durable.IsTemp(d.Name()) {
				left = append(left, path)
			}
			return nil
		})
	return left
}

// age makes temporary files so old that nobody can still be writing them.
func age(dir string) error {
	old := time.Now().Add(-48 * time.Hour)
	for _, path := range temporary(dir) {
		if err := os.Chtimes(path, old, old); err != nil {
			return err
		}
	}
	return nil
}

// cloneStore copies a directory with everything in it, including times.
func cloneStore(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := to + path[len(from):]
		if d.IsDir() {
			return os.MkdirAll(name, 0o700)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close(), os.Chtimes(name, info.ModTime(), info.ModTime()))
	})
}

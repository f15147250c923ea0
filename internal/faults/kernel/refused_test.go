//go:build linux && faults

package kernel

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// refused checks that a command failed with exit code 1, in a line that names something in the
// store, and a hint.
func refused(t *testing.T, r faults.Result, dir, hint string) {
	t.Helper()
	text := r.Err
	for strings.HasPrefix(text, "ctx: warning: ") {
		_, text, _ = strings.Cut(text, "\n")
	}
	first, rest, _ := strings.Cut(text, "\n")
	if r.Code != 1 || !strings.HasPrefix(first, "ctx: ") || !strings.Contains(first, dir) ||
		!strings.HasPrefix(rest, "hint: ") || !strings.Contains(rest, hint) {
		t.Errorf("%v\nwant 1, a line with %s, and a hint with %q", r, dir, hint)
	}
}

// checkHook checks that a hook ends with 0 and prints nothing for the agent, whatever the state of
// its store.
func checkHook(t *testing.T, p faults.Program) {
	t.Helper()
	transcript := filepath.Join(t.TempDir(), "session-2026-01-02T03-04-1a2b3c4d.jsonl")
	write(t, transcript,
		`{"sessionId":"1a2b3c4d-0000-4000-8000-000000000000","projectHash":"p","startTime":"2026-01-02T03:04:00.000Z","lastUpdated":"2026-01-02T03:04:00.000Z"}`+"\n"+
			`{"id":"m1","timestamp":"2026-01-02T03:04:05.000Z","type":"user","content":[{"text":"hello"}]}`+"\n")
	event, err := json.Marshal(
		map[string]string{"session_id": "1a2b3c4d-0000-4000-8000-000000000000",
			"transcript_path": transcript, "cwd": p.Dir, "hook_event_name": "AfterAgent"})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Command("hook", "gemini-cli")
	c.Stdin = strings.NewReader(string(event))
	if out, err := c.Output(); err != nil {
		t.Errorf("a hook: %v, %q", err, out)
	}
}

// said returns the texts of a session.
func said(t *testing.T, p faults.Program, session string) (texts []string) {
	t.Helper()
	for line := range strings.Lines(p.Must(t, "log", "-s", session, "--json")) {
		var m struct{ Text string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, m.Text)
	}
	return texts
}

// A full disk stops an append and loses no earlier message. With room again, appends work.
func TestFullDisk(t *testing.T) {
	needsMounts(t)
	bin := faults.Build(t)
	for _, c := range []struct {
		name string
		long int // how often a message repeats its number
		make func(t *testing.T) (p faults.Program, room func())
	}{
		{"of bytes", 300, func(t *testing.T) (faults.Program, func()) {
			at := memory(t)
			do(t, "mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", at)
			t.Cleanup(func() { do(t, "umount", at) })
			return faults.Program{Path: bin, Dir: at, Env: settings},
				func() { do(t, "mount", "-o", "remount,size=4m", at) }
		}},
		// A message that does not fit into a record makes two files.
		{"of files", 40000, func(t *testing.T) (faults.Program, func()) {
			d := newDisk(t, bin, 8, "-N", "280")
			var filler []string
			for n := range 200 {
				path := filepath.Join(d.at, fmt.Sprint("filler", n))
				if os.WriteFile(path, nil, 0o600) == nil {
					filler = append(filler, path)
				}
			}
			return d.program, func() {
				for _, path := range filler {
					if err := os.Remove(path); err != nil {
						t.Error(err)
					}
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, room := c.make(t)
			p.Must(t, "init")
			file := filepath.Join(t.TempDir(), "message")
			add := func(text string) faults.Result {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return p.Run("append", "-s", "talk", "--role", "user", "-F", file)
			}
			var acknowledged []string
			for n := range 400 {
				text := message(n) + strings.Repeat(fmt.Sprintf(" and %d", n), c.long)
				r := add(text)
				if !r.OK() {
					refused(t, r, filepath.Join(p.Dir, ".gemini"), "disk is full")
					break
				}
				acknowledged = append(acknowledged, text)
			}
			if n := len(acknowledged); n < 10 || n == 400 {
				t.Fatalf("%d messages fit", n)
			}
			checkHook(t, p)
			for range 3 { // the disk stays full, and nothing gets worse
				refused(t, add(strings.Repeat("too much ", 10*c.long)),
					filepath.Join(p.Dir, ".gemini"), "disk is full")
			}
			if got := said(t, p, "talk"); !slices.Equal(got, acknowledged) {
				t.Errorf("%d messages are there, and %d were acknowledged", len(got),
					len(acknowledged))
			}
			p.Must(t, "fsck")
			room()
			if _, err := checkStore(p, true); err != nil {
				t.Error(err)
			}
			p.Must(t, "append", "-s", "talk", "--role", "user", "-m", "there is room again")
			if got := said(t, p, "talk"); !slices.Equal(got,
				append(acknowledged, "there is room again")) {
				t.Errorf("%d messages are there, and %d were acknowledged", len(got),
					len(acknowledged)+1)
			}
			t.Logf("%d messages fitted", len(acknowledged))
		})
	}
}

// writers are commands of all kinds that write.
var writers = [][]string{
	{"append", "-s", "talk", "--role", "user", "-m", "no"},
	{"append", "-s", "talk", "--jsonl", "lines"}, {"rewind", "-s", "talk", "@~1"},
	{"undo", "-s", "other"},
	{"branch", "fork", "-s", "talk", "main", "more"}, {"compact", "--all", "--strategy", "flat"},
	{"session", "rm", "talk", "--force"}, {"session", "state", "set", "-s", "talk", "step=3"},
	{"import", "jsonl", "-s", "chat", "chat.jsonl"}, {"gc"},
}

var readers = [][]string{
	{"log", "-s", "talk"}, {"render", "-s", "talk"}, {"search", "saffron"}, {"show", "talk"},
	{"forest"}, {"op", "log"}, {"session", "list"}, {"branch", "list", "-s", "talk"},
	{"status"}, {"fsck"},
}

// On a read-only disk readers work, and writers report the reason.
func TestReadOnlyDisk(t *testing.T) {
	needsMounts(t)
	at := memory(t)
	do(t, "mount", "-t", "tmpfs", "tmpfs", at)
	t.Cleanup(func() { do(t, "umount", at) })
	p := faults.Program{Path: faults.Build(t), Dir: at, Env: settings}
	build(t, p)
	var printed []string
	for _, args := range readers {
		printed = append(printed, p.Must(t, args...))
	}
	do(t, "mount", "-o", "remount,ro", at)
	for _, cached := range []bool{true, false} {
		if !cached { // readers compute in memory what they cannot write
			do(t, "mount", "-o", "remount,rw", at)
			for _, path := range []string{"cache"} {
				if err := os.RemoveAll(filepath.Join(at, ".gemini", "context", path)); err != nil {
					t.Fatal(err)
				}
			}
			do(t, "mount", "-o", "remount,ro", at)
		}
		for i, args := range readers {
			if r := p.Run(args...); !r.OK() || r.Out != printed[i] {
				t.Errorf("%v: it printed %q, and before %q", r, r.Out, printed[i])
			}
		}
	}
	for _, args := range writers {
		refused(t, p.Run(args...), filepath.Join(at, ".gemini"), "make the path writable")
	}
	checkHook(t, p)
	do(t, "mount", "-o", "remount,rw", at)
	if _, err := checkStore(p, true); err != nil {
		t.Error(err)
	}
}

// If files cannot be changed, even by root, each command that needs one fails and names it.
func TestImmutableFiles(t *testing.T) {
	needsMounts(t)
	needs(t, "chattr")
	d := newDisk(t, faults.Build(t), 12, "-N", "2000")
	build(t, d.program)
	store := filepath.Join(d.program.Dir, ".gemini", "context")
	segments, err := filepath.Glob(filepath.Join(store, "refs", "log-*"))
	if err != nil || len(segments) == 0 || len(segments) > 9 {
		t.Fatalf("segments %v, %v", segments, err)
	}
	// Every operation writes to the newest segment; older ones are closed.
	for _, path := range []string{segments[len(segments)-1], filepath.Join(store, "lock.owner")} {
		name := filepath.Base(path)
		before, err := stateOf(d.program)
		if err != nil {
			t.Fatal(err)
		}
		do(t, "chattr", "+i", path)
		for _, args := range writers {
			r := d.program.Run(args...)
			now, err := stateOf(d.program)
			if err != nil || !same(before, now) {
				t.Errorf("%s may not be changed: %v: it was done all the same, or half: %v, %v",
					name, r, differences(before, now), err)
			}
			if args[0] != "gc" || !r.OK() {
				refused(t, r, filepath.Dir(path), "make the path writable")
			}
		}
		checkHook(t, d.program)
		do(t, "chattr", "-i", path)
		if _, err := checkStore(d.program, true); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

// With few open files allowed, a command works or reports the reason.
func TestFewOpenFiles(t *testing.T) {
	needs(t, "prlimit")
	bin := faults.Build(t)
	work := memory(t)
	template := filepath.Join(work, "template")
	if err := os.Mkdir(template, 0o700); err != nil {
		t.Fatal(err)
	}
	build(t, faults.Program{Path: bin, Dir: template, Env: settings})
	worked, failed := 0, 0
	for _, c := range commands {
		before, err := stateOf(faults.Program{Path: bin, Dir: template, Env: settings})
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{7, 8, 9, 10, 12} {
			p := faults.Program{Path: bin, Dir: filepath.Join(work, fmt.Sprint(most, c.args)),
				Env: settings}
			if err := cloneStore(template, p.Dir); err != nil {
				t.Fatal(err)
			}
			limited := p
			limited.Path = "prlimit"
			r := limited.Run(append([]string{fmt.Sprintf("--nofile=%d:%d", most, most), bin},
				c.args...)...)
			now, err := checkStore(p, most == 8)
			switch {
			case err != nil:
				t.Errorf("%s with %d files: %v; %v", c.name, most, err, r)
			case r.OK():
				worked++
			case strings.HasPrefix(r.Err, "runtime: "):
				// Go's own start-up took the last file, so no error message is possible.
			case r.Code != 1 || !strings.HasPrefix(r.Err, "ctx: ") ||
				!strings.Contains(r.Err, "too many open files"):
				t.Errorf("%s with %d files: %v", c.name, most, r)
			case !c.many && !same(before, now):
				t.Errorf("%s with %d files: it failed, and %v are changed; %v", c.name, most,
					differences(before, now), r)
			default:
				failed++
			}
			if err := os.RemoveAll(p.Dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	if failed == 0 || worked == 0 {
		t.Errorf("%d commands worked, %d failed", worked, failed)
	}
}

// A store of another user is not changed, and not read unless it is named. The message says who
// owns it, or what is not permitted.
func TestAnotherUser(t *testing.T) {
	needs(t, "setpriv")
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: being somebody else takes root")
	}
	dir := memory(t)
	if err := os.Chmod(dir, 0o755); err != nil { // lets the other user get this far
		t.Fatal(err)
	}
	built := faults.Build(t)
	bin := filepath.Join(dir, "ctx")
	copyFile(t, built, bin)
	project := filepath.Join(dir, "project")
	for _, err := range []error{os.Chmod(bin, 0o755), os.Mkdir(project, 0o755),
		os.Chmod(project, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p := faults.Program{Path: bin, Dir: project, Env: settings}
	build(t, p)
	other := p
	other.Path = "setpriv"
	as := func(args ...string) faults.Result {
		return other.Run(append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", bin},
			args...)...)
	}
	store := filepath.Join(project, ".gemini")
	for _, args := range append(readers, writers...) {
		refused(t, as(args...), store, "make the path writable") // .gemini has mode 0700
	}
	if err := os.Chmod(store, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range append(readers, writers...) {
		if r := as(args...); r.Code != 10 || !strings.Contains(r.Err, "another user") ||
			!strings.Contains(r.Err, store) {
			t.Errorf("%v: want 10, and whose store it is", r)
		}
	}
	other.Env = append(other.Env, "CTX_DIR="+project)
	for _, args := range append(readers, writers...) {
		refused(t, as(args...), store, "make the path writable") // it has mode 0700 too
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	other.Dir = empty // with a home below it: the other one may not be searched
	refused(t, as("init", empty), empty, "make the path writable")
}

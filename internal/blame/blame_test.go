package blame_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/blame"
	"github.com/gemini-ctx/ctx/internal/blame/replay"
	"github.com/gemini-ctx/ctx/internal/conversation"
	"github.com/gemini-ctx/ctx/internal/history"
	"github.com/gemini-ctx/ctx/internal/session"
	"github.com/gemini-ctx/ctx/internal/storetest"
)

var begin = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

// world is a file that several sessions edit, and what is known of its lines.
type world struct {
	*testing.T
	s     *session.Store
	r     *rand.Rand
	now   time.Time
	n     int
	text  []string
	by    []format.ID     // the message whose call wrote the line; zero for nobody
	last  map[string]bool // the sessions that have a prompt
	hands bool            // a person changes lines, too, which nobody records
}

const file = "/src/p/sub/a.go"

func query() blame.Query {
	return blame.Query{Name: "sub/a.go",
		Project: replay.Project{Root: "/src/p", HasDir: func(string) bool { return false }}}
}

func (w *world) say(session, branch string, m conversation.Message) format.ID {
	w.Helper()
	w.now = w.now.Add(time.Second)
	m.Time = w.now
	done, _, err := w.s.Conversation.Append(context.Background(), session, branch,
		[]conversation.Message{m}, conversation.AppendOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return done[0].ID
}

func parts(list ...any) json.RawMessage {
	b, _ := json.Marshal(list) // maps and strings can always be printed
	return b
}

func callPart(id, tool string, args any) any {
	return map[string]any{"functionCall": map[string]any{"id": id, "name": tool, "args": args}}
}

func resultPart(id, tool string, failed bool) any {
	response := map[string]string{"output": "done"}
	if failed {
		response = map[string]string{"error": "refused"}
	}
	return map[string]any{"functionResponse": map[string]any{"id": id, "name": tool,
		"response": response}}
}

// call makes a call in a session and returns its message. Sometimes the call comes with a later
// version of the message.
func (w *world) call(session, tool string, args any, failed bool) format.ID {
	w.Helper()
	branch := history.MainBranch
	if !w.last[session] {
		w.say(session, branch, conversation.Message{Role: "user", Text: "change the file"})
		w.last[session] = true
	}
	w.n++
	id := fmt.Sprintf("call-%d", w.n)
	made := callPart(id, tool, args)
	var entry format.ID
	if w.r.IntN(4) == 0 {
		source := &conversation.Source{Agent: "x", Session: session, Message: id}
		entry = w.say(session, branch,
			conversation.Message{Role: "model", Text: "I look.", Source: source})
		w.say(session, branch,
			conversation.Message{Role: "model",
				Parts: parts(map[string]string{"text": "I look."}, made), Source: source})
	} else {
		entry = w.say(session, branch, conversation.Message{Role: "model", Parts: parts(made)})
	}
	if w.r.IntN(8) != 0 || failed {
		w.say(session, branch,
			conversation.Message{Role: "tool", Parts: parts(resultPart(id, tool, failed))})
	}
	return entry
}

func (w *world) fresh() string {
	w.n++
	return fmt.Sprintf("\tstatement(%d, %d)", w.n, w.n*w.n)
}

// change replaces some lines by others, as one of the agents would do it.
func (w *world) change() {
	at := w.r.IntN(len(w.text))
	to := min(at+w.r.IntN(3), len(w.text))
	var now []string
	for range 1 + w.r.IntN(3) {
		now = append(now, w.fresh())
	}
	if w.hands && w.r.IntN(6) == 0 {
		w.put(at, to, now, format.ID{})
		return
	}
	before, after := w.text[max(at-1, 0):at], w.text[to:min(to+1, len(w.text))]
	old := strings.Join(slices.Concat(before, w.text[at:to], after), "\n")
	text := strings.Join(slices.Concat(before, now, after), "\n")
	name := fmt.Sprintf("session-%d", w.r.IntN(3))
	failed := w.r.IntN(6) == 0
	var id format.ID
	switch w.r.IntN(5) {
	case 0:
		id = w.call(name, "Edit",
			map[string]any{"file_path": file, "old_string": old, "new_string": text}, failed)
	case 1:
		id = w.call(name, "replace",
			map[string]any{"file_path": file, "old_string": old, "new_string": text,
				"instruction": "do"}, failed)
	case 2:
		id = w.call(name, "write_file",
			map[string]any{"file_path": file,
				"content": strings.Join(slices.Concat(w.text[:at], now, w.text[to:]), "\n") + "\n"},
			failed)
	case 3:
		var b strings.Builder
		b.WriteString("*** Begin Patch\n*** Update File: " + file + "\n@@\n")
		for i, list := range [][]string{before, w.text[at:to], now, after} {
			for _, s := range list {
				b.WriteString(" -+ "[i:i+1] + s + "\n")
			}
		}
		id = w.call(name, "apply_patch", map[string]any{"input": b.String() + "*** End Patch"},
			failed)
	default:
		at, to = len(w.text), len(w.text)
		id = w.call(name, "exec_command",
			map[string]any{"cmd": "cat >> " + file + " <<'EOF'\n" + strings.Join(now, "\n") +
				"\nEOF"}, failed)
	}
	if !failed {
		w.put(at, to, now, id)
	}
}

func (w *world) put(at, to int, now []string, by format.ID) {
	writers := make([]format.ID, len(now))
	for i := range writers {
		writers[i] = by
	}
	w.text = slices.Concat(w.text[:at], now, w.text[to:])
	w.by = slices.Concat(w.by[:at], writers, w.by[to:])
}

func (w *world) calls(q blame.Query) []*blame.Call {
	w.Helper()
	calls, err := w.s.Blame.Calls(storetest.View(w.T, w.s), q)
	if err != nil {
		w.Fatal(err)
	}
	return calls
}

func newWorld(t *testing.T, seed uint64) *world {
	return &world{T: t, s: storetest.Create(t), r: rand.New(rand.NewPCG(seed, 1)), now: begin,
		last: map[string]bool{}}
}

// Random edits by three sessions, in the forms of all agents, with calls that failed and lines by
// hand between: each line has its writer. Where nobody but the sessions changes the file, that
// holds for every line.
func TestModel(t *testing.T) {
	lines, wrong := 0, 0
	for seed := range uint64(60) {
		w := newWorld(t, seed)
		w.hands = seed%2 == 1
		for range 1 + w.r.IntN(12) {
			w.put(0, 0, []string{w.fresh()}, format.ID{})
		}
		for range 1 + w.r.IntN(25) {
			w.change()
		}
		w.call("session-0", "Edit",
			map[string]any{"file_path": "/src/p/b.go", "old_string": "x", "new_string": w.text[0]},
			false)
		text := strings.Join(w.text, "\n") + "\n"
		got := blame.Lines(query(), w.calls(query()), text, nil)
		for i, by := range w.by {
			lines++
			var id format.ID
			if got[i] != nil {
				id = got[i].Entry
			}
			// A call that writes the whole file counts as the writer of what somebody else wrote
			// before it, unless the store can tell that it was there.
			if id != by && !(by.IsZero() && got[i] != nil && got[i].Tool == "write_file") {
				wrong++
				if !w.hands {
					t.Errorf("seed %d: line %d, %q: %v, want %v", seed, i+1, w.text[i], id, by)
				}
			}
		}
	}
	t.Logf("%d of %d lines have another writer", wrong, lines)
	if lines < 500 || wrong*100 > lines {
		t.Errorf("%d of %d lines have another writer", wrong, lines)
	}
}

// What a session was told, where a call stands, and what is left out.
func TestCalls(t *testing.T) {
	w := newWorld(t, 1)
	edit := func(session, path, old, now string) format.ID {
		return w.call(session, "Edit",
			map[string]string{"file_path": path, "old_string": old, "new_string": now}, false)
	}
	first := edit("s", file, "a", "b")
	edit("s", "/src/p/a.go", "a", "b")       // another file
	edit("s", "/src/q/sub/a.go", "a", "b")   // another checkout
	edit("t", `C:\src\p\sub\a.go`, "b", "c") // on Windows
	moved := w.call("t", "Bash",
		map[string]string{"command": "cd /src/p && git mv sub/old.go sub/a.go"}, false)
	edit("u", "/src/p/sub/old.go", "x", "y") // after it had the other name
	ids := func(q blame.Query) (list []string) {
		for _, c := range w.calls(q) {
			list = append(list, c.Header.Session+" "+c.Checkout)
		}
		return list
	}
	if got := ids(query()); !slices.Equal(got,
		[]string{"s /src/p", "s /src/q", "t C:/src/p", "t /src/p"}) {
		t.Errorf("calls: %q", got)
	}
	q := query()
	q.Session = "t"
	if got := w.calls(q); len(got) != 2 || got[1].Entry != moved {
		t.Errorf("of a session: %d calls", len(got))
	}
	q = query()
	q.Earlier = func() []blame.Name { return []blame.Name{{Path: "sub/old.go"}} }
	if got := ids(q); len(got) != 5 || got[4] != "u /src/p" {
		t.Errorf("with an earlier name: %q", got)
	}
	prompt := storetest.Must[format.ID](t)(w.s.Blame.Prompt(first))
	if shown := storetest.Must[*history.Shown](t)(
		w.s.History.Entry(prompt)); shown.Text != "change the file" {
		t.Errorf("prompt: %q", shown.Text)
	}

	// A rewound call, and one on another branch.
	target := storetest.Must[format.Value](t)(history.Tip(storetest.View(t, w.s), "s",
		history.MainBranch)).ID
	edit("s", file, "b", "z")
	if _, err := w.s.Conversation.Fork(context.Background(), "u", history.MainBranch,
		[]string{"side"}, conversation.ForkOptions{}); err != nil {
		t.Fatal(err)
	}
	w.say("u", "side",
		conversation.Message{Role: "model",
			Parts: parts(
				callPart("side-1", "Write",
					map[string]string{"file_path": file, "content": "new\n"}))})
	if got := ids(query()); len(got) != 6 || got[5] != "u /src/p" {
		t.Errorf("on a branch: %q", got)
	}
	if _, err := w.s.Conversation.EndAt(context.Background(), "s", history.MainBranch, target,
		conversation.RewindOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := ids(query()); len(got) != 5 {
		t.Errorf("after a rewind: %q", got)
	}
	q = query()
	q.Rewound = true
	got := w.calls(q)
	if len(got) != 6 || !got[4].Rewound || got[5].Rewound {
		t.Errorf("with what was rewound: %+v", got)
	}

	// A session that begins with a copy of another one has the same calls.
	copied := map[string]string{"file_path": file, "content": "copy\n"}
	for _, name := range []string{"v", "w"} {
		w.say(name, history.MainBranch,
			conversation.Message{Role: "model", Parts: parts(callPart("copied", "Write", copied))})
	}
	if n := len(ids(query())); n != 6 {
		t.Errorf("%d calls with a copy", n)
	}
}

// A line that was committed before a call was not written by it.
func TestCommitted(t *testing.T) {
	w := newWorld(t, 1)
	w.call("s", "Write",
		map[string]string{"file_path": file, "content": "a line that is long enough\n}\n"}, false)
	calls := w.calls(query())
	text := "a line that is long enough\n}\n"
	for _, c := range []struct {
		at   time.Time
		want bool
	}{{time.Time{}, true}, {begin.Add(-time.Hour), false},
		{calls[0].Header.Time.Truncate(time.Second), true}, {begin.Add(time.Hour), true}} {
		got := blame.Lines(query(), calls, text, []time.Time{c.at, c.at})
		if (got[0] != nil) != c.want || got[1] == nil {
			t.Errorf("committed at %v: %v", c.at, got)
		}
	}
}

// Of two checkouts, the one that is asked about counts first.
func TestCheckouts(t *testing.T) {
	w := newWorld(t, 1)
	w.call("s", "Write",
		map[string]string{"file_path": "/other/p/sub/a.go", "content": "one\ntwo\nthree\n"}, false)
	w.call("t", "Edit",
		map[string]string{"file_path": file, "old_string": "two", "new_string": "2"}, false)
	got := blame.Lines(query(), w.calls(query()), "one\n2\nthree\nfour\n", nil)
	for i, want := range []string{"s", "t", "s", ""} {
		name := ""
		if got[i] != nil {
			name = got[i].Header.Session
		}
		if name != want {
			t.Errorf("line %d is of %q, not %q", i+1, name, want)
		}
	}
}

// Nothing is written: not the store, whatever the cache does.
func TestReadsOnly(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	w := newWorld(t, 1)
	w.call("s", "Write", map[string]string{"file_path": file, "content": "x\n"}, false)
	if err := os.Chmod(w.s.History.Dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(w.s.History.Dir, 0o700) })
	if n := len(w.calls(query())); n != 1 {
		t.Errorf("%d calls", n)
	}
}

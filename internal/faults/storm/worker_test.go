package storm

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/faults"
)

// event is a command of a worker, and its intention.
type event struct {
	faults.Result
	worker, step int
	verb         string
	session      string
	branch       string
	texts        []string // appended texts, in order
	again        bool     // appended before under the same source
	expect       string   // the tip that must be there
	children     []string
	seen         *seen // the output of a reader

	ids    []string // printed ids; whole lines count even if it was killed
	about  uint64   // of an undo or redo: the operation
	number uint64   // the operation that match found for it; 0 for none
}

// killed reports whether the command was killed, so that the worker does not know its result.
func (e *event) killed() bool { return e.Code == -1 }

func (e *event) String() string {
	return fmt.Sprintf("worker %d step %d: %v", e.worker, e.step, e.Result)
}

// seen is what a reader printed of a branch.
type seen struct {
	ids  []string // of messages, oldest first
	tail bool     // there may be more messages before them
}

// worker runs commands one after the other. They follow from the seed and the worker's number.
type worker struct {
	*storm
	n      int
	rng    *rand.Rand
	step   int
	said   int
	own    int                      // number of own sessions that it has finished
	tip    string                   // the last id it was told
	usual  map[string]time.Duration // how long each verb took the last time
	events []*event
}

// of returns the current session of a kind. Sessions change from time to time, so that none gets
// long.
func (w *worker) of(kind string) string { return fmt.Sprintf("%s-%d", kind, w.step/60) }

func (w *worker) open() string  { return w.of([]string{"open-a", "open-b"}[w.rng.IntN(2)]) }
func (w *worker) rough() string { return w.of("rough") }
func (w *worker) mine() string  { return fmt.Sprintf("own-%d-%d", w.n, w.own) }

func (w *worker) any() string {
	switch w.rng.IntN(5) {
	case 0:
		return w.rough()
	case 1:
		return w.mine()
	}
	return w.open()
}

var topics = [][]string{
	{"database", "postgres", "replica", "schema", "migration", "vacuum", "index"},
	{"kitchen", "saffron", "oven", "recipe", "flour", "basil", "simmer"},
	{"railway", "platform", "timetable", "locomotive", "signal", "gauge", "junction"},
	{"garden", "tulip", "compost", "greenhouse", "pruning", "seedling", "hedge"},
}

// text returns a new message of this worker. All messages of a storm differ.
func (w *worker) text() string {
	w.said++
	var b strings.Builder
	fmt.Fprintf(&b, "worker %d message %d:", w.n, w.said)
	topic := topics[w.rng.IntN(len(topics))]
	for range 4 + w.rng.IntN(8) {
		b.WriteString(" " + topic[w.rng.IntN(len(topic))])
	}
	return b.String()
}

// turn does the next thing, which may take several commands.
func (w *worker) turn() {
	switch p := w.rng.IntN(100); {
	case p < 26:
		w.say(w.open(), "main")
	case p < 32:
		w.sayLines(w.open(), 2+w.rng.IntN(60))
	case p < 36:
		w.sayTwice(w.open())
	case p < 39:
		s := w.rough()
		e := &event{verb: "append", session: s, branch: "main", texts: []string{w.text()},
			expect: w.tip}
		if w.tip != "" {
			w.do(e, "append", "-s", s, "--role", "user", "--expect", w.tip, "-m", e.texts[0])
		}
	case p < 45:
		w.forkAndJoin(w.open())
	case p < 55:
		w.say(w.rough(), "main")
	case p < 59:
		s := w.rough()
		w.do(&event{verb: "rewind", session: s, branch: "main"}, "rewind", "-s", s,
			fmt.Sprintf("@~%d", w.rng.IntN(4)))
	case p < 62:
		w.undo(w.rough())
	case p < 64:
		s := w.rough()
		w.do(&event{verb: "redo", session: s}, "redo", "-s", s, "--json")
	case p < 68:
		w.say(w.mine(), "main")
	case p < 70:
		w.do(&event{verb: "state", session: w.mine()}, "session", "state", "set", "-s", w.mine(),
			fmt.Sprintf("step=%d", w.step))
	case p < 72:
		w.remove()
	case p < 76:
		w.compact()
	case p < 78:
		w.do(&event{verb: "gc"}, "gc")
	case p < 80:
		s := w.any()
		w.do(&event{verb: "graduate", session: s, branch: "main"}, "graduate", "-s", s)
	default:
		w.read()
	}
}

func (w *worker) say(session, branch string) {
	e := &event{verb: "append", session: session, branch: branch, texts: []string{w.text()}}
	w.do(e, "append", "-s", session, "-b", branch, "--role", "user", "-m", e.texts[0])
}

// sayLines appends many messages in one command.
func (w *worker) sayLines(session string, n int) {
	e := &event{verb: "append", session: session, branch: "main"}
	var lines strings.Builder
	for range n {
		text := w.text()
		e.texts = append(e.texts, text)
		fmt.Fprintf(&lines, "{\"role\":\"model\",\"text\":%q}\n", text)
	}
	path := filepath.Join(w.program.Dir, fmt.Sprintf(".lines-%d", w.n))
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		w.t.Error(err)
		return
	}
	w.do(e, "append", "-s", session, "--jsonl", path)
}

// sayTwice appends a message under a source twice, as a writer does that does not know whether the
// first append succeeded.
func (w *worker) sayTwice(session string) {
	text := w.text()
	for _, again := range []bool{false, true} {
		e := &event{verb: "append", session: session, branch: "main",
			texts: []string{text}, again: again}
		w.do(e, "append", "-s", session, "--role", "user", "--source",
			fmt.Sprintf("storm-%d-%d", w.n, w.said), "-m", text)
	}
}

func (w *worker) forkAndJoin(session string) {
	var children []string
	for c := range 1 + w.rng.IntN(3) {
		children = append(children, fmt.Sprintf("c%d-%d-%d", w.n, w.step, c))
	}
	w.do(&event{verb: "fork", session: session, branch: "main", children: children},
		append([]string{"branch", "fork", "-s", session, "main"}, children...)...)
	// In the order of the join, so that a worker's messages have one order
	for _, child := range children {
		for range w.rng.IntN(3) {
			w.say(session, child)
		}
	}
	if w.rng.IntN(8) == 0 {
		return // left open
	}
	w.do(&event{verb: "join", session: session, branch: "main", children: children},
		append([]string{"branch", "join", "-s", session, "main"}, children...)...)
}

// remove removes the worker's own session, and restores it or begins another one.
func (w *worker) remove() {
	s := w.mine()
	w.do(&event{verb: "session-rm", session: s}, "session", "rm", s, "--force")
	if w.rng.IntN(2) == 0 {
		w.undo(s)
		return
	}
	w.own++
}

// undo takes the last change of a session back. Where a compaction is newer, it means that change.
func (w *worker) undo(session string) {
	e := &event{verb: "undo", session: session}
	w.do(e, "undo", "-s", session, "--json")
	if meant := meantUndo.FindStringSubmatch(e.Err); e.Code == 12 && meant != nil {
		w.do(&event{verb: "undo", session: session}, "undo", "-s", session, "--json", meant[1])
	}
}

var meantUndo = regexp.MustCompile(`ctx undo -s \S+ (\d+)`)

func (w *worker) compact() {
	if w.rng.IntN(3) == 0 {
		w.do(&event{verb: "compact"}, "compact", "--all")
		return
	}
	s := w.any()
	w.do(&event{verb: "compact", session: s, branch: "main"}, "compact", "-s", s)
}

func (w *worker) read() {
	switch w.rng.IntN(8) {
	case 0, 1, 2:
		s := w.any()
		w.do(&event{verb: "log", session: s, branch: "main"}, "log", "-s", s, "--json")
	case 3, 4:
		s := w.any()
		w.do(&event{verb: "render", session: s, branch: "main"}, "render", "-s", s,
			"--format", "json")
	case 5:
		topic := topics[w.rng.IntN(len(topics))]
		w.do(&event{verb: "search"}, "search", topic[w.rng.IntN(len(topic))], "--json")
	case 6:
		w.do(&event{verb: "op log"}, "op", "log", "-n", "20", "--json")
	default:
		w.do(&event{verb: "status"}, "status", "--json")
	}
}

// do runs a command, and sometimes kills it.
func (w *worker) do(e *event, args ...string) {
	after := time.Duration(-1)
	if w.rng.IntN(10) == 0 {
		after = time.Duration(
			w.rng.Float64() * 1.5 * float64(max(w.usual[e.verb], 2*time.Millisecond)))
	}
	e.worker, e.step = w.n, w.step
	e.Result = w.program.RunKill(after, args...)
	if e.OK() {
		w.usual[e.verb] = e.End.Sub(e.Start)
	}
	if err := e.understand(); err != nil {
		w.t.Errorf("%v: %v", e, err)
	}
	if len(e.ids) > 0 {
		w.tip = e.ids[len(e.ids)-1]
	}
	w.events = append(w.events, e)
}

// understand parses the output of a command.
func (e *event) understand() error {
	switch {
	case e.killed() && e.verb != "append", e.Code > 0:
		return nil
	case e.verb == "append", e.verb == "fork", e.verb == "join", e.verb == "rewind":
		whole := e.Out[:strings.LastIndexByte(e.Out, '\n')+1]
		e.ids = strings.Fields(whole)
		if len(e.ids) > max(len(e.texts), 1) || e.OK() && len(e.ids) < max(len(e.texts), 1) {
			return fmt.Errorf("%d ids printed", len(e.ids))
		}
	case e.verb == "undo", e.verb == "redo":
		var doc struct{ Operation uint64 }
		err := json.Unmarshal([]byte(e.Out), &doc)
		e.about = doc.Operation
		return err
	case e.verb == "log":
		e.seen = &seen{ids: []string{}}
		return eachLine(e.Out, func(line []byte) error {
			var m struct{ ID string }
			err := json.Unmarshal(line, &m)
			e.seen.ids = append(e.seen.ids, m.ID)
			return err
		})
	case e.verb == "render":
		var doc struct{ Tail []struct{ ID string } }
		err := json.Unmarshal([]byte(e.Out), &doc)
		e.seen = &seen{tail: true}
		for _, m := range doc.Tail {
			e.seen.ids = append(e.seen.ids, m.ID)
		}
		return err
	case e.verb == "search", e.verb == "op log", e.verb == "status":
		return eachLine(e.Out, func(line []byte) error { return json.Unmarshal(line, &struct{}{}) })
	}
	return nil
}

func eachLine(s string, do func([]byte) error) error {
	for line := range strings.Lines(s) {
		if err := do([]byte(line)); err != nil {
			return err
		}
	}
	return nil
}

package adk

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
)

// WriteOptions are for NewWriter.
type WriteOptions struct {
	Session string // the session's id
	Agent   string // the author of what a model says, and of results
	App     string // "" for what the session itself says, else DefaultApp
	User    string // "" for what the session itself says, else DefaultUser
	Unit    Unit   // of timestamps; Detect is JavaScript
	Lines   bool   // an event a line, and nothing of the session
	Bare    bool   // without what only ctx reads
	// State is the session's state as an object; nil for what the session itself says.
	State json.RawMessage
	// Kept is the note that an import made of what the session has besides events: IsSession tells.
	// nil for none.
	Kept *transcript.Message
}

// Orphan is the Caller of a result whose call is nowhere.
const Orphan = -2

// Item is a message and its place in a session.
type Item struct {
	transcript.Message
	Invocation string   // the one that it belongs to, whoever names it
	Path       []string // the branches that it was said in, where that was in a fork, the outer one first
	Branch     string   // set by the Writer
	Number     int      // of the message, from 0
	// Caller is the number of the message that made the calls which this one answers; -1 where it
	// answers none, Orphan where there is no such message.
	Caller int
	Open   []string // calls of it that nobody answers
	Set    []uint64 // the token set of its branch, where it is asked for

	tools func(string) string
}

// Written is what a Writer reports.
type Written struct {
	Events   int
	Messages int // in them; of an event that has the results of several each is counted
	Notes    int // events without content: no model sees them
	Answered int // calls without a result, answered with an error
	Orphans  int // results without a call, kept where no model sees them
	Gone     int // messages whose words are gone
	Left     int // messages and notes that are not there, since they have no place without metadata
	Session  int // 1 where what the session has besides events is not there, since only events are
}

// Writer writes messages as the events of a session, oldest first. The same messages give the same
// bytes.
type Writer struct {
	out     *bufio.Writer
	o       WriteOptions
	e       encoder
	report  Written
	seen    map[string]bool
	callers map[int]*caller
	due     []int // callers some of whose calls are open, and not told yet
	group   []*Item
	newest  time.Time       // of the events
	last    json.RawMessage // newest as its event has it
}

// caller is a message that made calls.
type caller struct {
	id   string // of its event
	item *Item  // without words
	open []format.Call
	told bool
}

// place is where among the calls the first of some results belongs.
func (c *caller) place(results []string) int {
	for i, call := range c.item.Calls {
		if slices.Contains(results, call.ID) {
			return i
		}
	}
	return len(c.item.Calls)
}

// NewWriter begins a session. Close ends it.
func NewWriter(w io.Writer, o WriteOptions) *Writer {
	if o.Unit == Detect {
		o.Unit = JavaScript
	}
	wr := &Writer{
		out: bufio.NewWriterSize(w, 64<<10), o: o, seen: map[string]bool{}, callers: map[int]*caller{},
		e: encoder{session: o.Session, agent: o.Agent, unit: o.Unit, bare: o.Bare},
	}
	switch {
	case !o.Lines:
		wr.head()
	case o.Kept != nil:
		wr.report.Session = 1
	}
	return wr
}

// head writes what a session has before its events.
func (w *Writer) head() {
	kept := w.kept()
	pick := func(own, name, standard string) json.RawMessage {
		if own != "" {
			return jsonvalue.Encode(own)
		}
		if v := kept.get(name); v != nil {
			return v
		}
		return jsonvalue.Encode(standard)
	}
	state := w.o.State
	if was := kept.get("state"); state == nil || was != nil && jsonvalue.Same(was, state) {
		state = was // in the order that it had
	}
	if state == nil {
		state = json.RawMessage("{}")
	}
	head := object{
		{"id", jsonvalue.Encode(w.o.Session)}, {"appName", pick(w.o.App, "appName", DefaultApp)}, {"userId", pick(w.o.User, "userId", DefaultUser)}, {"state", state},
	}
	line := head.encode()
	w.write(line[:len(line)-1], `,"events":[`)
}

// tail writes what a session has after its events: what comes before them says by its names what
// the input is.
func (w *Writer) tail() {
	tail := object{{"lastUpdateTime", w.updated()}}
	tail = append(tail, w.kept().without("id", "appName", "userId", "state", "lastUpdateTime", "events")...)
	w.write(nil, "\n],")
	w.write(tail.encode()[1:], "\n")
}

// Owner returns whose session an import found, by the note that it made; "" where that does not
// say.
func Owner(kept *transcript.Message) (app, user string) {
	w := Writer{o: WriteOptions{Kept: kept}}
	app, _ = jsonvalue.Text(w.kept().get("appName"))
	user, _ = jsonvalue.Text(w.kept().get("userId"))
	return app, user
}

// kept is what the session has besides events, as an import found it.
func (w *Writer) kept() object {
	if w.o.Kept == nil {
		return nil
	}
	_, rest := wordsOf(w.o.Kept)
	kept, _ := parseObject(rest.get("session"))
	return kept
}

func (w *Writer) write(b []byte, more string) {
	_, _ = w.out.Write(b)
	_, _ = w.out.WriteString(more) // the first error is kept, and Close returns it
}

// Add writes the next message. The caller may use it again afterwards.
func (w *Writer) Add(it Item) error {
	it.Branch = branchName(it.Path)
	it.tools = func(id string) string { return w.tool(it.Caller, id) }
	if it.Gone != "" {
		w.report.Gone++
	}
	if w.joins(&it) {
		if len(w.group) > 0 && !alike(w.group[0], &it) {
			w.flush()
		}
		w.answer(it.Caller)
		w.group = append(w.group, &it)
		return nil
	}
	w.flush()
	if !it.Note {
		w.answer(it.Caller)
	}
	w.one(&it)
	return nil
}

// joins reports whether a message is a result that shares an event with others of the same call.
func (w *Writer) joins(it *Item) bool {
	return it.Origin.Agent != Agent && it.Role == transcript.RoleTool && !it.Note && it.Gone == "" && it.Caller >= 0 && it.Set == nil &&
		len(it.Calls) == 0 && w.callers[it.Caller] != nil
}

// alike reports whether two results can be in one event.
func alike(a, b *Item) bool {
	_, kept := wordsOf(&a.Message)
	_, also := wordsOf(&b.Message)
	return a.Caller == b.Caller && a.Invocation == b.Invocation && a.Branch == b.Branch && string(kept.encode()) == string(also.encode())
}

// tool is the tool that a message called under an id.
func (w *Writer) tool(number int, id string) string {
	if c := w.callers[number]; c != nil {
		for _, call := range c.item.Calls {
			if call.ID == id {
				return call.Tool
			}
		}
	}
	return ""
}

// one writes a message as an event of its own.
func (w *Writer) one(it *Item) {
	id := w.id(it.Origin.Message)
	raw, content := w.e.one(it, id)
	if it.Caller == Orphan {
		w.report.Orphans++
	}
	if w.o.Bare && !content {
		w.report.Left++
		return
	}
	w.event(raw, 1)
	if !content {
		w.report.Notes++
	}
	if len(it.Calls) == 0 || it.Note {
		return
	}
	light := *it
	light.Text, light.Parts, light.tools = "", nil, nil
	c := &caller{id: id, item: &light}
	waiting := longRunning(&it.Message)
	for _, call := range it.Calls {
		if slices.Contains(it.Open, call.ID) && !slices.Contains(waiting, call.ID) {
			c.open = append(c.open, call)
		}
	}
	w.callers[it.Number] = c
	if len(c.open) > 0 {
		w.due = append(w.due, it.Number)
	}
}

// longRunning are the calls of an event that say themselves that they take their time.
func longRunning(m *transcript.Message) (ids []string) {
	_, rest := wordsOf(m)
	list, _ := jsonvalue.Elements(rest.get("longRunningToolIds"))
	for _, raw := range list {
		if id, ok := jsonvalue.Text(raw); ok {
			ids = append(ids, transcript.Fit(id))
		}
	}
	return ids
}

// flush writes the results that wait for more of the same call.
func (w *Writer) flush() {
	if len(w.group) == 0 {
		return
	}
	number := w.group[0].Caller
	w.respond(number, w.group)
	w.group = nil
}

// answer has every open call answered that has not been yet, but for those of one message, whose
// results come now.
func (w *Writer) answer(but int) {
	for _, number := range slices.Clone(w.due) {
		if number != but {
			w.respond(number, nil)
		}
	}
}

// respond writes an event with the results of a message's calls, and with an error for each call
// that will not get one.
func (w *Writer) respond(number int, items []*Item) {
	c := w.callers[number]
	var stand []format.Call
	if !c.told {
		stand, c.told = c.open, true
		w.due = slices.DeleteFunc(w.due, func(n int) bool { return n == number })
	}
	if len(items)+len(stand) == 0 {
		return
	}
	w.report.Answered += len(stand)
	id := w.id(c.id + "#resp")
	d := w.e.join(id, c, items, stand)
	if len(items) == 0 || w.o.Bare || w.e.readsBack(d, items...) {
		w.event(w.e.print(d), len(items))
		return
	}
	if len(stand) > 0 {
		w.event(w.e.print(w.e.join(id, c, nil, stand)), 0)
	}
	for _, it := range items {
		w.one(it)
	}
}

// id is an event's id: the one that is wished for, or where another event has it one with a number.
func (w *Writer) id(wish string) string {
	id := wish
	for n := 2; w.seen[id]; n++ {
		id = fmt.Sprintf("%s-%d", wish, n)
	}
	w.seen[id] = true
	return id
}

func (w *Writer) event(raw json.RawMessage, messages int) {
	switch {
	case w.o.Lines:
	case w.report.Events > 0:
		w.write(nil, ",\n")
	default:
		w.write(nil, "\n")
	}
	end := ""
	if w.o.Lines {
		end = "\n"
	}
	w.write(raw, end)
	w.report.Events++
	w.report.Messages += messages
	o, _ := parseObject(raw)
	raw = o.get("timestamp")
	if t, _, ok := parseStamp(raw, w.o.Unit); ok && (w.last == nil || t.After(w.newest)) {
		w.newest, w.last = t, raw
	}
}

// Close writes what is left of the session, and returns what was written, or the first error that
// writing met.
func (w *Writer) Close() (Written, error) {
	w.flush()
	w.answer(-1)
	if !w.o.Lines {
		w.tail()
	}
	return w.report, w.out.Flush()
}

// updated is when the session was changed last: with its newest event, or where an import was told
// so after that.
func (w *Writer) updated() json.RawMessage {
	kept, _, ok := parseStamp(w.kept().get("lastUpdateTime"), JavaScript)
	switch {
	case ok && kept.After(w.newest):
		return printStamp(kept, "", w.o.Unit)
	case w.last == nil:
		return json.RawMessage("0")
	}
	return w.last
}

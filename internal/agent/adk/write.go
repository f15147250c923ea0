package adk

import (
	"cmp"
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
	App     string // "" for that of Kept, or else DefaultApp
	User    string // "" for that of Kept, or else DefaultUser
	Unit    Unit   // of timestamps; Detect is JavaScript
	Lines   bool   // an event a line, without the session around them
	// State is the session's state as an object; nil for that of Kept.
	State json.RawMessage
	// Kept is the note with the members that the imported session had besides events; nil for none.
	// See IsSession.
	Kept *transcript.Message
}

// item is a message that becomes an event, or a piece of one.
type item struct {
	*transcript.Item
	branch string                 // Path as ADK has it
	tool   func(id string) string // names the tool of a call that the message answers
}

// The keys of transcript.Written.Left.
const (
	leftSession = "session" // its members besides events, where only events are written
)

// writer is the codec of sessions.
type writer struct {
	*transcript.Output
	o       WriteOptions
	seen    map[string]bool
	callers map[int]*caller
	due     []int // callers some of whose calls are open, and not answered yet
	group   []item
	newest  time.Time       // of the events
	last    json.RawMessage // newest as its event has it
}

// caller is a message that made calls.
type caller struct {
	id   string // of its event
	item item   // without words
	open []format.Call
	told bool
}

// index returns the index of the first call that some results answer.
func (c *caller) index(results []string) int {
	for i, call := range c.item.Calls {
		if slices.Contains(results, call.ID) {
			return i
		}
	}
	return len(c.item.Calls)
}

// NewWriter begins a session. The places of the messages (Item.Number, Caller, Turn and Path) are
// written down. Written.Messages counts each message of an event, also one that is a note.
func NewWriter(w io.Writer, o WriteOptions) transcript.Writer {
	if o.Unit == Detect {
		o.Unit = JavaScript
	}
	session := transcript.WriteOptions{Session: o.Session}
	return transcript.NewWriter(w, session, func(out *transcript.Output) transcript.Codec {
		return &writer{Output: out, o: o, seen: map[string]bool{}, callers: map[int]*caller{}}
	})
}

// Begin writes the beginning of the session, unless only events are written.
func (w *writer) Begin(*transcript.Item) {
	switch {
	case !w.o.Lines:
		w.head()
	case w.o.Kept != nil:
		w.Report.Left[leftSession] = 1
	}
}

// head writes the members that come before the events.
func (w *writer) head() {
	kept := keptIn(w.o.Kept)
	pick := func(own, name, standard string) json.RawMessage {
		if own != "" {
			return jsonvalue.Encode(own)
		}
		if kept.Has(name) {
			return kept[name]
		}
		return jsonvalue.Encode(standard)
	}
	state := w.o.State
	if was := get(kept, "state"); state == nil || was != nil && jsonvalue.Same(was, state) {
		state = was // in the order that it had
	}
	if state == nil {
		state = json.RawMessage("{}")
	}
	head := jsonvalue.NewObject("id", w.o.Session, "appName", pick(w.o.App, "appName", DefaultApp),
		"userId", pick(w.o.User, "userId", DefaultUser), "state", state)
	line := head.Ordered(headNames()...)
	w.Print("", line[:len(line)-1])
	w.Print(`,"events":[`, nil)
}

// tail writes the members that come after the events. A reader decides by the first members what
// the input is.
func (w *writer) tail() {
	tail := keptIn(w.o.Kept).Without(append(headNames(), "events")...)
	tail["lastUpdateTime"] = w.updated()
	w.Print("\n],", tail.Ordered("lastUpdateTime")[1:])
	w.Print("\n", nil)
}

// headNames are the members of a session before its events.
func headNames() []string { return []string{"id", "appName", "userId", "state"} }

// OwnerOf returns a short name for whose session it is: ADK has ids of sessions for each app and
// user.
func OwnerOf(app, user string) string {
	return transcript.Derive(8, cmp.Or(app, DefaultApp), cmp.Or(user, DefaultUser))
}

// Owner returns the names of the app and the user in the note that an import made; "" for none.
func Owner(kept *transcript.Message) (app, user string) {
	o := keptIn(kept)
	return o.Text("appName"), o.Text("userId")
}

// keptIn returns the members in the note that an import made; nil for no note.
func keptIn(note *transcript.Message) jsonvalue.Object {
	if note == nil {
		return nil
	}
	_, rest := wordsOf(note)
	return rest.Object("session")
}

// Message writes a message as an event, or holds a result back for others of the same call. It
// counts the messages itself, with their events.
func (w *writer) Message(of *transcript.Item) bool {
	it := item{of, branchName(of.Path), func(id string) string { return w.tool(of.Caller, id) }}
	if it.Gone != "" {
		w.Report.Changed[transcript.ChangedForgotten]++
	}
	if w.joins(it) {
		if len(w.group) > 0 && !alike(w.group[0], it) {
			w.flush()
		}
		w.answer(it.Caller)
		w.group = append(w.group, it)
		return false
	}
	w.flush()
	if !it.Note {
		w.answer(it.Caller)
	}
	w.one(it)
	return false
}

// joins reports whether a message is a result that may share an event with other results of the
// same message.
func (w *writer) joins(it item) bool {
	return it.Origin.Agent != Agent && it.Role == transcript.RoleTool && !it.Note &&
		it.Gone == "" && it.Caller >= 0 && it.Set == nil &&
		len(it.Calls) == 0 && w.callers[it.Caller] != nil
}

// alike reports whether two results can be in one event.
func alike(a, b item) bool {
	_, kept := wordsOf(&a.Message)
	_, also := wordsOf(&b.Message)
	return a.Caller == b.Caller && a.Turn == b.Turn && a.branch == b.branch &&
		string(jsonvalue.Encode(kept)) == string(jsonvalue.Encode(also))
}

// tool returns the tool that a message called under an id.
func (w *writer) tool(number int, id string) string {
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
func (w *writer) one(it item) {
	id := w.id(it.Origin.Message)
	d := w.draft(it, id)
	content := len(d.content) > 0
	if it.Orphan {
		w.Report.Changed[transcript.ChangedOrphans]++
	}
	w.event(d, 1)
	if !content {
		w.Report.Notes++
	}
	if len(it.Calls) == 0 || it.Note {
		return
	}
	light := *it.Item
	light.Text, light.Parts = "", nil
	c := &caller{id: id, item: item{Item: &light, branch: it.branch}}
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

// longRunning returns the calls of an event that it marks as long running.
func longRunning(m *transcript.Message) (ids []string) {
	_, rest := wordsOf(m)
	list, _ := rest.Array("longRunningToolIds")
	for _, raw := range list {
		if id, ok := jsonvalue.Text(raw); ok {
			ids = append(ids, transcript.Fit(id))
		}
	}
	return ids
}

// flush writes the results that are held back.
func (w *writer) flush() {
	if len(w.group) == 0 {
		return
	}
	number := w.group[0].Caller
	w.respond(number, w.group)
	w.group = nil
}

// answer writes an error for every open call that has no result yet, except for the calls of one
// message, whose results come now.
func (w *writer) answer(but int) {
	for _, number := range slices.Clone(w.due) {
		if number != but {
			w.respond(number, nil)
		}
	}
}

// respond writes an event with the results of a message's calls, and with an error for each call
// that will not get one.
func (w *writer) respond(number int, items []item) {
	c := w.callers[number]
	var stand []format.Call
	if !c.told {
		stand, c.told = c.open, true
		w.due = slices.DeleteFunc(w.due, func(n int) bool { return n == number })
	}
	if len(items)+len(stand) == 0 {
		return
	}
	if len(stand) > 0 {
		w.Report.Changed[transcript.ChangedCalls] += len(stand)
	}
	id := w.id(c.id + "#resp")
	d := w.join(id, c, items, stand)
	if len(items) == 0 || w.readsBack(d, items...) {
		w.event(d, len(items))
		return
	}
	if len(stand) > 0 {
		w.event(w.join(id, c, nil, stand), 0)
	}
	for _, it := range items {
		w.one(it)
	}
}

// id returns the id of an event: wish, with a number after it if another event has that id.
func (w *writer) id(wish string) string {
	id := wish
	for n := 2; w.seen[id]; n++ {
		id = fmt.Sprintf("%s-%d", wish, n)
	}
	w.seen[id] = true
	return id
}

// event writes an event that stands for a number of messages.
func (w *writer) event(d *draft, messages int) {
	raw := w.print(d)
	w.Report.Messages += messages
	stamp := get(jsonvalue.AsObject(raw), "timestamp")
	if t, _, ok := parseStamp(stamp, w.o.Unit); ok && (w.last == nil || t.After(w.newest)) {
		w.newest, w.last = t, stamp
	}
	if w.o.Lines {
		w.Record(raw)
		return
	}
	if w.Report.Records > 0 {
		w.Print(",", nil)
	}
	w.Print("\n", raw)
	w.Report.Records++
}

// End writes what was held back, and the end of the session.
func (w *writer) End() {
	w.flush()
	w.answer(-1)
	if !w.o.Lines {
		w.tail()
	}
}

// updated returns the time of the session's last change: that of its newest event, or a later one
// that an import found.
func (w *writer) updated() json.RawMessage {
	kept, _, ok := parseStamp(keptIn(w.o.Kept)["lastUpdateTime"], JavaScript)
	switch {
	case ok && kept.After(w.newest):
		return printStamp(kept, "", w.o.Unit)
	case w.last == nil:
		return json.RawMessage("0")
	}
	return w.last
}

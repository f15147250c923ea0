package opencode

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/agent/transcript"
)

// Writer writes messages as the document of a session, oldest first. The same messages give the same bytes.
type Writer struct {
	out    *bufio.Writer
	o      transcript.WriteOptions
	begun  bool
	now    *draft
	asked  string // the id of the newest message of a user
	last   uint64 // the newest number that an id was made of
	report transcript.Written
}

// draft is one of opencode's messages that is being made, and the messages that it has.
type draft struct {
	id, role string
	own      bool // opencode said it first
	info     transcript.Object
	parts    []transcript.Object
	members  []transcript.Message
	open     []string
	stamp    uint64
}

// NewWriter begins a document. Close ends it.
func NewWriter(w io.Writer, o transcript.WriteOptions) *Writer {
	return &Writer{out: bufio.NewWriterSize(w, 64<<10), o: o, report: transcript.NewWritten()}
}

// Add writes the next message.
func (w *Writer) Add(it transcript.Item) error {
	m := &it.Message
	kept := transcript.KeptIn(Agent, m)
	native := m.Origin.Agent == Agent && m.Gone == ""
	if !w.begun {
		w.begun = true
		w.head(m, native, kept)
		if native && kept.Has("session") {
			w.report.Count(m)
			return nil
		}
	}
	id, _, _ := strings.Cut(m.Origin.Message, "/")
	switch {
	case native && !kept.Has("session") && w.now != nil && w.now.own && w.now.id == id && strings.Contains(m.Origin.Message, "/"):
		w.now.add(m)
	case w.now != nil && !w.now.own && w.now.answers(m, &it):
		w.now.result(m)
	case !native && w.now != nil && w.now.goesOn(m):
		// Several messages made calls before the first result: here they are one.
		w.now.members = append(w.now.members, *m)
		w.parts(w.now, m)
	case native && kept.Has("info"):
		w.flush()
		w.now = &draft{id: id, own: true, info: kept.Object("info")}
		w.now.add(m)
	default:
		w.flush()
		w.foreign(&it)
	}
	w.now.open = append(w.now.open, it.Open...)
	w.report.Count(m)
	return nil
}

// add takes a message that is one of opencode's own, or a piece of it.
func (d *draft) add(m *transcript.Message) {
	d.members = append(d.members, *m)
	for _, p := range transcript.PartsOf(m) {
		switch p.Kind {
		case transcript.PartCall:
			d.call(p)
		case transcript.PartResult:
			d.answer(p, m.Time)
		default:
			if part, ok := ownPart(p); ok {
				d.parts = append(d.parts, part)
			}
		}
	}
}

// call adds the part of a tool that is still running.
func (d *draft) call(p transcript.Part) {
	o := p.Body.Object(Agent).Without()
	o.Set("type", "tool")
	o.Set("callID", p.ID)
	o.Set("tool", p.Tool)
	state := o.Object("state").Without()
	state["input"] = p.Args
	if object(p.Args) == nil {
		state["input"] = json.RawMessage("{}")
	}
	o["state"] = transcript.Encode(state)
	d.parts = append(d.parts, o)
}

// answer puts a result to its call.
func (d *draft) answer(p transcript.Part, when time.Time) bool {
	for i := range slices.Backward(d.parts) {
		o := d.parts[i]
		state := o.Object("state")
		if o.Text("type") != "tool" || o.Text("callID") != p.ID || state.Has("output") || state.Has("error") {
			continue
		}
		text, failed := p.Said()
		status, member := "completed", "output"
		if failed {
			status, member = "error", "error"
		}
		state.Set(member, text)
		if state["status"] == nil {
			state.Set("status", status)
			if !failed {
				state.Set("title", p.Tool)
			}
			state.Set("metadata", map[string]string{})
		}
		if ms := when.UnixMilli(); state["time"] == nil && ms > 0 {
			state.Set("time", map[string]int64{"start": ms, "end": ms})
		}
		o["state"] = transcript.Encode(state)
		return true
	}
	return false
}

// answers reports whether a message answers the calls of an answer that is being made, and nothing else.
func (d *draft) answers(m *transcript.Message, it *transcript.Item) bool {
	if m.Note || m.Gone != "" || it.Orphan || m.Role != transcript.RoleTool || len(m.Results) == 0 || len(m.Calls) > 0 || m.Parts == nil {
		return false
	}
	for _, id := range m.Results {
		if !slices.ContainsFunc(d.parts, func(o transcript.Object) bool {
			return o.Text("type") == "tool" && o.Text("callID") == id && !o.Object("state").Has("status")
		}) {
			return false
		}
	}
	return true
}

// goesOn reports whether a message of the model belongs to an answer that is being made: results are to come for that.
func (d *draft) goesOn(m *transcript.Message) bool {
	return !d.own && d.role == "assistant" && m.Role == transcript.RoleModel && !m.Note && m.Gone == "" &&
		slices.ContainsFunc(d.parts, func(o transcript.Object) bool {
			return o.Text("type") == "tool" && !o.Object("state").Has("status") && !slices.Contains(d.open, o.Text("callID"))
		})
}

func (d *draft) result(m *transcript.Message) {
	d.members = append(d.members, *m)
	for _, p := range transcript.PartsOf(m) {
		if p.Kind == transcript.PartResult {
			d.answer(p, m.Time)
		}
	}
}

// foreign begins one of opencode's messages for a message of another origin.
func (w *Writer) foreign(it *transcript.Item) {
	m := &it.Message
	d := &draft{members: []transcript.Message{*m}, stamp: w.stamp(m.Time), role: "user", info: transcript.Object{}}
	d.id = fmt.Sprintf("msg_%012x%s", d.stamp, transcript.Derive(14, Agent, m.Origin.Agent, m.Origin.Session, m.Origin.Message))
	w.now = d
	ms := max(m.Time.UnixMilli(), 0)
	switch {
	case m.Gone != "":
		w.report.Changed["forgotten"]++
		d.text(transcript.GoneText, false)
	case m.Note:
		d.text(transcript.WordsOr(m), true)
	case it.Orphan:
		w.report.Changed["results without a call"]++
		d.text(transcript.WordsOr(m), false)
	default:
		w.parts(d, m)
	}
	model := m.Author
	if model == "" || m.Role != transcript.RoleModel {
		model = "unknown"
	}
	if m.Role == transcript.RoleModel && !m.Note {
		d.role = "assistant"
		d.info.Set("parentID", w.asked)
		d.info.Set("modelID", model)
		d.info.Set("providerID", Agent)
		d.info.Set("mode", "build")
		d.info.Set("path", map[string]string{"cwd": w.o.Dir, "root": w.o.Dir})
		d.info.Set("cost", 0)
		d.info.Set("tokens", map[string]any{"input": 0, "output": m.Tokens, "reasoning": 0, "cache": map[string]int{"read": 0, "write": 0}})
		d.info.Set("time", map[string]int64{"created": ms, "completed": ms})
	} else {
		w.asked = d.id
		d.info.Set("model", map[string]string{"providerID": Agent, "modelID": model})
		d.info.Set("time", map[string]int64{"created": ms})
	}
	d.info.Set("role", d.role)
	d.info.Set("agent", "build")
}

// stamp is the number that the id of a message is made of, which grows.
func (w *Writer) stamp(t time.Time) uint64 {
	n := uint64(max(t.UnixMilli(), 0)) << 12
	w.last = max(n, w.last+1)
	return w.last & (1<<48 - 1)
}

func (d *draft) text(s string, ignored bool) {
	o := transcript.Object{}
	o.Set("type", "text")
	o.Set("text", s)
	if ignored {
		o.Set("ignored", true)
		o.Set("synthetic", true)
	}
	d.parts = append(d.parts, o)
}

func (w *Writer) parts(d *draft, m *transcript.Message) {
	for _, p := range transcript.PartsOf(m) {
		switch p.Kind {
		case transcript.PartText:
			if p.Text != "" {
				d.text(p.Text, false)
			}
		case transcript.PartMedia:
			d.parts = append(d.parts, plainPart(p, nil))
		case transcript.PartCall:
			p.Body = nil
			d.call(p)
		case transcript.PartResult:
			d.text(transcript.WordsOr(m), false)
		case transcript.PartHidden:
			if p.Text != "" {
				w.report.Changed["thoughts of other models"]++
			}
		default:
			w.report.Changed["parts without a form"]++
		}
	}
	if len(d.parts) == 0 {
		d.text(transcript.EmptyText, false)
	}
}

// head writes what comes before the messages. The note of what opencode's session said of itself is written there.
func (w *Writer) head(m *transcript.Message, native bool, kept transcript.Object) {
	ms := max(m.Time.UnixMilli(), 0)
	info := transcript.Object{}
	info.Set("projectID", "global")
	info.Set("directory", w.o.Dir)
	info.Set("title", w.o.Title)
	info.Set("version", "0.0.0")
	hints := transcript.Hints{V: 1, Added: true}
	if native && kept.Has("session") {
		info = kept.Object("session").Without()
		if title := transcript.PartsOf(m)[0]; title.Kind == transcript.PartText {
			info.Set("title", title.Text)
		}
		if w.o.Move {
			info.Set("directory", w.o.Dir)
		}
	}
	info.Set("id", w.o.Session)
	info.Set("time", map[string]int64{"created": ms, "updated": max(w.o.Now.UnixMilli(), ms)})
	if native && kept.Has("session") {
		got := infoMessage(w.o.Session, info, keptInfo(info))
		hints = transcript.Diff(m, &got)
	}
	if !hints.Empty() {
		info.Set(transcript.HintName, hints)
	}
	w.write(`{"info":`, info.Ordered("id", "slug", "projectID", "directory", "title", "version", "time"))
	if w.o.Home != nil {
		w.write(`,"ctx":`, transcript.Encode(transcript.Hints{V: 1, Home: w.o.Home}))
	}
	w.write(`,"messages":[`, nil)
}

func (w *Writer) write(s string, raw json.RawMessage) {
	_, _ = w.out.WriteString(s)
	_, _ = w.out.Write(raw) // the first error is kept, and Close returns it
}

// flush writes the message that is being made, with the hints with which it is read back as what it has.
func (w *Writer) flush() {
	d := w.now
	if d == nil {
		return
	}
	w.now = nil
	w.close(d)
	info, parts := d.finish(w.o.Session)
	got := decode(w.o.Session, info, parts)
	hints := transcript.Hints{V: 1, Alone: !d.own || len(got) != len(d.members)}
	said := 0
	for i := range d.members {
		base := blank(w.o.Session, d.id)
		if !hints.Alone {
			base = got[i]
		}
		h := transcript.Diff(&d.members[i], &base)
		if !h.Empty() {
			said++
		}
		h.V = 0
		hints.Of = append(hints.Of, h)
	}
	if said > 0 || hints.Alone {
		mark := transcript.Object{}
		mark.Set("id", fmt.Sprintf("prt_%012x%s", d.stamp, transcript.Derive(14, "hints", d.id)))
		mark.Set("sessionID", w.o.Session)
		mark.Set("messageID", d.id)
		mark.Set("type", "text")
		mark.Set("text", "")
		mark.Set("synthetic", true)
		mark.Set("ignored", true)
		mark.Set("metadata", map[string]any{transcript.HintName: hints})
		parts = slices.Insert(parts, 0, mark)
	}
	if w.report.Records > 0 {
		w.write(",", nil)
	}
	list := make([]json.RawMessage, len(parts))
	for i, o := range parts {
		list[i] = o.Ordered("id", "sessionID", "messageID", "type")
	}
	w.write("\n{\"info\":", info.Ordered("id", "sessionID", "role"))
	w.write(`,"parts":`, transcript.Array(list))
	w.write("}", nil)
	w.report.Records++
}

// close has every open call answered.
func (w *Writer) close(d *draft) {
	if d.own {
		return
	}
	for _, o := range d.parts {
		state := o.Object("state")
		if o.Text("type") != "tool" || state.Has("status") {
			continue
		}
		if slices.Contains(d.open, o.Text("callID")) {
			w.report.Changed["calls answered with an error"]++
		}
		state.Set("status", "error")
		state.Set("error", transcript.NoResult)
		state.Set("metadata", map[string]any{transcript.HintName: transcript.Hints{V: 1, Added: true}})
		state.Set("time", map[string]int64{"start": 0, "end": 0})
		o["state"] = transcript.Encode(state)
	}
}

// finish gives the message and its parts the names by which they belong together.
func (d *draft) finish(session string) (info transcript.Object, parts []transcript.Object) {
	info = d.info.Without()
	info.Set("id", d.id)
	info.Set("sessionID", session)
	for i, o := range d.parts {
		o = o.Without()
		if o["id"] == nil {
			o.Set("id", fmt.Sprintf("prt_%012x%04x%s", d.stamp, i, transcript.Derive(10, d.id)))
		}
		o.Set("sessionID", session)
		o.Set("messageID", d.id)
		parts = append(parts, o)
	}
	return info, parts
}

// Close writes what is left, and returns what was written, or the first error that writing met.
func (w *Writer) Close() (transcript.Written, error) {
	if !w.begun {
		w.head(&transcript.Message{Time: w.o.Now}, false, nil)
	}
	w.flush()
	w.write("\n]}\n", nil)
	return w.report, w.out.Flush()
}

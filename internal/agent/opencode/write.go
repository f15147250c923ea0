package opencode

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// writer is the codec of documents.
type writer struct {
	*transcript.Output
	now   *draft
	asked string // the id of the newest message of a user
	last  uint64 // the newest number that an id was made of
}

// draft is an opencode message that is being made, with the messages that it is made of.
type draft struct {
	id, role string
	own      bool // opencode said it first
	info     jsonvalue.Object
	parts    []jsonvalue.Object
	members  []transcript.Message
	open     []string
	stamp    uint64
	typed    map[string]int // where in the result of a part the words of a person belong
}

// NewWriter begins the document of a session.
func NewWriter(w io.Writer, o transcript.WriteOptions) transcript.Writer {
	return transcript.NewWriter(w, o,
		func(out *transcript.Output) transcript.Codec { return &writer{Output: out} })
}

// Message adds a message to the draft, or to a new one.
func (w *writer) Message(it *transcript.Item) bool {
	m := &it.Message
	kept := transcript.KeptIn(Agent, m)
	native := m.Origin.Agent == Agent && m.Gone == ""
	if w.now == nil && w.Report.Messages+w.Report.Notes == 0 && native && kept.Has("session") {
		return true // Begin wrote it
	}
	id, _, _ := strings.Cut(m.Origin.Message, "/")
	switch {
	case native && !kept.Has("session") && w.now != nil && w.now.own && w.now.id == id &&
		strings.Contains(m.Origin.Message, "/"):
		w.now.add(m)
	case w.now != nil && !w.now.own && w.now.answers(it):
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
		w.foreign(it)
	}
	w.now.open = append(w.now.open, it.Open...)
	return true
}

// add adds a message that is an opencode message, or a piece of one.
func (d *draft) add(m *transcript.Message) {
	d.members = append(d.members, *m)
	if to, ok := strings.CutSuffix(m.Origin.Message, saidName); ok {
		d.refused(strings.TrimPrefix(to, d.id+"/"), transcript.Words(m))
		return
	}
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
	if jsonvalue.AsObject(p.Args) == nil {
		state["input"] = json.RawMessage("{}")
	}
	o["state"] = jsonvalue.Encode(state)
	d.parts = append(d.parts, o)
}

// answer adds a result to its call.
func (d *draft) answer(p transcript.Part, when time.Time) {
	for i := range slices.Backward(d.parts) {
		o := d.parts[i]
		state := o.Object("state")
		if o.Text("type") != "tool" || o.Text("callID") != p.ID || state.Has("output") ||
			state.Has("error") {
			continue
		}
		text, failed := p.Said()
		var around [2]string
		if json.Unmarshal(p.Body.Object(Agent)[aroundName], &around) == nil {
			if d.typed == nil {
				d.typed = map[string]int{}
			}
			d.typed[o.Text("id")] = len(text + around[0])
			text += around[0] + around[1]
		}
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
		} else if meta := state.Object("metadata"); meta != nil && !failed &&
			o.Text("tool") == "bash" {
			meta = meta.Without()
			meta.Set("output", text) // which opencode shows
			state["metadata"] = jsonvalue.Encode(meta)
		}
		if ms := when.UnixMilli(); state["time"] == nil && ms > 0 {
			state.Set("time", map[string]int64{"start": ms, "end": ms})
		}
		o["state"] = jsonvalue.Encode(state)
		return
	}
}

// refused adds to the result of a call what the person said when refusing it.
func (d *draft) refused(part, words string) {
	at, ok := d.typed[part]
	for _, o := range d.parts {
		if state := o.Object("state"); ok && o.Text("id") == part {
			text := state.Text("error")
			state.Set("error", text[:at]+words+text[at:])
			o["state"] = jsonvalue.Encode(state)
		}
	}
}

// answers reports whether a message only answers calls of the draft.
func (d *draft) answers(it *transcript.Item) bool {
	m := &it.Message
	if m.Note || m.Gone != "" || it.Orphan || m.Role != transcript.RoleTool ||
		len(m.Results) == 0 || len(m.Calls) > 0 || m.Parts == nil {
		return false
	}
	return !slices.ContainsFunc(m.Results, func(id string) bool {
		return !slices.ContainsFunc(d.parts, func(o jsonvalue.Object) bool {
			return o.Text("type") == "tool" && o.Text("callID") == id &&
				!o.Object("state").Has("status")
		})
	})
}

// goesOn reports whether a message of the model belongs to the draft: calls of the draft still wait
// for their results.
func (d *draft) goesOn(m *transcript.Message) bool {
	return !d.own && d.role == "assistant" && m.Role == transcript.RoleModel && !m.Note &&
		m.Gone == "" &&
		slices.ContainsFunc(d.parts, func(o jsonvalue.Object) bool {
			return o.Text("type") == "tool" && !o.Object("state").Has("status") &&
				!slices.Contains(d.open, o.Text("callID"))
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

// foreign begins a draft for a message of another origin.
func (w *writer) foreign(it *transcript.Item) {
	m := &it.Message
	d := &draft{members: []transcript.Message{*m}, stamp: w.stamp(m.Time), role: "user"}
	d.id = fmt.Sprintf("msg_%012x%s", d.stamp,
		transcript.Derive(14, w.Session, m.Origin.Agent, m.Origin.Session, m.Origin.Message))
	w.now = d
	// opencode sorts by it: not the time of a message that is older than the one before
	ms := w.last >> 12
	if m.Note && m.Gone == "" {
		d.text(transcript.WordsOr(m), true)
	} else if text, ok := w.StandIn(it); ok {
		d.text(text, false)
	} else {
		w.parts(d, m)
	}
	model := m.Author
	if model == "" || m.Role != transcript.RoleModel {
		model = "unknown"
	}
	if m.Role == transcript.RoleModel && !m.Note {
		d.role = "assistant"
		d.info = jsonvalue.NewObject("parentID", w.asked, "modelID", model, "providerID", Agent,
			"mode", "build", "cost", 0,
			"path", map[string]string{"cwd": w.Dir, "root": w.Dir}, "time",
			map[string]uint64{"created": ms, "completed": ms},
			"tokens",
			map[string]any{"input": 0, "output": m.Tokens, "reasoning": 0,
				"cache": map[string]int{"read": 0, "write": 0}})
	} else {
		w.asked = d.id
		d.info = w.asks(model)
	}
	d.info.Set("role", d.role)
	d.info.Set("agent", "build")
}

// stamp returns the number for the id of a message. The numbers grow.
func (w *writer) stamp(t time.Time) uint64 {
	n := uint64(max(t.UnixMilli(), 0)) << 12
	w.last = max(n, w.last+1)
	return w.last & (1<<48 - 1)
}

func (d *draft) text(s string, ignored bool) {
	o := jsonvalue.NewObject("type", "text", "text", s)
	if ignored {
		o.Set("ignored", true)
		o.Set("synthetic", true)
	}
	d.parts = append(d.parts, o)
}

func (w *writer) parts(d *draft, m *transcript.Message) {
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
				w.Lose(p)
			}
		default:
			w.Lose(p)
		}
	}
	if len(d.parts) == 0 {
		d.text(transcript.EmptyText, false)
	}
}

// Begin writes the members of the session. They come from the note that an import made of them, if
// the first message is that note.
func (w *writer) Begin(first *transcript.Item) {
	m := &transcript.Message{Time: w.Now}
	if first != nil {
		m = &first.Message
	}
	_, kept, native := transcript.Native(Agent, m)
	native = native && kept.Has("session")
	ms := max(m.Time.UnixMilli(), 0)
	info := jsonvalue.NewObject("slug", "", "projectID", "global", "directory", w.Dir, "title",
		w.Title, "version", "0.0.0")
	hints := transcript.Added()
	if native {
		info = kept.Object("session").Without()
		if title := transcript.PartsOf(m)[0]; title.Kind == transcript.PartText {
			info.Set("title", title.Text)
		}
		if w.Move {
			info.Set("directory", w.Dir)
		}
	}
	info.Set("id", w.Session)
	if info.Text("slug") == "" {
		// opencode imports no session without it
		info.Set("slug", "ctx-"+transcript.Derive(8, w.Session))
	}
	info.Set("time", map[string]int64{"created": ms, "updated": max(w.Now.UnixMilli(), ms)})
	if native {
		got := infoMessage(w.Session, info, keptInfo(info))
		hints = transcript.Diff(m, &got)
	}
	if !hints.Empty() {
		info.Set(transcript.HintName, hints)
	}
	w.Print(`{"info":`,
		info.Ordered("id", "slug", "projectID", "directory", "title", "version", "time"))
	if w.Home != nil {
		w.Print(`,"ctx":`, jsonvalue.Encode(transcript.Hints{V: 1, Home: w.Home}))
	}
	w.Print(`,"messages":[`, nil)
	w.before(m.Time)
}

// before writes what stands for the conversation before the first message. Nobody said it: its
// hints are those of no message.
func (w *writer) before(when time.Time) {
	if w.Before == "" {
		return
	}
	d := &draft{stamp: w.stamp(when.Add(-time.Millisecond)), role: "user"}
	d.id = fmt.Sprintf("msg_%012x%s", d.stamp, transcript.Derive(14, "before", w.Session, w.Before))
	d.info = w.asks("unknown")
	d.text(w.Before, false)
	w.now = d
	w.flush()
	w.asked = d.id
}

// asks returns the members of a message that a user said to a model.
func (w *writer) asks(model string) jsonvalue.Object {
	provider := Agent
	if before, after, ok := strings.Cut(w.Model, "/"); ok {
		provider, model = before, after // opencode goes on with the newest one
	}
	return jsonvalue.NewObject("role", "user", "agent", "build", "model",
		map[string]string{"providerID": provider, "modelID": model},
		"time", map[string]uint64{"created": w.last >> 12})
}

// flush writes the draft, with the hints from which its messages are read back.
func (w *writer) flush() {
	d := w.now
	if d == nil {
		return
	}
	w.now = nil
	w.answer(d)
	info, parts := d.finish(w.Session, w.Move)
	got := decode(w.Session, info, parts)
	hints := transcript.Hints{V: 1, Alone: !d.own || len(got) != len(d.members), Home: w.TakeHome()}
	said := 0
	for i := range d.members {
		base := blank(w.Session, d.id)
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
	if said > 0 || hints.Alone || hints.Home != nil {
		mark := jsonvalue.NewObject("id",
			fmt.Sprintf("prt_%012x%s", d.stamp, transcript.Derive(14, "hints", info.Text("id"))),
			"sessionID", w.Session,
			"messageID", info.Text("id"), "type", "text", "text", "", "synthetic", true, "ignored",
			true, "metadata", map[string]any{transcript.HintName: hints})
		parts = slices.Insert(parts, 0, mark)
	}
	if w.Report.Records > 0 {
		w.Print(",", nil)
	}
	list := lists.Map(parts, func(o jsonvalue.Object) json.RawMessage {
		return o.Ordered("id", "sessionID", "messageID", "type")
	})
	w.Print("\n{\"info\":", info.Ordered("id", "sessionID", "role"))
	w.Print(`,"parts":`, jsonvalue.Array(list))
	w.Print("}", nil)
	w.Report.Records++
}

// answer gives each call without a result an error.
func (w *writer) answer(d *draft) {
	if d.own {
		return
	}
	for _, o := range d.parts {
		state := o.Object("state")
		if o.Text("type") != "tool" || state.Has("status") {
			continue
		}
		if slices.Contains(d.open, o.Text("callID")) {
			w.Report.Changed[transcript.ChangedCalls]++
		}
		state.Set("status", "error")
		state.Set("error", transcript.NoResult)
		state.Set("metadata",
			map[string]any{transcript.HintName: transcript.Hints{V: 1, Added: true}})
		state.Set("time", map[string]int64{"start": 0, "end": 0})
		o["state"] = jsonvalue.Encode(state)
	}
}

// finish sets the ids of the message and of its parts. In a session that moves they are moved ids.
func (d *draft) finish(
	session string, move bool,
) (info jsonvalue.Object, parts []jsonvalue.Object) {
	move = move && d.own
	info = d.info.Without()
	info.Set("id", d.id)
	info.Set("sessionID", session)
	if move {
		moveIDs(info, session, "id", "parentID")
	}
	for i, o := range d.parts {
		o = o.Without()
		if o["id"] == nil {
			o.Set("id", fmt.Sprintf("prt_%012x%04x%s", d.stamp, i, transcript.Derive(10, d.id)))
		}
		o.Set("sessionID", session)
		o.Set("messageID", info.Text("id"))
		if move {
			moveIDs(o, session, "id")
		}
		parts = append(parts, o)
	}
	return info, parts
}

// End writes the draft and the end of the document.
func (w *writer) End() {
	w.flush()
	w.Print("\n]}\n", nil)
}

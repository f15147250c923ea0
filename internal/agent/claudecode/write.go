package claudecode

import (
	"cmp"
	"encoding/json"
	"io"
	"strings"

	"github.com/gemini-ctx/ctx/format"
	"github.com/gemini-ctx/ctx/internal/agent/transcript"
	"github.com/gemini-ctx/ctx/internal/jsonvalue"
	"github.com/gemini-ctx/ctx/internal/lists"
)

// writer is the codec of transcripts.
type writer struct {
	*transcript.Output
	d    *decoder
	seen map[string]bool
	last string // the record of the message before
	prev string // the record before, also one with results that the writer added
	in   string // the directory of the first record that has one
}

// NewWriter begins a transcript.
func NewWriter(w io.Writer, o transcript.WriteOptions) transcript.Writer {
	return transcript.NewWriter(w, o, func(out *transcript.Output) transcript.Codec {
		return &writer{Output: out, d: newDecoder(), seen: map[string]bool{}}
	})
}

// Begin writes what stands for the conversation before the first message, in the form that Claude
// Code has for its own summaries.
func (w *writer) Begin(*transcript.Item) {
	if w.Before == "" {
		return
	}
	rec := w.made()
	rec.Set("type", kindUser)
	rec.Set("isCompactSummary", true)
	w.added(rec, transcript.UUID(Agent, "before", w.Session, w.Before), w.Before)
}

// Message writes a message as a record.
func (w *writer) Message(it *transcript.Item) bool {
	said, kept, native := transcript.Native(Agent, &it.Message)
	switch {
	case native && w.Move && !it.Note && isBlank(said):
		w.Report.Left["messages without a word"]++
		return false
	case native:
		w.native(&it.Message, said, kept)
	default:
		w.foreign(it)
	}
	return true
}

// native writes a message of Claude Code as its original record.
func (w *writer) native(
	m *transcript.Message, said []json.RawMessage, kept jsonvalue.Object,
) {
	rec := kept.Without("listed", "untimed", transcript.BeforeName, "parentUuid", "message", "type")
	kind := kindUser
	if m.Role == transcript.RoleModel {
		kind = kindAssistant
	}
	if s, ok := jsonvalue.Text(kept["type"]); ok {
		kind = s
	}
	rec.Set("type", kind)
	switch kind {
	case kindUser, kindAssistant:
		rec["message"] = w.inner(kind, m, kept, said)
	case kindQueue, kindAttachment:
		prompt(kind, kept, said, rec)
	default:
		if kept.Has("message") {
			rec["message"] = kept["message"]
		}
		for _, raw := range said {
			p := transcript.ReadPart(raw)
			if member := p.Body.Object(Agent).Text("member"); member != "" {
				rec.Set(member, p.Text)
			}
		}
	}
	if rec["timestamp"] == nil && !m.Time.IsZero() && !kept.True("untimed") {
		rec.Set("timestamp", transcript.Stamp(m.Time))
	}
	if strings.HasPrefix(m.Origin.Message, summaryID) ||
		strings.HasPrefix(m.Origin.Message, queuedID) {
		w.unnamed(m, rec, kept)
		return
	}
	up := w.prev
	if m.Note || m.Role == transcript.RoleTool {
		switch s, ok := jsonvalue.Text(kept["parentUuid"]); {
		case ok && w.seen[s]:
			up = s
		case string(kept["parentUuid"]) == "null":
			up = ""
		}
	}
	before, _ := kept.Array(transcript.BeforeName)
	up = w.linked(before, rec, up)
	w.record(m, rec, m.Origin.Message, up, before, false)
}

// unnamed writes a record that has no id, so that no record follows it.
func (w *writer) unnamed(m *transcript.Message, rec, kept jsonvalue.Object) {
	before, _ := kept.Array(transcript.BeforeName)
	w.linked(before, rec, "")
	w.Hint(rec, m, false, func(rec jsonvalue.Object) transcript.Message {
		got := w.d.decode(withID(rec, unnamedID(rec), w.Session), nil, before)
		if kept.True("untimed") {
			got.Time = m.Time // a reader takes it from the records around
		}
		return got
	})
	if rec.Text("type") == kindQueue {
		rec.Set("sessionId", w.Session)
		if rec[transcript.HintName] == nil {
			// The prompt was said, whatever the records of the queue say.
			rec.Set(transcript.HintName, transcript.Hints{V: 1})
		}
	}
	w.write(rec)
}

// prompt puts the words of a queued prompt into its record.
func prompt(kind string, kept jsonvalue.Object, parts []json.RawMessage, rec jsonvalue.Object) {
	to, member, listed := rec, "content", kept.True("listed")
	if kind == kindAttachment {
		if to = kept.Object(kindAttachment); to == nil {
			return
		}
		member, listed = "prompt", to.True("listed")
		delete(to, "listed")
		defer func() { rec[kindAttachment] = jsonvalue.Encode(to) }()
	}
	if listed {
		to[member] = jsonvalue.Array(blocksOf(parts))
	} else if list := blocksOf(parts); len(list) > 0 {
		to.Set(member, jsonvalue.AsObject(list[0]).Text("text"))
	}
}

// inner returns the message of a record: the words, and the members that were kept.
func (w *writer) inner(
	kind string, m *transcript.Message, kept jsonvalue.Object, parts []json.RawMessage,
) json.RawMessage {
	inner := kept.Object("message").Without()
	if inner["role"] == nil {
		inner.Set("role", kind)
	} else if string(inner["role"]) == "null" {
		delete(inner, "role")
	}
	if m.Role == transcript.RoleModel && m.Author != "" {
		inner.Set("model", m.Author)
	}
	if string(inner["content"]) == "null" {
		delete(inner, "content")
	} else if inner["content"] == nil {
		inner["content"] = content(kind == kindAssistant, kept["listed"], parts)
		if list, ok := inner.Array("content"); ok && w.Move {
			inner["content"] = jsonvalue.Array(withWords(list))
		}
	}
	return jsonvalue.Encode(inner)
}

// content returns the words: as a string if a person said one text, else as blocks. listed, if not
// nil, decides instead.
func content(
	isModel bool, listed json.RawMessage, parts []json.RawMessage,
) json.RawMessage {
	asText := !isModel
	if listed != nil {
		asText = string(listed) == "false"
	}
	list := blocksOf(parts)
	if asText && len(list) == 1 {
		if s, ok := textOf(list[0]); ok && len(jsonvalue.AsObject(list[0])) == 2 {
			return jsonvalue.Encode(s)
		}
	}
	return jsonvalue.Array(list)
}

// foreign writes a message of another origin.
func (w *writer) foreign(it *transcript.Item) {
	m := &it.Message
	id := transcript.RecordID(Agent, m.Origin)
	rec := w.made()
	switch {
	case m.Note:
		rec.Set("type", kindSystem)
		rec.Set("subtype", "informational")
		rec.Set("level", "info")
		rec.Set("content", transcript.WordsOr(m))
	case m.Role == transcript.RoleModel:
		rec.Set("type", kindAssistant)
		rec["message"] = w.answerOf(it, id)
	default:
		rec.Set("type", kindUser)
		rec.Set("message", jsonvalue.NewObject("role", kindUser, "content", w.blocks(it)))
	}
	w.record(m, rec, id, w.prev, nil, true)
}

// made returns the first members of a record that Claude Code did not write.
func (w *writer) made() jsonvalue.Object {
	return jsonvalue.NewObject("isSidechain", false, "userType", "external", "cwd", w.Dir,
		"timestamp", w.When)
}

func (w *writer) answerOf(it *transcript.Item, id string) json.RawMessage {
	return jsonvalue.Encode(jsonvalue.NewObject(
		"id", "msg_"+transcript.Derive(24, id), "type", "message", "role", kindAssistant, "model",
		cmp.Or(it.Author, "unknown"),
		"content", w.blocks(it), "stop_reason", nil, "stop_sequence", nil, "usage",
		map[string]uint64{"input_tokens": 0, "output_tokens": it.Tokens},
	))
}

// blocks returns the content of a message of another origin.
func (w *writer) blocks(it *transcript.Item) json.RawMessage {
	m := &it.Message
	if text, ok := w.StandIn(it); ok {
		return jsonvalue.Encode(text)
	}
	if m.Parts == nil && len(m.Calls)+len(m.Results) == 0 && m.Role != transcript.RoleModel &&
		m.Text != "" {
		return jsonvalue.Encode(m.Text)
	}
	var list []json.RawMessage
	for _, p := range transcript.PartsOf(m) {
		if p.Kind == transcript.PartText && p.Text == "" {
			continue // the API takes no empty text
		}
		if block, ok := blockOf(p); ok {
			list = append(list, block)
		} else {
			w.Lose(p)
		}
	}
	if len(list) == 0 {
		return jsonvalue.Encode(transcript.EmptyText)
	}
	return jsonvalue.Array(list)
}

// record writes a record with the hints with which it is read back as the message.
func (w *writer) record(
	m *transcript.Message, rec jsonvalue.Object, id, up string, before []json.RawMessage, made bool,
) {
	rec.Set("uuid", id)
	if rec.Text("sessionId") != w.Session && rec.True("isSidechain") {
		rec.Set("isSidechain", false) // Claude Code shows no other in a session of its own
		delete(rec, "agentId")
	}
	rec.Set("sessionId", w.Session)
	rec["parentUuid"] = json.RawMessage("null")
	if up != "" {
		rec.Set("parentUuid", up)
	}
	w.place(rec)
	var parent json.RawMessage
	switch up {
	case w.prev, w.last:
	case "":
		parent = json.RawMessage("null")
	default:
		parent = jsonvalue.Encode(up)
	}
	w.Hint(rec, m, made,
		func(rec jsonvalue.Object) transcript.Message { return w.d.decode(rec, parent, before) })
	w.write(rec)
	w.seen[id], w.last, w.prev = true, id, id
}

// Answer writes a record with an error as the result of each call.
func (w *writer) Answer(open []format.Call) {
	list := lists.Map(open, func(c format.Call) json.RawMessage {
		return jsonvalue.Encode(jsonvalue.NewObject(
			"type", "tool_result", "tool_use_id", wire(c.ID), "content", transcript.NoResult,
			"is_error", true))
	})
	rec := w.made()
	rec.Set("type", kindUser)
	w.added(rec, transcript.UUID(Agent, "stand-in", w.last), list)
}

// added writes a record that nobody said: content is the text or the blocks that a user is shown to
// have said.
func (w *writer) added(rec jsonvalue.Object, id string, content any) {
	rec.Set("uuid", id)
	rec["parentUuid"] = json.RawMessage("null")
	if w.prev != "" {
		rec.Set("parentUuid", w.prev)
	}
	rec.Set("sessionId", w.Session)
	w.place(rec)
	rec.Set(transcript.HintName, w.AddedHere())
	rec.Set("message", jsonvalue.NewObject("role", kindUser, "content", content))
	w.write(rec)
	w.prev = id
}

// place gives the first record with a directory that of the project: by it a session is known to be
// of a project. It reports whether it changed the record.
func (w *writer) place(rec jsonvalue.Object) bool {
	was := rec.Text("cwd")
	if w.Move && w.in == "" {
		rec.Set("cwd", w.Dir)
	}
	w.in = cmp.Or(w.in, rec.Text("cwd"))
	return rec.Text("cwd") != was
}

func (w *writer) write(rec jsonvalue.Object) {
	w.Record(rec.Ordered("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version",
		"gitBranch", "type", "message", "uuid", "timestamp"))
}

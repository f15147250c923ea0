package shape

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
type qwenWriter struct {
	*transcript.Output
	prev  string // the record before
	begun bool   // a record is written: the first one says which project the session is of
}

// NewID makes an id for a session out of strings that identify it.
func NewQwenID(of ...string) string {
	id := []byte(transcript.UUID(of...))
	id[14] = '5' // Qwen Code takes an id of another version for a title
	return string(id)
}

// TakesID reports whether Qwen Code takes a session id: a UUID of version 1 to 5.
func TakesQwenID(id string) bool {
	return format.IsUUID(id) && id[14] >= '1' && id[14] <= '5' &&
		strings.IndexByte("89ab", id[19]) >= 0
}

// NewWriter begins a transcript.
func NewQwenWriter(w io.Writer, o transcript.WriteOptions) transcript.Writer {
	return transcript.NewWriter(w, o,
		func(out *transcript.Output) transcript.Codec { return &qwenWriter{Output: out} })
}

// Begin writes what stands for the conversation before the first message.
func (w *qwenWriter) Begin(first *transcript.Item) {
	if w.Before == "" || first == nil {
		return
	}
	w.added(typeUser, "before", []json.RawMessage{transcript.TextPart(w.Before, nil)})
}

// Message writes a message as a record.
func (w *qwenWriter) Message(it *transcript.Item) bool {
	m := &it.Message
	if said, kept, native := transcript.Native(QwenAgent, m); native {
		w.native(m, said, kept)
	} else {
		w.foreign(it)
	}
	return true
}

// native writes a message of Qwen Code as its original record.
func (w *qwenWriter) native(
	m *transcript.Message, said []json.RawMessage, kept jsonvalue.Object,
) {
	before, _ := kept.Array(transcript.BeforeName)
	for i, raw := range before {
		o := jsonvalue.AsObject(raw)
		if w.place(o) {
			before[i] = jsonvalue.Encode(o)
		}
		w.print(o, o.Text("uuid"))
	}
	rec := kept.Without(transcript.BeforeName, "type", "message")
	kind, role := typeUser, typeUser
	switch m.Role {
	case transcript.RoleModel:
		kind, role = typeAssistant, "model"
	case transcript.RoleTool:
		kind = typeResult
	}
	kind = cmp.Or(kept.Text("type"), kind)
	rec.Set("type", kind)
	if kind == typeUser || kind == typeAssistant || kind == typeResult {
		if inner := messageOf(kept.Object("message"), role, said); inner != nil {
			rec["message"] = jsonvalue.Encode(inner)
		}
	} else if kept.Has("message") {
		rec["message"] = kept["message"]
	}
	if call := rec.Object("toolCallResult"); call.True("resultDisplay") {
		call = call.Without()
		call.Set("resultDisplay", qwenOutputOf(m.Parts))
		rec["toolCallResult"] = jsonvalue.Encode(call)
	}
	if m.Author != "" {
		rec.Set("model", m.Author)
	}
	if rec["timestamp"] == nil && !m.Time.IsZero() {
		rec.Set("timestamp", w.When)
	}
	w.said(m, rec, m.Origin.Message, before, false)
}

// messageOf returns the message of a record; nil for none.
func messageOf(kept jsonvalue.Object, role string, parts []json.RawMessage) jsonvalue.Object {
	if kept.True("none") {
		return nil
	}
	inner := kept.Without()
	if inner["role"] == nil {
		inner.Set("role", role)
	}
	if inner["parts"] == nil {
		inner["parts"] = jsonvalue.Array(transcript.Joined(QwenAgent, parts))
	}
	for _, name := range []string{"role", "parts"} {
		if string(inner[name]) == "null" {
			delete(inner, name)
		}
	}
	return inner
}

// foreign writes a message of another origin.
func (w *qwenWriter) foreign(it *transcript.Item) {
	m := &it.Message
	id := transcript.RecordID(QwenAgent, m.Origin)
	if m.Note {
		rec := w.made(typeSystem)
		rec.Set("subtype", subtypeNote)
		rec.Set("systemPayload", map[string]string{"text": transcript.WordsOr(m)})
		w.said(m, rec, id, nil, true)
		return
	}
	kind, role := typeUser, typeUser
	parts, ok := w.standIn(it)
	switch {
	case ok:
		if m.Role == transcript.RoleModel && !it.Orphan {
			kind, role = typeAssistant, "model"
		}
	case m.Role == transcript.RoleModel:
		kind, role = typeAssistant, "model"
	case len(m.Results) > 0:
		kind = typeResult
	}
	rec := w.made(kind)
	if role == "model" && m.Author != "" {
		rec.Set("model", m.Author)
	}
	if role == "model" && m.Tokens > 0 {
		rec.Set("usageMetadata", map[string]uint64{"candidatesTokenCount": m.Tokens})
	}
	rec.Set("message", jsonvalue.NewObject("role", role, "parts", jsonvalue.Array(parts)))
	w.said(m, rec, id, nil, true)
}

// standIn returns the parts of a message of another origin; ok says that they only stand for it.
func (w *qwenWriter) standIn(it *transcript.Item) (parts []json.RawMessage, ok bool) {
	if text, ok := w.StandIn(it); ok {
		return []json.RawMessage{transcript.TextPart(text, nil)}, true
	}
	for _, p := range transcript.PartsOf(&it.Message) {
		switch {
		case p.Kind == transcript.PartText && p.Text == "":
		case p.Kind == transcript.PartText, p.Kind == transcript.PartCall,
			p.Kind == transcript.PartResult, p.Kind == transcript.PartMedia:
			parts = append(parts, jsonvalue.Encode(w.Plain(p.Body).Without("thoughtSignature")))
		default:
			w.Lose(p)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, transcript.TextPart(transcript.EmptyText, nil))
	}
	return parts, false
}

// made returns the first members of a record that Qwen Code did not write.
func (w *qwenWriter) made(kind string) jsonvalue.Object {
	return jsonvalue.NewObject("timestamp", w.When, "type", kind, "cwd", w.Dir, "version", "0.0.0")
}

// said writes a record with the hints with which it is read back as the message.
func (w *qwenWriter) said(
	m *transcript.Message, rec jsonvalue.Object, id string, before []json.RawMessage, made bool,
) {
	w.place(rec)
	rec.Set("uuid", id)
	rec.Set("sessionId", w.Session)
	w.Hint(rec, m, made, func(rec jsonvalue.Object) transcript.Message {
		m, parts, rest := decode(rec, w.Session)
		return transcript.Compose(QwenAgent, rec, m, parts, rest, before)
	})
	w.print(rec, id)
}

// place gives the first record the project, by which Qwen Code knows its sessions.
// It reports whether it changed the record.
func (w *qwenWriter) place(rec jsonvalue.Object) bool {
	if !w.Move || w.begun || rec.Text("cwd") == w.Dir {
		return false
	}
	rec.Set("cwd", w.Dir)
	return true
}

// Answer writes a record with an error as the result of each call.
func (w *qwenWriter) Answer(open []format.Call) {
	parts := lists.Map(open, func(c format.Call) json.RawMessage {
		return transcript.ResultPart(c.ID, c.Tool,
			jsonvalue.Encode(map[string]string{"error": transcript.NoResult}), nil)
	})
	w.added(typeResult, "stand-in", parts)
}

// added writes a record that nobody said.
func (w *qwenWriter) added(kind, name string, parts []json.RawMessage) {
	rec := w.made(kind)
	rec.Set(transcript.HintName, w.AddedHere())
	rec.Set("message", jsonvalue.NewObject("role", "user", "parts", jsonvalue.Array(parts)))
	id := transcript.UUID(QwenAgent, name, w.Session, w.prev)
	rec.Set("uuid", id)
	w.print(rec, id)
}

// print writes a record after the one before.
func (w *qwenWriter) print(rec jsonvalue.Object, id string) {
	rec = rec.Without()
	rec["parentUuid"] = json.RawMessage("null")
	if w.prev != "" {
		rec.Set("parentUuid", w.prev)
	}
	if rec["sessionId"] == nil {
		rec.Set("sessionId", w.Session)
	}
	w.Record(rec.Ordered("uuid", "parentUuid", "sessionId", "timestamp", "type", "subtype", "cwd",
		"version", "message"))
	w.begun = true
	w.prev = cmp.Or(id, w.prev)
}
